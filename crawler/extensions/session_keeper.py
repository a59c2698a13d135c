"""Ends what a crawl leaves open, however it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy import signals

from crawler.crawl.context import visits_of
from crawler.crawl.reading import readers_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class SessionKeeper:
    """Closes the desk when the spider has closed: sessions get their end, domains their release."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's way to make a component."""
        return cls(crawler)

    async def spider_closed(self, reason: str) -> None:
        """Called after the last page was stored; Scrapy waits for it."""
        try:
            await visits_of(self.crawler).close(completed=reason == "finished")
        finally:
            await readers_of(self.crawler).close()
