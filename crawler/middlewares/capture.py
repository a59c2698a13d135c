"""Evidence for spiders that do not collect it themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import FeedExporter
from scrapy.http import TextResponse

from crawler import logs
from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.crawl.answers import page_of
from crawler.crawl.context import SESSION, Component
from crawler.crawl.keeping import keep
from crawler.sessions.rows import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.crawl.context import CrawlContext
    from crawler.sessions.visit import Visit

CACHED = "cached"  # Scrapy's flag for what no site has answered just now

log = logs.get_logger(__name__)


class CaptureMiddleware(Component):
    """Keeps, after a callback's output, the page that it was given, judged.

    It is no item of the spider's: neither its pipelines see it, nor its feeds, nor what counts items.
    Off with CAPTURE_PAGES=False; a spider that yields its captures itself sets that.
    """

    def __init__(self, crawler: Crawler, context: CrawlContext) -> None:
        if not crawler.settings.getbool("CAPTURE_PAGES"):
            raise NotConfigured("CAPTURE_PAGES is off")
        super().__init__(crawler, context)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass on what the callback gives, then keep the page."""
        async for output in result:
            yield output
        if isinstance(response, TextResponse):
            # Its tree has ten times a page's size and is in a circle with it; nobody asks it any more.
            response._cached_selector = None  # ruff: ignore[private-member-access] - Scrapy has no word for it
        visit = self.visits.running.get(response.meta.get(SESSION, ""))
        if visit is None:
            return
        if CACHED in response.flags:
            log.warning("capture.cached", url=response.url, note="not kept: nobody knows of when it is")
            return
        await self._keep(visit, response)

    async def _keep(self, visit: Visit, response: Response) -> None:
        page = await page_of(self.context.readers, response, visit.order.policy)
        if isinstance(page, Cause) or not page.reading.is_html:
            return
        try:
            stored = await keep(self.crawler, self.visits, PageCapture.of(page, visit.id, "page"))
        except StaleSessionError as error:
            log.warning("capture.not_stored", url=response.url, error=str(error))
            return
        exporter, spider = self.crawler.get_extension(FeedExporter), self.crawler.spider
        if exporter is not None and spider is not None:
            exporter.item_scraped(stored, spider)
