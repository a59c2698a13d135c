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


@pytest.mark.parametrize("thing", THINGS)
def test_the_same_with_and_without(thing: str, tmp_path: Path) -> None:
    """Items, files, requests and exit code are those of plain Scrapy, or differ as the spider says."""
    outcomes: dict[str, Any] = {}
    logs = {}
    for way in WAYS:
        outcomes[way], logs[way] = crawl(thing, way, tmp_path / way)
    plain = outcomes["plain"]
    for way in ("addon", "import"):
        found = outcomes[way]
        assert found.items == plain.items, logs[way]
        assert found.requests == plain.requests, logs[way]
        assert found.files == plain.files, logs[way]
        assert found.exit_code == (THINGS[thing].exit_code or plain.exit_code), logs[way]
        assert "Traceback" not in logs[way] or "Traceback" in logs["plain"], logs[way]
