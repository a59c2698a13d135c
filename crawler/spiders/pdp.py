"""One session a site: its home page, its candidates, its first valid product page (SPEC C, F)."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.asyncio import run_in_thread

from crawler.capture.failures import Cause
from crawler.capture.items import FetchedPage, PageCapture, PageVerdict
from crawler.crawl.answers import cause_of_answer, cause_of_error, page_of, read
from crawler.crawl.context import SESSION, VIEWPORT, CrawlContext
from crawler.crawl.rendered import rendered_in, seen_in
from crawler.errors import ConfigError
from crawler.pdp import is_product_like, sitemap_urls
from crawler.rendering.chromium import find_chromium, require_chromium
from crawler.sessions.batches import close_batch
from crawler.sessions.visit import ProductPage
from crawler.spiders.orders import PdpArguments, QueuedSessions, check_worker, queue
from crawler.spiders.search import Aim, Search
from crawler.spiders.tour import ALWAYS, FIRST, HOME, NEVER, SECOND, Tour
from crawler.spiders.visiting import ANSWERS, VisitingSpider
from crawler.urls import canonical, root_of, same_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
    from uuid import UUID

    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from crawler.config import Settings
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.visit import Visit

    Output: TypeAlias = PageCapture | PageVerdict | Request

PDP = "pdp"
PAGE = "page_type"  # the meta key that says what a request is for
LEFT_SITE = "left_site"  # the doubt about a page of another site than the one that was given
_tours: WeakKeyDictionary[Visit, Tour] = WeakKeyDictionary()  # what visits have still to see


class TouringSpider(VisitingSpider):
    """Asks for pages as their sessions want them seen, and knows which are still to be seen."""

    @abstractmethod
    def page_failed(self, failure: Failure) -> Any:
        """Called when a request of a session came to nothing."""

    @abstractmethod
    def parse_known(self, response: Response, visit: Visit) -> AsyncIterator[Any]:
        """Called with a page that is kept whatever it is."""

    # ── what is asked for ──

    def tour(self, visit: Visit) -> Tour:
        """What a visit has still to see."""
        if visit not in _tours:
            _tours[visit] = Tour.of(visit.order)
        return _tours[visit]

    def ask(self, visit: Visit, url: str, callback: Any, *, meta: dict[str, Any], **known: Any) -> Request:
        """A request of a session; whatever comes of it, one of its two callbacks hears of it.

        Both get the visit, and what else is `known`.
        """
        return Request(
            url,
            callback=callback,
            errback=self.page_failed,
            dont_filter=True,
            meta={SESSION: visit.id, "handle_httpstatus_list": ANSWERS, **meta},
            cb_kwargs={"visit": visit, **known},
        )

    def look(self, visit: Visit, url: str, callback: Any, page_type: str, **known: Any) -> Request:
        """A request for a page, through the visit's first window if it has one."""
        has_window = visit.order.render != NEVER and self.tour(visit).window is not None
        seen = {VIEWPORT: FIRST} if has_window and page_type != Aim.SITEMAP.value else {}
        return self.ask(visit, url, callback, meta={PAGE: page_type, **seen}, **known)

    def anew(self, visit: Visit, response: Response, page: FetchedPage | Cause) -> Request | None:
        """The same page in a browser, where the plain one says nothing."""
        request = response.request
        if visit.order.render == NEVER or request is None or VIEWPORT in request.meta:
            return None
        reason = self.tour(visit).why_render(request.meta[PAGE], page)
        if reason is None:
            return None
        if not self._has_browser():
            visit.journal.warn("navigation", "render.no_browser", url=response.url, reason=reason)
            return None
        visit.journal.info("navigation", "render.chosen", url=response.url, reason=reason)
        meta = {PAGE: request.meta[PAGE], VIEWPORT: FIRST}
        known = {name: value for name, value in request.cb_kwargs.items() if name != "visit"}
        return self.ask(visit, response.url, request.callback, meta=meta, **known)

    def _has_browser(self) -> bool:
        with suppress(ConfigError):  # one is named, and is not there: so says `vitrine doctor`
            return find_chromium(self.context.settings.chromium_path) is not None
        return False

    def onward(self, visit: Visit) -> list[PageCapture | Request]:
        """The visit's next page through the second window; its way is over when there is none.

        Where the site kept us out in the first window, the page has failed in the second as well: another
        browser's name would be more than the one mitigation that there is (SPEC F148).
        """
        failed: list[PageCapture | Request] = []
        while visit.order.render != NEVER and (step := self.tour(visit).next()):
            if step.kept_out is None:
                meta = {PAGE: step.page_type, VIEWPORT: SECOND}
                return [*failed, self.ask(visit, step.url, self.parse_known, meta=meta)]
            visit.work.add()
            failed.append(
                PageCapture(
                    session_id=visit.id, page_type=step.page_type, url=step.url, cause=step.kept_out,
                    viewport=SECOND,
                )
            )  # fmt: skip
        visit.work.remove()
        return failed

    # ── what came of it ──

    async def read(self, visit: Visit, response: Response) -> FetchedPage | Cause:
        """The HTML page that was asked for, or why it is none."""
        looks_around = response.meta[PAGE] in {HOME, Aim.HUB.value}
        page = await page_of(
            self.context.readers, response, visit.order.crawl_policy_version, with_links=looks_around
        )
        if not isinstance(page, Cause):
            if page.reading.is_html:
                return page
            page = Cause.NOT_HTML
        visit.journal.warn("navigation", "page.refused", url=response.url, status=response.status, cause=page)
        return page

    def capture(
        self, visit: Visit, page_type: str, page: FetchedPage | Cause, origin: Response | Request
    ) -> PageCapture:
        """The item of a page; the visit does not end before it is stored.

        What was seen through the first window is to be seen through the second.
        """
        viewport = window_of(origin)
        if visit.order.render != NEVER and viewport == FIRST:
            # what failed is tried from where it began, not from where it got to
            cause = page if isinstance(page, Cause) else None
            came_by = origin.meta.get("redirect_urls") if cause else None
            self.tour(visit).note(page_type, came_by[0] if came_by else origin.url, cause)
        visit.work.add()
        if isinstance(page, Cause):
            return PageCapture(
                session_id=visit.id, page_type=page_type, url=origin.url, cause=page, viewport=viewport,
                http_status=getattr(origin, "status", None),
            )  # fmt: skip
        doubts = [] if same_site(page.url, visit.order.url) else [LEFT_SITE]
        seen: dict[str, Any] = {}
        if VIEWPORT in origin.meta and isinstance(origin, Response) and (rendered := rendered_in(origin)):
            seen, doubts = seen_in(rendered, page), [*rendered.doubts, *doubts]
        return PageCapture.of(page, visit.id, page_type, doubts=tuple(doubts), viewport=viewport, **seen)


