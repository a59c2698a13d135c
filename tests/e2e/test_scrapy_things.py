"""Ordinary things that people do with Scrapy come to the same with Vitrine as without."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from attrs import frozen
from scrapy import Spider

from crawler.config import Settings
from tests.e2e.conftest import QUICK, ROOT
from tests.e2e.things import spiders
from tests.e2e.things.site import Site

if TYPE_CHECKING:
    from pathlib import Path

THINGS: dict[str, Any] = {
    each.name: each
    for each in vars(spiders).values()
    if isinstance(each, type) and issubclass(each, Spider) and each.__module__ == spiders.__name__
    if getattr(each, "name", None)
}
NOTHING = "\u2013"  # differs
SHA1 = re.compile(r"\b[0-9a-f]{40}\b")
WAYS = ("plain", "addon", "import")


@frozen
class Outcome:
    """What a crawl came to, as its user and the site's owner see it."""

    items: list[str]
    requests: list[str]
    files: dict[str, str]
    exit_code: int


def crawl(thing: str, way: str, folder: Path) -> tuple[Outcome, str]:
    """Run a spider of the project with the settings of one way, and return its outcome and its log."""
    folder.mkdir()
    with Site() as site:
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "crawl", thing, "-a", f"site={site.url}", "-O", "items.jsonl",
             *THINGS[thing].arguments],
            cwd=folder, env=environment_of(way, folder), text=True, timeout=300, check=False,
            stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip
        port = site.url.rpartition(":")[2]

        def settled(text: str) -> str:
            return SHA1.sub(
                "SHA1", text.replace(port, "PORT")
            )  # names of downloaded files come from their URLs

        items = folder / "items.jsonl"
        lines = items.read_text(encoding="utf-8").splitlines() if items.exists() else []
        files = {
            name: settled((folder / name).read_text(encoding="utf-8"))
            for name in ("names.csv", "closed.txt")
            if (folder / name).exists()
        }
        requests = sorted(settled(each) for each in site.log)
        return Outcome(sorted(map(settled, lines)), requests, files, done.returncode), done.stderr


def environment_of(way: str, folder: Path) -> dict[str, str]:
    """The environment of a crawl: this machine's, with a home of its own."""
    ours = {name.upper() for name in Settings.model_fields}
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return {
        **inherited, **QUICK, "VITRINE_HOME": str(folder / "home"), "EGRESS_ALLOW": "127.0.0.0/8,localhost",
        "SCRAPY_SETTINGS_MODULE": f"tests.e2e.things.settings_{way}", "PYTHONPATH": str(ROOT),
    }  # fmt: skip


@pytest.mark.soak(minutes=5)  # each takes three crawls
@pytest.mark.parametrize("thing", THINGS)
def test_the_same_with_and_without(thing: str, tmp_path: Path) -> None:
    """Items, files, requests and exit code are those of plain Scrapy, or differ as the spider says."""
    done = {way: crawl(thing, way, tmp_path / way) for way in WAYS}
    plain, its_log = done["plain"]
    for way in ("addon", "import"):
        found, log = done[way]
        assert found.items == plain.items, log
        assert found.requests == plain.requests, log
        assert found.files == plain.files, log
        assert found.exit_code == (THINGS[thing].exit_code or plain.exit_code), log
        assert "Traceback" not in log or "Traceback" in its_log, log


def test_the_documentation_lists_them() -> None:
    """With what differs; nothing differs in silence."""
    text = (ROOT / "docs" / "spiders.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (.*) \| (.*) \|$", text.partition("## Tried with and without")[2], re.MULTILINE)
    said = [((each.__doc__ or "").rstrip("."), each.difference or NOTHING) for each in THINGS.values()]
    assert [row for row in listed if row[0] != "what a spider does"] == said
