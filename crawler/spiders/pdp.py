"""One session a site: its home page, its candidates, its first valid product page (SPEC C, F)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast
from urllib.parse import urljoin

from scrapy.utils.asyncio import run_in_thread

from crawler.capture.failures import Cause
from crawler.capture.items import FetchedPage, PageCapture, PageVerdict
from crawler.crawl.answers import cause_of_answer, cause_of_error, page_of, read
from crawler.crawl.context import CrawlContext
from crawler.pdp import is_product_like, sitemap_urls
from crawler.spiders.arguments import PdpArguments, check_worker
from crawler.spiders.intake import Intake, listing_urls
from crawler.spiders.search import Aim, Search
from crawler.spiders.visiting import VisitingSpider
from crawler.urls import canonical, root_of, same_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from uuid import UUID

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.config import Settings
    from crawler.db.engine import Database
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.visit import Visit

    Output: TypeAlias = PageCapture | PageVerdict | Request

PAGE = "page_type"  # the meta key that says what a request is for
HOME, PDP = "homepage", "pdp"


class PdpSpider(VisitingSpider):
    """`scrapy crawl pdp -a url=URL`, `-a urls=FILE`, `-a pdp=URL`, `-a session=ID`, `-a listing=ID`."""

    name = "pdp"
    # Its callbacks yield what is to be kept.
    custom_settings = {"CAPTURE_PAGES": False}  # ruff: ignore[mutable-class-default] - Scrapy's declaration

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.given = kwargs
        self.searches: dict[str, Search] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Scrapy's way to make a spider; FLEET makes it a worker."""
        if cls is PdpSpider and CrawlContext.of(crawler).settings.fleet:
            from crawler.spiders.fleet import FleetSpider  # ruff: ignore[import-outside-top-level] - it is a PdpSpider

            return cast("Self", FleetSpider.from_crawler(crawler, *args, **kwargs))
        return super().from_crawler(crawler, *args, **kwargs)

    @classmethod
    def check_arguments(cls, **given: str) -> None:
        """Called before a crawl starts, so that a mistake costs one line."""
        PdpArguments.parse(given)

    @classmethod
    def check_fleet(cls, settings: Settings, **given: str) -> None:
        """Called in place of the above for a worker of a fleet."""
        check_worker(settings, given)

    @classmethod
    def check_stored(cls, database: Database, **given: str) -> None:
        """Called next: what the arguments name has to be there."""
        listing_urls(database, PdpArguments.parse(given).listings)

    async def orders(self) -> Sequence[tuple[UUID, SessionOrder]]:
        """Queue what the arguments ask for."""
        self.intake = Intake(self.visits, PdpArguments.parse(self.given))
        return await self.intake.queue()

    def opening(self, visit: Visit) -> Request:
        """A visit begins with the page that was given."""
        return self.ask(visit, visit.order.url, self.parse_start, **{PAGE: HOME})

    def forget(self, visit: Visit) -> None:
        """The search is over."""
        self.searches.pop(visit.id, None)

    async def all_ended(self) -> None:
        """The URL file has been worked through."""
        await self.intake.close()

    # ── callbacks ──

    async def parse(self, response: Response) -> AsyncIterator[Output]:
        """Judge a page outside of any session, for `scrapy parse`, `scrapy shell` and contracts."""
        policy = self.settings["CRAWL_POLICY_VERSION"]
        page = await read(self.context.readers, response, policy, with_links=True)
        yield PageVerdict.of(response.url, page.reading)

    async def parse_start(self, response: Response) -> AsyncIterator[Output]:
        """The given page is the product page, or the home page from which one is looked for."""
        if (visit := self.visit_of(response)) is None:
            return
        page = await self._read(visit, response)
        if isinstance(page, Cause):
            yield self._failed(visit, response, HOME, page)
            self.conclude(visit)
        elif visit.order.wanted_pdp_url:
            visit.final_url = response.url
            yield self.keep(PageCapture.of(page, visit.id, HOME))
            yield self.ask(visit, visit.order.wanted_pdp_url, self.parse_wanted, **{PAGE: PDP})
        elif page.reading.verdict.is_pdp:
            async for output in self._start_is_product(visit, page):
                yield output
        else:
            async for output in self._look_from(visit, page):
                yield output

    async def parse_root(self, response: Response) -> AsyncIterator[Output]:
        """The site's root, whose product page is known already."""
        if (visit := self.visit_of(response)) is None:
            return
        page = await self._read(visit, response)
        if isinstance(page, Cause):
            yield self._failed(visit, response, HOME, page)
        else:
            yield self.keep(PageCapture.of(page, visit.id, HOME))
        self.conclude(visit)

    async def parse_wanted(self, response: Response) -> AsyncIterator[Output]:
        """The product page that was named; it is kept whatever it has become."""
        if (visit := self.visit_of(response)) is None:
            return
        page = await self._read(visit, response)
        if isinstance(page, Cause):
            visit.missing_pdp = page
            yield self._failed(visit, response, PDP, page)
        else:
            if page.reading.verdict.is_pdp:
                visit.found(response.url)
            else:
                visit.missing_pdp = Cause.NOT_PDP
            yield self.keep(PageCapture.of(page, visit.id, PDP))
        self.conclude(visit)

    async def parse_candidate(self, response: Response) -> AsyncIterator[Output]:
        """The first candidate that is a product page is the session's."""
        if (visit := self.visit_of(response)) is None:
            return
        search = self.searches[visit.id]
        page = await self._read(visit, response)
        search.note(page if isinstance(page, Cause) else None)
        is_found = (
            not isinstance(page, Cause) and page.reading.verdict.is_pdp and same_site(page.url, search.home)
        )
        _note_candidate(visit, response.url, page, is_found=is_found)
        if isinstance(page, FetchedPage) and is_found:
            visit.found(response.url)
            yield self.keep(PageCapture.of(page, visit.id, PDP))
            self.conclude(visit)
        elif request := self._next(visit):
            yield request

    async def parse_hub(self, response: Response) -> AsyncIterator[Output]:
        """A category page, or whatever else may lead to products."""
        if (visit := self.visit_of(response)) is None:
            return
        search = self.searches[visit.id]
        page = await self._read(visit, response)
        if isinstance(page, Cause):
            search.note(page)
        else:
            search.note(None)
            search.add_likely(page.reading.candidates)
            search.add_others(page.reading.others)
        if request := self._next(visit):
            yield request

    async def parse_sitemap(self, response: Response) -> AsyncIterator[Output]:
        """What the site itself lists, where its pages show no product."""
        if (visit := self.visit_of(response)) is None:
            return
        search = self.searches[visit.id]
        cause = cause_of_answer(response)
        search.note(cause)
        if cause is None:
            listed = await run_in_thread(sitemap_urls, [response.body])
            found = search.add_likely(filter(is_product_like, listed.pages))
            search.add_sitemaps(listed.sitemaps)
            visit.journal.info(
                "navigation", "sitemap.read", url=response.url, pages=len(listed.pages), candidates=found
            )
        if request := self._next(visit):
            yield request

    def page_failed(self, failure: Failure) -> Any:
        """A request came to nothing: its page has failed, the session perhaps not."""
        request = failure.request  # type: ignore[attr-defined]
        visit = self.visit_of(request)
        if visit is None:
            return
        cause = cause_of_error(failure.value or RuntimeError())
        visit.journal.warn(
            "error", "page.failed", url=request.url, page_type=request.meta[PAGE], cause=cause,
            error=failure.getErrorMessage(),
        )  # fmt: skip
        if request.meta[PAGE] in {HOME, PDP}:
            if request.meta[PAGE] == PDP:
                visit.missing_pdp = cause
            failed = PageCapture(
                session_id=visit.id, page_type=request.meta[PAGE], url=request.url, cause=cause
            )
            yield self.keep(failed)
            self.conclude(visit)
            return
        self.searches[visit.id].note(cause)
        if onward := self._next(visit):
            yield onward

    # ── steps ──

    async def _read(self, visit: Visit, response: Response) -> FetchedPage | Cause:
        looks_around = response.meta[PAGE] in {HOME, Aim.HUB.value}
        page = await page_of(self.context.readers, response, visit.order.policy, with_links=looks_around)
        if not isinstance(page, Cause):
            if page.reading.is_html:
                return page
            page = Cause.NOT_HTML
        visit.journal.warn("navigation", "page.refused", url=response.url, status=response.status, cause=page)
        return page

    async def _start_is_product(self, visit: Visit, page: FetchedPage) -> AsyncIterator[Output]:
        visit.found(page.url)
        visit.final_url = page.url
        yield self.keep(PageCapture.of(page, visit.id, PDP))
        root = root_of(page.url)
        if canonical(root) == canonical(page.url):
            yield self.keep(PageCapture.of(page, visit.id, HOME))
            self.conclude(visit)
        else:
            yield self.ask(visit, root, self.parse_root, **{PAGE: HOME})

    async def _look_from(self, visit: Visit, page: FetchedPage) -> AsyncIterator[Output]:
        visit.final_url = page.url
        yield self.keep(PageCapture.of(page, visit.id, HOME))
        search = self.searches[visit.id] = Search(page.url)
        found = search.add_likely(page.reading.candidates)
        search.add_others(page.reading.others)
        search.add_hubs(page.reading.hubs)
        search.add_sitemaps([urljoin(page.url, "/sitemap.xml")])
        visit.journal.info("navigation", "search.begin", url=page.url, candidates=found)
        if request := self._next(visit):
            yield request

    def _next(self, visit: Visit) -> Request | None:
        """The search's next request; ends the visit when there is none."""
        search = self.searches[visit.id]
        if step := search.next():
            aim, url = step
            return self.ask(visit, url, getattr(self, f"parse_{aim.value}"), **{PAGE: aim.value})
        visit.missing_pdp = search.verdict()
        visit.journal.info("navigation", "search.end", tried=search.tried, cause=visit.missing_pdp)
        self.conclude(visit)
        return None

    def _failed(self, visit: Visit, response: Response, page_type: str, cause: Cause) -> PageCapture:
        failed = PageCapture(
            session_id=visit.id, page_type=page_type, url=response.url, cause=cause,
            http_status=response.status,
        )  # fmt: skip
        return self.keep(failed)


def _note_candidate(visit: Visit, url: str, page: FetchedPage | Cause, *, is_found: bool) -> None:
    reasons = [page] if isinstance(page, Cause) else page.reading.verdict.reasons
    visit.journal.info("navigation", "candidate.judged", url=url, is_pdp=is_found, reasons=",".join(reasons))
