"""The download handler of a crawl: plain requests go the guarded way, those with a viewport are rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from crawler.crawl.context import VIEWPORT
from crawler.middlewares.egress import GuardedHandler

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.rendering.browser import Browser


# One for each crawl, whatever the schemes of its pages; Scrapy has a handler for each scheme.
_browsers: WeakKeyDictionary[Crawler, Browser] = WeakKeyDictionary()


class RenderingHandler(GuardedHandler):
    """Playwright is loaded, and a browser started, with the first page that is to be rendered."""

    async def download_request(self, request: Request) -> Response:
        """Download a page, or have it rendered; either way right after its session was asked about."""
        if VIEWPORT not in request.meta:
            return await super().download_request(request)
        self.require_lock(request)
        return await _browser_of(self._crawler).render(request)

    async def close(self) -> None:
        """Called once the engine has stopped."""
        await super().close()
        if (browser := _browsers.pop(self._crawler, None)) is not None:
            await browser.end()


def _browser_of(crawler: Crawler) -> Browser:
    from crawler.rendering.browser import Browser  # ruff: ignore[import-outside-top-level] - most crawls have none

    if crawler not in _browsers:
        _browsers[crawler] = Browser(crawler)
    return _browsers[crawler]
