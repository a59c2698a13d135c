"""A package with a plugin is installed, and the plugin is there; a broken one beside it harms nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.example_plugins import python_path

if TYPE_CHECKING:
    from pathlib import Path

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
found, failures = run_plugins(registry.pick(sys.argv[1:]), page)
print(json.dumps({
    "names": registry.names,
    "found": [[name, record.key, record.title, record.content] for name, record in found],
    "failures": [[failure.plugin, failure.message, failure.context] for failure in failures],
    "scrapy": "scrapy" in sys.modules, "sqlalchemy": "sqlalchemy" in sys.modules,
}))
"""


def look(*plugins: str, folders: tuple[Path, ...]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a process with these folders finds in a page, and what it logs."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *plugins],
        env=python_path(*folders), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), [json.loads(line) for line in done.stderr.splitlines()]


def test_an_installed_plugin_is_found_and_works(example_plugins: Path) -> None:
    """Under its name, after the built-in ones; it needs neither Scrapy nor a database."""
    told, logged = look("headings", folders=(example_plugins,))
    assert told["names"] == ["page", "product", "media", "headings"]
    headings = [{"level": "h1", "text": "A chair"}, {"level": "h2", "text": "Für dich"}]
    assert told["found"] == [
        ["headings", "https://shop.example/b?x=2&y=1", "A chair", {"headings": headings}]
    ]
    assert (told["failures"], logged) == ([], [])
    assert (told["scrapy"], told["sqlalchemy"]) == (False, False)


@pytest.mark.parametrize("is_first", [True, False])
def test_broken_plugins_are_skipped(example_plugins: Path, broken_plugins: Path, *, is_first: bool) -> None:
    """Wherever they stand; the log names each with its reason, and what fails at a page fails alone."""
    folders = (broken_plugins, example_plugins) if is_first else (example_plugins, broken_plugins)
    told, logged = look("raises", "page", "headings", folders=folders)
    assert sorted(told["names"]) == ["headings", "media", "page", "product", "raises"]
    assert [name for name, *_ in told["found"]] == ["page", "headings"]
    [[name, message, context]] = told["failures"]
    assert (name, message) == ("raises", "RuntimeError: cannot read text/html")
    assert context["at"].startswith("vitrine_broken/plugins.py:")
    skipped = {line["entry_point"]: line["error"] for line in logged if line["event"] == "plugin.skipped"}
    assert skipped == {
        "absent": "ModuleNotFoundError: No module named 'vitrine_no_such_module'",
        "exits": "SystemExit: this plugin does not like it here",
        "half": "BadPluginError: half has no supports() or no assets()",
        "nameless": "BadPluginError: its name is not a letter and up to 63 letters, digits, dots, dashes or"
        " underscores",
    }  # fmt: skip
    assert [line["event"] for line in logged if line["event"] != "plugin.skipped"] == ["plugin.failed"]
