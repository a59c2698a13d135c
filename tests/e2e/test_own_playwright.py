"""Requests written for scrapy-playwright are rendered in the enclosure, or refused with the way to go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import QUICK_RENDERING
from tests.e2e.farm import farm
from tests.e2e.projects import Project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak

SPIDER = """
import scrapy
from scrapy_playwright.page import PageMethod

class Shop(scrapy.Spider):
    name = "shop"

    def __init__(self, url, key=None, **more):
        super().__init__(**more)
        self.url, self.more = url, {key: True} if key else {}

    async def start(self):
        methods = [
            PageMethod("click", "button"),
            PageMethod("wait_for_selector", "p.price"),
            PageMethod("evaluate", "document.title"),
        ]
        meta = {"playwright": True, "playwright_page_methods": methods, **self.more}
        yield scrapy.Request(self.url, meta=meta, errback=self.failed)

    def parse(self, response):
        methods = response.meta["playwright_page_methods"]
        yield {"price": response.css("p.price::text").get(), "result": methods[2].result}

    def failed(self, failure):
        yield {"failed": type(failure.value).__name__}
"""
PAGE = """<!doctype html><title>Jug</title><h1>Jug</h1><p>A jug of clay, for water and for wine.</p>
<button onclick="document.body.insertAdjacentHTML('beforeend', '<p class=price>12.50</p>')">Price</button>"""


def jug(path: str) -> tuple[int, str, str] | None:
    """A page that shows its price when its button is pressed."""
    return (200, "", PAGE) if path == "/" else None


def test_a_page_is_rendered_with_its_page_methods(home: Home, tmp_path: Path) -> None:
    """Through the enclosure; what is kept is the page as it was then, with a screenshot."""
    home.extra.update(QUICK_RENDERING)
    project = Project.make(tmp_path / "theirs", home, "add-on", SPIDER)
    with farm(1, 1, jug) as sites:
        done = project.crawl(sites.starts[0])
    assert project.items() == [{"price": "12.50", "result": "Jug"}], done.stderr
    [session] = home.sessions()
    assert (session["status"], done.returncode) == ("completed", 0)
    kinds = {file["type"] for file in session["artifacts"]}
    assert {"html_gz", "screenshot", "visible_text"} <= kinds


@pytest.mark.parametrize("key", ["playwright_include_page", "playwright_context", "proxy"])
def test_what_cannot_be_had_is_refused_aloud(home: Home, tmp_path: Path, key: str) -> None:
    """With the way to get it; nothing is asked for, and no unrendered page is kept in its place."""
    project = Project.make(tmp_path / "theirs", home, "add-on", SPIDER)
    with farm(1, 1, jug) as sites:
        done = project.crawl(sites.starts[0], "-a", f"key={key}")
        assert not sites.asked
    assert project.items() == [{"failed": "NotRenderedError"}]
    [line] = [line for line in done.stderr.splitlines() if "render.refused" in line]
    assert f'instead="{key}: ' in line
    [session] = home.sessions()
    assert (session["status"], session["cause"], session["pages"]) == ("failed", "not_rendered", [])
    assert done.returncode == 1


def test_without_a_browser_the_page_fails(home: Home, tmp_path: Path) -> None:
    """It is not sent as it came."""
    project = Project.make(tmp_path / "theirs", home, "add-on", SPIDER)
    home.extra["CHROMIUM_PATH"] = str(tmp_path / "nowhere")
    with farm(1, 1, jug) as sites:
        done = project.crawl(sites.starts[0])
        assert not sites.asked
    assert project.items() == [{"failed": "NoBrowserError"}]
    assert (done.returncode, home.sessions()[0]["cause"]) == (1, "no_browser")
