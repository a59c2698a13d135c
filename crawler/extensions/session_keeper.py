"""Ends what a crawl leaves open, however it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from crawler.crawl.context import Component

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.crawl.context import CrawlContext


class SessionKeeper(Component):
    """Closes the visits when the spider has closed: sessions get their end, domains their release."""

    def __init__(self, crawler: Crawler, context: CrawlContext) -> None:
        super().__init__(crawler, context)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    async def spider_closed(self, reason: str) -> None:
        """Called after the last page was stored; Scrapy waits for it."""
        try:
            await self.visits.close(completed=reason == "finished")
        finally:
            await self.context.readers.close()
