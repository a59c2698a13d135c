"""Evidence for spiders that do not collect it themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.extensions.feedexport import FeedExporter
from scrapy.http import TextResponse
from scrapy.spidermiddlewares.httperror import HttpError

from crawler import logs
from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.crawl.answers import cause_of_answer, cause_of_error, page_of
from crawler.crawl.closing import ends_its_visits
from crawler.crawl.context import SESSION, Component
from crawler.crawl.keeping import keep
from crawler.sessions.rows import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response

    from crawler.sessions.visit import Visit

CACHED = "cached"  # Scrapy's flag for what no site has answered just now

log = logs.get_logger(__name__)


class CaptureMiddleware(Component):
    """Keeps, after a callback's output, the page that it was given, judged; or notes why there is none.

    It is no item of the spider's: neither its pipelines see it, nor its feeds, nor what counts items.
    With CAPTURE_PAGES=False nothing is kept, and a spider of ours, which yields its captures itself, goes
    without all of this.
    """

    def set_up(self) -> None:
        """Be there unless the spider sees to all of it."""
        self.keeps = self.crawler.settings.getbool("CAPTURE_PAGES")
        if not self.keeps and ends_its_visits(self.crawler):
            raise NotConfigured("the spider keeps its pages itself")

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
            visit.came(None, response.url)
        elif self.keeps:
            await self._keep(visit, response)
        else:
            visit.came(cause_of_answer(response), response.url)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Note that an answer was none for the callback, or that the callback failed at it."""
        visit = self.visits.running.get(response.meta.get(SESSION, ""))
        if visit is not None and not isinstance(exception, CloseSpider):
            is_answers = isinstance(exception, HttpError)
            visit.came(cause_of_error(exception) if is_answers else Cause.CRASHED, response.url)

    async def _keep(self, visit: Visit, response: Response) -> None:
        page = await page_of(self.context.readers, response, visit.order.crawl_policy_version)
        if isinstance(page, Cause) or not page.reading.is_html:
            visit.came(page if isinstance(page, Cause) else None, response.url)
            return
        try:
            stored = await keep(self.crawler, self.visits, PageCapture.of(page, visit.id, "page"))
        except StaleSessionError as error:
            log.warning("capture.not_stored", url=response.url, error=str(error))
            return
        exporter, spider = self.crawler.get_extension(FeedExporter), self.crawler.spider
        if exporter is not None and spider is not None:
            exporter.item_scraped(stored, spider)
