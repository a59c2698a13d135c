"""One session a site: its home page, its candidates, its first valid product page (SPEC C, F)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from scrapy.utils.asyncio import run_in_thread

from crawler.capture.failures import Cause
from crawler.capture.items import FetchedPage, PageCapture, PageVerdict
from crawler.crawl.answers import cause_of_answer, cause_of_error, page_of, read
from crawler.crawl.context import CrawlContext
from crawler.pdp import is_product_like, sitemap_urls
from crawler.sessions.batches import close_batch
from crawler.sessions.visit import ProductPage
from crawler.spiders.orders import PdpArguments, QueuedSessions, check_worker, queue
from crawler.spiders.search import Aim, Search
from crawler.spiders.visiting import VisitingSpider
from crawler.urls import canonical, root_of, same_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from uuid import UUID

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.config import Settings
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.visit import Visit

    Output: TypeAlias = PageCapture | PageVerdict | Request

PAGE = "page_type"  # the meta key that says what a request is for
HOME, PDP = "homepage", "pdp"
LEFT_SITE = "left_site"  # the doubt about a page of another site than the one that was given


class PdpSpider(VisitingSpider):
    """`scrapy crawl pdp -a url=URL`, `-a urls=FILE`, `-a pdp=URL`, `-a session=ID`, `-a listing=ID`."""

    name = "pdp"
    works_in_fleet = True
    # Its callbacks yield what is to be kept.
    custom_settings = {"CAPTURE_PAGES": False}  # ruff: ignore[mutable-class-default] - Scrapy's declaration
    given: Mapping[str, str]  # with `-a`
    arguments: PdpArguments | None  # the same, checked already
    queued: QueuedSessions

    @classmethod
    def prepared(cls, settings: Settings, given: Mapping[str, str]) -> dict[str, Any]:
        """What the spider is made with; a mistake in it costs one line, before anything starts."""
        if settings.fleet:
            check_worker(settings, given)
            return dict(given)
        return {**given, "arguments": PdpArguments.parse(given)}

    @classmethod
    def from_crawler(
        cls, crawler: Crawler, *args: Any, arguments: PdpArguments | None = None, **given: Any
    ) -> Self:
        """Scrapy's way to make a spider; FLEET makes it a worker."""
        if cls is PdpSpider and CrawlContext.of(crawler).settings.fleet:
            from crawler.spiders.fleet import FleetSpider  # ruff: ignore[import-outside-top-level] - it is a PdpSpider

            return cast("Self", FleetSpider.from_crawler(crawler, *args, **given))
        spider = super().from_crawler(crawler, *args, **given)
        spider.given, spider.arguments = given, arguments
        spider.context.records_sessions = arguments is not None and arguments.warc
        return spider

    async def orders(self) -> Sequence[tuple[UUID, SessionOrder]]:
        """Queue what the arguments ask for."""
        self.queued = await queue(self.visits, self.arguments or PdpArguments.parse(self.given))
        return self.queued.sessions

    def opening(self, visit: Visit) -> Request:
        """A visit begins with the page that was given."""
        return self.ask(visit, visit.order.url, self.parse_start, meta={PAGE: HOME})

    async def all_ended(self) -> None:
        """The URL file has been worked through, if nothing of it is left to do."""
        if self.queued.batch_id is not None:
            await run_in_thread(close_batch, self.visits.stores.sessions, self.queued.batch_id)

    # ── callbacks ──

    async def parse(self, response: Response) -> AsyncIterator[Output]:
        """Judge a page outside of any session, for `scrapy parse`, `scrapy shell` and contracts."""
        policy = self.settings["CRAWL_POLICY_VERSION"]
        page = await read(self.context.readers, response, policy, with_links=True)
        yield PageVerdict.of(response.url, page.reading)

    async def parse_start(self, response: Response, visit: Visit) -> AsyncIterator[Output]:
        """The given page is the product page, or the home page from which one is looked for."""
        if visit.stopped:
            return
        page = await self._read(visit, response)
        if isinstance(page, Cause):
            yield self._capture(visit, HOME, page, response)
            visit.work.remove()
            return
        visit.final_url = page.url
        if page.reading.verdict.is_pdp and not visit.order.wanted_pdp_url:
            visit.pdp = ProductPage(page.url, missing=None)
            yield self._capture(visit, PDP, page, response)
            root = root_of(page.url)
            if canonical(root) != canonical(page.url):
                yield self.ask(visit, root, self.parse_known, meta={PAGE: HOME})
                return
        yield self._capture(visit, HOME, page, response)
        if visit.order.wanted_pdp_url:
            yield self.ask(visit, visit.order.wanted_pdp_url, self.parse_known, meta={PAGE: PDP})
        elif visit.pdp.url:
            visit.work.remove()
        else:
            search = Search.of(page.url, page.reading)
            visit.journal.info("navigation", "search.begin", url=page.url, candidates=len(search.likely))
            if request := self._next(visit, search):
                yield request

    async def parse_known(self, response: Response, visit: Visit) -> AsyncIterator[Output]:
        """The product page that was named, or the root of the site whose product page is known already.

        It is kept whatever it has become.
        """
        if visit.stopped:
            return
        page, page_type = await self._read(visit, response), response.meta[PAGE]
        if page_type == PDP:
            if isinstance(page, Cause):
                visit.pdp = ProductPage(missing=page)
            else:
                is_pdp = page.reading.verdict.is_pdp
                visit.pdp = ProductPage(page.url, None) if is_pdp else ProductPage(missing=Cause.NOT_PDP)
        yield self._capture(visit, page_type, page, response)
        visit.work.remove()

    async def parse_candidate(
        self, response: Response, visit: Visit, search: Search
    ) -> AsyncIterator[Output]:
        """The first candidate that is a product page is the session's."""
        if visit.stopped:
            return
        page = await self._read(visit, response)
        is_found, why = False, page if isinstance(page, Cause) else ",".join(page.reading.verdict.reasons)
        if isinstance(page, FetchedPage):
            is_found = page.reading.verdict.is_pdp and same_site(page.url, search.home)
        visit.journal.info("navigation", "candidate.judged", url=response.url, is_pdp=is_found, reasons=why)
        if is_found:
            visit.pdp = ProductPage(response.url, missing=None)
            yield self._capture(visit, PDP, page, response)
            visit.work.remove()
        elif request := self._next(visit, search, page):
            yield request

    async def parse_hub(self, response: Response, visit: Visit, search: Search) -> AsyncIterator[Output]:
        """A category page, or whatever else may lead to products."""
        if visit.stopped:
            return
        page = await self._read(visit, response)
        if isinstance(page, FetchedPage):
            search.add_page(page.reading)
        if request := self._next(visit, search, page):
            yield request

    async def parse_sitemap(self, response: Response, visit: Visit, search: Search) -> AsyncIterator[Output]:
        """What the site itself lists, where its pages show no product."""
        if visit.stopped:
            return
        cause = cause_of_answer(response)
        if cause is None:
            listed = await run_in_thread(sitemap_urls, [response.body])
            found = search.add_sitemap(filter(is_product_like, listed.pages), listed.sitemaps)
            visit.journal.info(
                "navigation", "sitemap.read", url=response.url, pages=len(listed.pages), candidates=found
            )
        if request := self._next(visit, search, cause):
            yield request

    def page_failed(self, failure: Failure) -> Any:
        """A request came to nothing: its page has failed, the session perhaps not."""
        request: Request = failure.request  # type: ignore[attr-defined]
        visit: Visit = request.cb_kwargs["visit"]
        if visit.stopped:
            return
        cause, page_type = cause_of_error(failure.value or RuntimeError()), request.meta[PAGE]
        visit.journal.warn(
            "error", "page.failed", url=request.url, page_type=page_type, cause=cause,
            error=failure.getErrorMessage(),
        )  # fmt: skip
        if page_type in {HOME, PDP}:
            if page_type == PDP:
                visit.pdp = ProductPage(missing=cause)
            yield self._capture(visit, page_type, cause, request)
            visit.work.remove()
        elif onward := self._next(visit, request.cb_kwargs["search"], cause):
            yield onward

    # ── steps ──

    async def _read(self, visit: Visit, response: Response) -> FetchedPage | Cause:
        """The HTML page that was asked for, or why it is none."""
        looks_around = response.meta[PAGE] in {HOME, Aim.HUB.value}
        page = await page_of(self.context.readers, response, visit.order.policy, with_links=looks_around)
        if not isinstance(page, Cause):
            if page.reading.is_html:
                return page
            page = Cause.NOT_HTML
        visit.journal.warn("navigation", "page.refused", url=response.url, status=response.status, cause=page)
        return page

    def _capture(
        self, visit: Visit, page_type: str, page: FetchedPage | Cause, origin: Response | Request
    ) -> PageCapture:
        """The item of a page; the visit does not end before it is stored."""
        visit.work.add()
        if isinstance(page, Cause):
            return PageCapture(
                session_id=visit.id, page_type=page_type, url=origin.url, cause=page,
                http_status=getattr(origin, "status", None),
            )  # fmt: skip
        doubts = () if same_site(page.url, visit.order.url) else (LEFT_SITE,)
        return PageCapture.of(page, visit.id, page_type, doubts=doubts)

    def _next(self, visit: Visit, search: Search, last: object = None) -> Request | None:
        """The search's next request, after what came of the last one; ends the visit when there is none."""
        search.note(last if isinstance(last, Cause) else None)
        step = search.next()
        if isinstance(step, Cause):
            visit.pdp = ProductPage(missing=step)
            visit.journal.info("navigation", "search.end", tried=search.tried, cause=step)
            visit.work.remove()
            return None
        aim, url = step
        callback = getattr(self, f"parse_{aim.value}")
        return self.ask(visit, url, callback, meta={PAGE: aim.value}, search=search)
