"""Evidence for spiders that do not collect it themselves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from attrs import evolve
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.extensions.feedexport import FeedExporter
from scrapy.http import TextResponse
from scrapy.spidermiddlewares.httperror import HttpError

from crawler import logs
from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.crawl.answers import CACHED, CLIENT_ERROR, GONE, OK, cause_of_answer, cause_of_error, read
from crawler.crawl.closing import end_crawl, ends_its_visits
from crawler.crawl.context import SESSION, VIEWPORT, Component
from crawler.crawl.rendered import rendered_in, seen_in
from crawler.crawl.stored_pages import stored_page
from crawler.reading.readers import ReadingFailedError
from crawler.sessions.rows import StaleSessionError
from crawler.warc.methods import GET, lookup_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response

    from crawler.capture.items import FetchedPage
    from crawler.sessions.visit import Visit

log = logs.get_logger(__name__)


class CaptureMiddleware(Component):
    """Keeps the pages that callbacks are given, judged; or notes why there is none.

    Keeping begins before the callback is called, so that the page of one that raises is there.
    It is no item of the spider's: neither its pipelines see it, nor its feeds, nor what counts items.
    With CAPTURE_PAGES=False nothing is kept, and a spider of ours, which yields its captures itself, goes
    without all of this.
    """

    def set_up(self) -> None:
        """Be there unless the spider sees to all of it."""
        self.keeps = self.crawler.settings.getbool("CAPTURE_PAGES")
        if not self.keeps and ends_its_visits(self.crawler):
            raise NotConfigured("the spider keeps its pages itself")
        self._under_way: WeakKeyDictionary[Response, asyncio.Task[None]] = WeakKeyDictionary()

    def process_spider_input(self, response: Response) -> None:
        """Begin to keep the page."""
        visit = self._visit_of(response)
        if visit is None or not self.keeps or CACHED in response.flags:
            return
        task = self._under_way[response] = asyncio.ensure_future(self._keep(visit, response))
        visit.work.add()
        task.add_done_callback(lambda _: visit.work.remove())

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass on what the callback gives, then wait for the page: not too many are kept at a time."""
        async for output in result:
            yield output
        if isinstance(response, TextResponse):
            # Its tree has ten times a page's size and is in a circle with it; nobody asks it any more.
            response._cached_selector = None  # ruff: ignore[private-member-access] - Scrapy has no word for it
        if (task := self._under_way.pop(response, None)) is not None:
            await task
        elif (visit := self._visit_of(response)) is not None:
            self._note_unkept(visit, response)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Note that an answer was none for the callback, or that the callback failed at it."""
        visit = self._visit_of(response)
        if visit is None or isinstance(exception, CloseSpider):
            return
        if isinstance(exception, HttpError):
            is_gone = exception.response.status in GONE
            visit.came(Cause.NOT_FOUND if is_gone else cause_of_error(exception), response.url)
        else:
            error = f"{type(exception).__name__}: {exception}"
            visit.came(Cause.CRASHED, response.url, error=error)

    def _visit_of(self, response: Response) -> Visit | None:
        return self.visits.running.get(response.meta.get(SESSION, ""))

    def _note_unkept(self, visit: Visit, response: Response) -> None:
        """Note an answer that is not kept: of a cache, of an errback, of a spider that keeps none."""
        if CACHED in response.flags:
            visit.journal.info("navigation", "page.cached", url=response.url, note="not kept: no evidence")
            visit.came(None, response.url)
        else:
            visit.came(_cause_of(response), response.url)

    async def _keep(self, visit: Visit, response: Response) -> None:
        """Store a page; a store that refuses it ends the crawl, and is no fault of the callback's."""
        cause = _cause_of(response)
        try:
            page = await read(self.context.readers, response, visit.order.crawl_policy_version)
            # The answer to a form is no capture of the form's page.
            page = evolve(page, url=lookup_url(page.url, _method_of(response)))
        except ReadingFailedError:
            visit.came(Cause.UNREADABLE, response.url)
            return
        if not page.body.strip() or not page.reading.is_html:
            visit.came(cause, response.url)
            return
        capture = _capture_of(page, visit, response)
        if response.status != OK or cause is not None:
            # What an error page shows is no product, and no price.
            capture = evolve(capture, cause=cause, verdict=None, facts=None, features=None)
        try:
            kept = await self.visits.keep(capture)
        except StaleSessionError as error:
            log.warning("capture.not_stored", url=response.url, error=str(error))
            return
        except Exception as error:  # ruff: ignore[blind-except] - `keep` has ended the session with its cause
            end_crawl(self.crawler, self.visits, error)
            return
        stored = stored_page(self.crawler, kept)
        if cause is not None:
            visit.came(cause, response.url)
        exporter, spider = self.crawler.get_extension(FeedExporter), self.crawler.spider
        if exporter is not None and spider is not None:
            exporter.item_scraped(stored, spider)


def _capture_of(page: FetchedPage, visit: Visit, response: Response) -> PageCapture:
    """Return what is kept of a page; of one that was rendered, what the browser has made of it as well."""
    rendered = rendered_in(response) if VIEWPORT in response.meta else None
    if rendered is None:
        return PageCapture.of(page, visit.id, "page")
    seen = seen_in(rendered, page)
    return PageCapture.of(page, visit.id, "page", doubts=rendered.doubts, viewport=rendered.viewport, **seen)


def _cause_of(response: Response) -> Cause | None:
    """Return why an answer is not the page that was requested.

    A callback that handles a 404 or a redirect has what it wants, as has one that did not request a page.
    """
    is_page = _method_of(response) == GET and response.status == OK
    is_fine = response.status in GONE or (response.status < CLIENT_ERROR and not is_page)
    return None if is_fine else cause_of_answer(response)


def _method_of(response: Response) -> str:
    return response.request.method if response.request is not None else GET
