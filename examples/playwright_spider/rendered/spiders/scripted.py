"""Read a page that a script fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy_playwright.page import PageMethod

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import HtmlResponse


class ScriptedSpider(Spider):
    """Run me with `scrapy crawl scripted -a url=https://shop.example/ -O pages.jsonl`."""

    name = "scripted"

    def __init__(self, url: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.url = url

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the page as scrapy-playwright's documentation says."""
        methods = [PageMethod("evaluate", "document.querySelectorAll('h1').length")]
        yield Request(self.url, meta={"playwright": True, "playwright_page_methods": methods})

    def parse(self, response: HtmlResponse, **_: Any) -> dict[str, Any]:
        """Return what the browser shows."""
        [headings] = response.meta["playwright_page_methods"]
        return {"url": response.url, "name": response.css("h1::text").get(), "headings": headings.result}
