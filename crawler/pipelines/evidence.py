"""A captured page becomes files and rows."""

from __future__ import annotations

from typing import Any

from scrapy.exceptions import DropItem

from crawler.capture.items import PageCapture
from crawler.crawl.closing import ends_its_visits
from crawler.crawl.context import Component
from crawler.crawl.stored_pages import stored_page
from crawler.sessions.rows import StaleSessionError


class EvidencePipeline(Component):
    """Keeps PageCapture items and passes on StoredPage in their place; other items go by untouched."""

    async def process_item(self, item: Any) -> Any:
        """Store a page; a page that cannot be stored ends its session."""
        if not isinstance(item, PageCapture):
            return item
        try:
            kept = await self.visits.keep(item)
        except StaleSessionError as error:
            raise DropItem(f"not stored: {error}") from error
        return stored_page(self.crawler, kept)

    async def close_spider(self) -> None:
        """Wait for pages whose callbacks have failed; the feeds are closed behind this."""
        if ends_its_visits(self.crawler):
            return  # its visits' work is more than that
        for visit in list(self.visits.running.values()):
            await visit.work.all_back()