class PdpSpider(TouringSpider):
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
        arguments = PdpArguments.parse(given)
        if arguments.render == ALWAYS:
            require_chromium(settings.chromium_path)
        return {**given, "arguments": arguments}

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
        spider.context.records_sessions = arguments is None or arguments.may_record
        return spider

    async def orders(self) -> Sequence[tuple[UUID, SessionOrder]]:
        """Queue what the arguments ask for."""
        self.queued = await queue(self.visits, self.arguments or PdpArguments.parse(self.given))
        return self.queued.sessions

    def opening(self, visit: Visit) -> Request:
        """A visit begins with the page that was given."""
        return self.look(visit, visit.order.url, self.parse_start, HOME)

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
        page = await self.read(visit, response)
        if again := self.anew(visit, response, page):
            yield again
            return
        for output in self.began(visit, page, response):
            yield output

    def began(self, visit: Visit, page: FetchedPage | Cause, response: Response) -> Iterator[Output]:
        """What follows from the page that was given."""
        if isinstance(page, Cause):
            yield self.capture(visit, HOME, page, response)
            yield from self.onward(visit)
            return
        visit.final_url = page.url
        if page.reading.verdict.is_pdp and not visit.order.wanted_pdp_url:
            visit.pdp = ProductPage(page.url, missing=None)
            yield self.capture(visit, PDP, page, response)
            root = root_of(page.url)
            if canonical(root) != canonical(page.url):
                yield self.look(visit, root, self.parse_known, HOME)
                return
        yield self.capture(visit, HOME, page, response)
        if visit.order.wanted_pdp_url:
            yield self.look(visit, visit.order.wanted_pdp_url, self.parse_known, PDP)
        elif visit.pdp.url:
            yield from self.onward(visit)
        else:
            search = Search.of(page.url, page.reading)
            visit.journal.info("navigation", "search.begin", url=page.url, candidates=len(search.likely))
            yield from self._next(visit, search)

    async def parse_known(self, response: Response, visit: Visit) -> AsyncIterator[Output]:
        """The product page that was named, or the root of the site whose product page is known already.

        It is kept whatever it has become.
        """
        if visit.stopped:
            return
        page, page_type = await self.read(visit, response), response.meta[PAGE]
        if again := self.anew(visit, response, page):
            yield again
            return
        if page_type == PDP and window_of(response) == FIRST:
            if isinstance(page, Cause):
                visit.pdp = ProductPage(missing=page)
            else:
                is_pdp = page.reading.verdict.is_pdp
                visit.pdp = ProductPage(page.url, None) if is_pdp else ProductPage(missing=Cause.NOT_PDP)
        yield self.capture(visit, page_type, page, response)
        for request in self.onward(visit):
            yield request

    async def parse_candidate(
        self, response: Response, visit: Visit, search: Search
    ) -> AsyncIterator[Output]:
        """The first candidate that is a product page is the session's."""
        if visit.stopped:
            return
        page = await self.read(visit, response)
        if again := self.anew(visit, response, page):
            yield again
            return
        is_found, why = False, page if isinstance(page, Cause) else ",".join(page.reading.verdict.reasons)
        if isinstance(page, FetchedPage):
            is_found = page.reading.verdict.is_pdp and same_site(page.url, search.home)
        visit.journal.info("navigation", "candidate.judged", url=response.url, is_pdp=is_found, reasons=why)
        if is_found:
            visit.pdp = ProductPage(response.url, missing=None)
            yield self.capture(visit, PDP, page, response)
            onward = self.onward(visit)
        else:
            onward = self._next(visit, search, page)
        for request in onward:
            yield request

    async def parse_hub(self, response: Response, visit: Visit, search: Search) -> AsyncIterator[Output]:
        """A category page, or whatever else may lead to products."""
        if visit.stopped:
            return
        page = await self.read(visit, response)
        if isinstance(page, FetchedPage):
            search.add_page(page.reading)
        for request in self._next(visit, search, page):
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
        for request in self._next(visit, search, cause):
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
            if page_type == PDP and window_of(request) == FIRST:
                visit.pdp = ProductPage(missing=cause)
            yield self.capture(visit, page_type, cause, request)
            yield from self.onward(visit)
        else:
            yield from self._next(visit, request.cb_kwargs["search"], cause)

    # ── steps ──

    def _next(self, visit: Visit, search: Search, last: object = None) -> list[PageCapture | Request]:
        """The search's next request, after what came of the last one; ends the visit when there is none."""
        search.note(last if isinstance(last, Cause) else None)
        step = search.next()
        if isinstance(step, Cause):
            visit.pdp = ProductPage(missing=step)
            visit.journal.info("navigation", "search.end", tried=search.tried, cause=step)
            return self.onward(visit)
        aim, url = step
        callback = getattr(self, f"parse_{aim.value}")
        return [self.look(visit, url, callback, aim.value, search=search)]


def window_of(origin: Response | Request) -> str:
    """The window that a page was seen through; without a browser it goes by the first one's name."""
    return str(origin.meta.get(VIEWPORT, FIRST))
