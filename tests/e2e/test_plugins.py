"""Plugins of packages that were installed: one that works, and those that fail in every way there is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Home
from tests.e2e.farm import QUICK_RUNS, farm
from tests.example_plugins import python_path
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.e2e.farm import Farm

LOOK = """
import json, logging, sys
from crawler import logs
from crawler.catalogue.plugins import PluginPage, PluginRegistry, run_plugins
logs.configure("INFO", "json")
registry = PluginRegistry()
registry.load_entrypoints()
page = PluginPage(
    url="https://shop.example/b?y=1&x=2", canonical_url="https://shop.example/b", content_type="text/html",
    charset="utf-8", body="<h1>A  chair</h1><h2>Für <b>dich</b></h2><h3>no</h3>".encode(), title="A chair",
)
found, failures = run_plugins(registry.pick(["raises", "page", "headings"]), page)
print(json.dumps({
    "names": registry.names,
    "found": [[name, record.key, record.title, record.content] for name, record in found],
    "failures": [[failure.plugin, failure.message, failure.context["at"]] for failure in failures],
    "loaded": [name for name in ("scrapy", "sqlalchemy") if name in sys.modules],
}))
"""
LOOPING = """
import pathlib, scrapy
class Looping(scrapy.Spider):
    name, start_urls = "looping", [{start!r}]
    def parse(self, response):
        pathlib.Path({mark!r}).write_text("here")
        while True:
            pass
"""


def test_installed_plugins_are_found_and_broken_ones_harm_nobody(plugins: Path) -> None:
    """The log names each that does not load, with its reason; neither Scrapy nor a database is needed."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        env=python_path(plugins), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["names"][:3] == ["page", "product", "media"]
    assert set(told["names"][3:]) == {"dies", "headings", "loops", "raises", "stuck"}
    assert [name for name, *_ in told["found"]] == ["page", "headings"]
    headings = [{"level": "h1", "text": "A chair"}, {"level": "h2", "text": "Für dich"}]
    url = "https://shop.example/b?x=2&y=1"
    assert told["found"][1] == ["headings", url, "A chair", {"headings": headings}]
    [[name, message, at]] = told["failures"]
    assert (name, message) == ("raises", "RuntimeError: cannot read text/html")
    assert at.startswith("vitrine_broken/plugins.py:")
    assert told["loaded"] == []
    logged = [json.loads(line) for line in done.stderr.splitlines()]
    skipped = {line["entry_point"]: line["error"] for line in logged if line["event"] == "plugin.skipped"}
    assert skipped == {
        "absent": "ModuleNotFoundError: No module named 'vitrine_no_such_module'",
        "exits": "SystemExit: this plugin does not like it here",
        "half": "BadPluginError: half has no supports() or no assets()",
        "nameless": "BadPluginError: its name is not a letter and up to 63 letters, digits, dots, dashes or"
        " underscores",
    }  # fmt: skip
    assert [line["event"] for line in logged if line["event"] != "plugin.skipped"] == ["plugin.failed"]


@pytest.fixture
def home(tmp_path: Path, plugins: Path) -> Home:
    """A home of somebody who has installed the plugins."""
    extra = {**QUICK_RUNS, "PYTHONPATH": python_path(plugins)["PYTHONPATH"]}
    return Home(tmp_path / "home", extra)


@pytest.fixture
def sites(home: Home) -> Generator[Farm]:
    """A site with four pages."""
    with farm(hosts=1, pages=4) as made:
        yield made


def ask_for(home: Home, sites: Farm, *plugins: str) -> None:
    """Have a source that wants these plugins."""
    source = home.path.parent / "sources.toml"
    text = f'[sources.one]\nstart_urls = ["{sites.starts[0]}"]\nplugins = {list(plugins)}\n'
    source.write_text(text.replace("'", '"'), encoding="utf-8")
    home.extra["SOURCES_FILE"] = str(source)


def test_plugins_that_fail_cost_their_own_assets_alone(home: Home, sites: Farm) -> None:
    """One raises at every page; three loop, hang or end their process at the first; the run ends well."""
    home.extra["PLUGIN_TIMEOUT_SECONDS"] = "1"
    ask_for(home, sites, "headings", "raises", "loops", "stuck", "dies", "page")
    done = home.vitrine("crawl", "site", "--source", "one", "--json", "-s", "DOWNLOAD_DELAY=0")
    run = json.loads(done.stdout)
    assert (done.returncode, run["tasks"]["finished"]) == (0, 4)
    new = {name: counts["new"] for name, counts in run["assets"].items() if counts["new"]}
    assert new == {"headings": 4, "page": 4, "loops": 3, "stuck": 3, "dies": 3}
    noted = [row for row in run["exceptions"] if row["stage"] == "plugin"]
    of_start = [row["message"] for row in noted if row["url"] == sites.starts[0]]
    late = "took longer than 1 second"
    ends = {"loops": late, "stuck": late, "dies": "ended its process"}
    for plugin, how in ends.items():
        assert sum(f"plugin {plugin} {how}" in message for message in of_start) == 1, of_start
    assert "Traceback" not in done.stderr


def ended_by_signals(process: subprocess.Popen[str]) -> int:
    """Send signals until the crawl is over; all but the first two are ignored. Its exit code."""

    def is_over() -> bool:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        return process.poll() is not None

    wait_for(is_over)
    process.communicate()
    return process.returncode


def is_gone(pid: int) -> bool:
    """Whether there is no such process any more."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.soak
@pytest.mark.parametrize("plugin", ["loops", "stuck"])
def test_two_signals_end_a_crawl_whose_plugin_hangs(
    home: Home, sites: Farm, endings: list[subprocess.Popen[str]], plugin: str
) -> None:
    """However long the plugin may take; nothing is left of it."""
    mark = home.path.parent / "hangs"
    home.extra.update(PLUGIN_TIMEOUT_SECONDS="3600", HANGS=str(mark))
    ask_for(home, sites, plugin)
    process = home.start_scrapy("crawl", "site", "-a", "source=one")
    endings.append(process)
    wait_for(lambda: mark.exists() and mark.read_text(encoding="utf-8"))
    assert ended_by_signals(process) == 130
    wait_for(lambda: is_gone(int(mark.read_text(encoding="utf-8"))))
    assert home.vitrine("runs", "list").returncode == 0


@pytest.mark.soak
def test_two_signals_end_a_callback_that_loops(
    home: Home, sites: Farm, endings: list[subprocess.Popen[str]]
) -> None:
    """Where the event loop never hears of them."""
    mark = home.path.parent / "loops"
    spider = home.path.parent / "looping.py"
    spider.write_text(LOOPING.format(mark=str(mark), start=sites.starts[0]), encoding="utf-8")
    process = home.start_scrapy("runspider", str(spider))
    endings.append(process)
    wait_for(mark.exists)
    assert ended_by_signals(process) == 130
