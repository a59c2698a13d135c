"""What callbacks were given is kept, whatever becomes of them."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.farm import farm
from tests.e2e.projects import VITRINES, Project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home

SPIDER = """
import scrapy

class Shop(scrapy.Spider):
    name = "shop"

    def __init__(self, url, **more):
        super().__init__(**more)
        self.url = url

    async def start(self):
        gone = {"handle_httpstatus_list": [404]}
        yield scrapy.Request(self.url + "good")
        yield scrapy.Request(self.url + "raises", self.parse_badly)
        yield scrapy.Request(self.url + "yields", self.yield_badly)
        yield scrapy.Request(self.url + "gone", meta=gone)
        yield scrapy.Request(self.url + "unhandled")
        yield scrapy.Request(self.url + "closes", self.close_here, priority=-1)

    def parse(self, response):
        return {"path": response.url.rpartition("/")[2]}

    def parse_badly(self, response):
        raise ValueError("no price in " + response.url)

    def yield_badly(self, response):
        yield {"path": "yields"}
        raise KeyError("price")

    def close_here(self, response):
        raise scrapy.exceptions.CloseSpider("enough")
"""


def special(path: str) -> tuple[int, str, str] | None:
    """Two pages that are not there, with a text of their own."""
    return (404, "", "<h1>Sold out</h1><p>Look elsewhere.") if path in {"/gone", "/unhandled"} else None


@pytest.mark.parametrize("way", VITRINES)
def test_a_page_is_kept_whatever_its_callback_does(home: Home, tmp_path: Path, way: str) -> None:
    """It raises, at once or later, or closes the spider; a 404 that it handles is its page."""
    project = Project.make(tmp_path / "theirs", home, way, SPIDER)
    pages = tmp_path / "pages.jsonl"
    with farm(1, 1, special) as sites:
        done = project.crawl(sites.starts[0], "-s", f"PAGES_FEED={pages}")
    [session] = home.sessions()
    kept = {page["url"].rpartition("/")[2]: page for page in session["pages"]}
    assert kept.keys() == {"good", "raises", "yields", "gone", "closes"}, done.stderr
    assert (kept["gone"]["http_status"], kept["gone"]["status"]) == (404, "ok")
    assert done.stderr.count("Spider error processing") == 2
    fed = [json.loads(line) for line in pages.read_text(encoding="utf-8").splitlines()]
    assert {page["url"].rpartition("/")[2] for page in fed} == kept.keys()
    assert {item["path"] for item in project.items()} == {"good", "yields", "gone"}
    files = {(file["page_id"], file["type"]): file["storage_uri"] for file in session["artifacts"]}
    sold_out = home.artifacts / files[kept["gone"]["id"], "html_gz"]
    assert b"Sold out" in gzip.decompress(sold_out.read_bytes())


POSTS = """
import scrapy

class Shop(scrapy.Spider):
    name = "shop"

    def __init__(self, url, **more):
        super().__init__(**more)
        self.url = url

    async def start(self):
        yield scrapy.Request(self.url, method="HEAD", dont_filter=True)
        yield scrapy.FormRequest(self.url, formdata={"user": "ann", "password": "xyz"}, dont_filter=True)

    def parse(self, response):
        return {"status": response.status}
"""


@pytest.mark.soak(minutes=10)
def test_the_answer_to_a_form_is_no_capture_of_its_page(home: Home, tmp_path: Path) -> None:
    """It is kept under an address that names the method; what was sent is not in it, and HEAD has no page."""
    project = Project.make(tmp_path / "theirs", home, "add-on", POSTS)
    with farm(1, 1) as sites:
        done = project.crawl(sites.starts[0])
        assert done.returncode == 0, done.stderr
        [session] = home.sessions()
        assert [page["url"] for page in session["pages"]] == [f"{sites.starts[0]}?__wb_method=POST"]
    assert len(project.items()) == 2
