"""The example projects run as their READMEs say."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import QUICK_RENDERING, ROOT
from tests.e2e.farm import farm
from tests.e2e.projects import Project

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak

SCRIPTED = "<!doctype html><title>Empty</title><script>document.write('<h1>Tumbler</h1>')</script>"


def run(example: str, folder: Path, home: Home, *arguments: str) -> list[dict[str, Any]]:
    """Crawl with a copy of an example, and return its items."""
    project = Project(shutil.copytree(ROOT / "examples" / example, folder), home)
    done = project.scrapy("crawl", *arguments, "-O", "items.jsonl", "-s", "DOWNLOAD_DELAY=0")
    assert done.returncode == 0, done.stderr
    return project.items()


def test_a_crawl_spider_with_the_add_on(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """Its items are its own, and each of its pages is evidence."""
    items = run("crawl_spider", tmp_path / "project", home, "catalogue", "-a", f"url={shops.url('plain')}")
    [session] = home.sessions()
    pages = {page["url"] for page in session["pages"]}
    assert items
    assert all(item["name"] for item in items)
    assert pages == {shops.url("plain"), *(item["url"] for item in items)}


def test_a_playwright_spider(home: Home, tmp_path: Path) -> None:
    """What a script writes is in the item, and the page has its screenshot."""
    home.extra.update(QUICK_RENDERING)
    with farm(1, 1, lambda _: (200, "", SCRIPTED)) as sites:
        items = run(
            "playwright_spider", tmp_path / "project", home, "scripted", "-a", f"url={sites.starts[0]}"
        )
    assert items == [{"url": sites.starts[0], "name": "Tumbler", "headings": 1}]
    [session] = home.sessions()
    assert "screenshot" in {file["type"] for file in session["artifacts"]}
