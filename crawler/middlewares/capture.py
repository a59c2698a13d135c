"""Evidence for spiders that do not collect it themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured

from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.crawl.answers import page_of
from crawler.crawl.context import SESSION, Component

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.crawl.context import CrawlContext


class CaptureMiddleware(Component):
    """Adds to a callback's output the page that it was given, judged, for the evidence pipeline to keep.

    Off with CAPTURE_PAGES=False; a spider that yields its captures itself sets that.
    """

    def __init__(self, crawler: Crawler, context: CrawlContext) -> None:
        if not crawler.settings.getbool("CAPTURE_PAGES"):
            raise NotConfigured("CAPTURE_PAGES is off")
        super().__init__(crawler, context)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass on what the callback gives, then the page."""
        async for output in result:
            yield output
        visit = self.visits.running.get(response.meta.get(SESSION, ""))
        if visit is None:
            return
        page = await page_of(self.context.readers, response, visit.order.policy)
        if not isinstance(page, Cause) and page.reading.is_html:
            yield PageCapture.of(page, visit.id, "page")
