"""A plugin that never comes back costs its page its assets; a second signal ends whatever hangs."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Home
from tests.e2e.farm import farm
from tests.e2e.test_run_commands import crawl
from tests.e2e.test_runs import QUICK
from tests.example_plugins import python_path
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator
    from pathlib import Path

    from tests.e2e.farm import Farm

pytestmark = pytest.mark.soak(minutes=10)

LOOPING = """
import pathlib, scrapy
class Looping(scrapy.Spider):
    name, start_urls = "looping", [{start!r}]
    def parse(self, response):
        pathlib.Path({mark!r}).write_text("here")
        while True:
            pass
"""


@pytest.fixture
def home(tmp_path: Path, hanging_plugins: Path) -> Home:
    """A home of somebody who has installed the plugins."""
    extra = {**QUICK, "PYTHONPATH": python_path(hanging_plugins)["PYTHONPATH"]}
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


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        ("loops", "took longer than 1 second"),
        ("stuck", "took longer than 1 second"),
        ("dies", "ended its process"),
    ],
)
def test_a_plugin_that_hangs_costs_its_page_alone(home: Home, sites: Farm, plugin: str, said: str) -> None:
    """The run goes on and ends; the page has an exception that names the plugin, and what others found."""
    home.extra["PLUGIN_TIMEOUT_SECONDS"] = "1"
    ask_for(home, sites, plugin, "page")
    code, run, log = crawl(home, "--source", "one")
    assert (code, run["tasks"]["finished"]) == (0, 4)
    assert (run["assets"]["page"]["new"], run["assets"][plugin]["new"]) == (4, 3)
    [row] = run["exceptions"]
    assert (row["stage"], row["url"]) == ("plugin", sites.starts[0])
    assert f"plugin {plugin} {said}" in row["message"]
    assert "Traceback" not in log


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
