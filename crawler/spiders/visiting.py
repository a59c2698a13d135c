"""Runs sessions side by side, one a domain at a time; what a visit asks for is the subclass's business."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

from attrs import define, field
from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider

from crawler import logs
from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture, StoredPage
from crawler.crawl.context import SESSION, CrawlContext
from crawler.errors import CrawlerError
from crawler.sessions.rows import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from uuid import UUID

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.crawl.visits import Visits
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.visit import Visit

# Every status comes to the callback, except redirects, which are followed.
ANSWERS = [status for status in range(200, 600) if status not in {301, 302, 303, 307, 308}]

log = logs.get_logger(__name__)


@define(eq=False)
class Engagement:
    """A visit that this spider is busy with; done when its way is over and all its pages are stored."""

    visit: Visit
    unstored: int = 0
    over: bool = False
    done: asyncio.Event = field(factory=asyncio.Event)

    def check(self) -> None:
        """See whether it is done."""
        if self.visit.stopped or (self.over and not self.unstored):
            self.done.set()


class VisitingSpider(Spider):
    """The frame of a spider whose requests belong to sessions."""

    context: CrawlContext
    visits: Visits
    engagements: dict[str, Engagement]  # by session id

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Scrapy's way to make a spider."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.context = CrawlContext.of(crawler)
        spider.visits = spider.context.visits
        spider.engagements = {}
        crawler.signals.connect(spider.page_left, signal=signals.item_scraped)
        crawler.signals.connect(spider.page_lost, signal=signals.item_dropped)
        crawler.signals.connect(spider.page_lost, signal=signals.item_error)
        crawler.signals.connect(spider.callback_failed, signal=signals.spider_error)
        crawler.signals.connect(spider.request_lost, signal=signals.request_dropped)
        return spider

    @abstractmethod
    async def orders(self) -> Sequence[tuple[UUID, SessionOrder]]:
        """The queued sessions that this crawl is to run, in order."""

    @abstractmethod
    def opening(self, visit: Visit) -> Request:
        """The first request of a visit."""

    async def start(self) -> AsyncIterator[Request]:
        """Yield each session's first request once its domain is held."""
        orders = await self._wanted()
        outgoing: asyncio.Queue[Request | None] = asyncio.Queue()
        running = asyncio.ensure_future(self._run_all(orders, outgoing))
        try:
            while (request := await outgoing.get()) is not None:
                yield request
            await running
            await self.all_ended()
        finally:
            running.cancel()

    async def _wanted(self) -> Sequence[tuple[UUID, SessionOrder]]:
        """The sessions to run; where there is a reason to run none, it is told in a line, and that is all."""
        try:
            await self.visits.open()
            return await self.orders()
        except CrawlerError as error:
            log.error("crawl.refused", code=error.code, error=str(error), hint=error.hint)  # ruff: ignore[error-instead-of-exception] - a reason, not a crash
            self.visits.tell("refused", code=error.code, exit_code=error.exit_code)
            raise CloseSpider(error.code) from error

    # ── a visit, from its request for the domain to its end ──

    async def _run_all(
        self, orders: Sequence[tuple[UUID, SessionOrder]], outgoing: asyncio.Queue[Request | None]
    ) -> None:
        try:
            await self.run_sessions(orders, outgoing)
        finally:
            outgoing.put_nowait(None)

    async def run_sessions(
        self, orders: Sequence[tuple[UUID, SessionOrder]], outgoing: asyncio.Queue[Request | None]
    ) -> None:
        """Run these sessions: one line a domain, the lines side by side."""
        lines: dict[str, list[tuple[UUID, SessionOrder]]] = {}
        for session_id, order in orders:
            lines.setdefault(order.domain, []).append((session_id, order))
        async with asyncio.TaskGroup() as group:
            for line in lines.values():
                group.create_task(self._run_line(line, outgoing))

    async def _run_line(
        self, line: list[tuple[UUID, SessionOrder]], outgoing: asyncio.Queue[Request | None]
    ) -> None:
        """The sessions of one domain, one after the other."""
        for session_id, order in line:
            try:
                await self._run_one(session_id, order, outgoing)
            except StaleSessionError:
                log.warning("session.taken_over", session_id=str(session_id), domain=order.domain)
            except Exception:
                log.exception("session.failed", session_id=str(session_id), domain=order.domain)

    async def _run_one(
        self, session_id: UUID, order: SessionOrder, outgoing: asyncio.Queue[Request | None]
    ) -> None:
        async with self.visits.slots:
            visit = await self.visits.begin(session_id, order)
            if visit is not None:
                await self.see_through(visit, outgoing)

    async def see_through(self, visit: Visit, outgoing: asyncio.Queue[Request | None]) -> None:
        """Be with a visit that has begun until it has ended."""
        engagement = self.engagements[visit.id] = Engagement(visit)
        visit.wake = engagement.check
        outgoing.put_nowait(self.opening(visit))
        await engagement.done.wait()
        del self.engagements[visit.id]
        self.forget(visit)
        await self.visits.end(visit)

    # ── for the subclass ──

    def visit_of(self, thing: Response | Request) -> Visit | None:
        """The running session that a request or response belongs to."""
        engagement = self.engagements.get(thing.meta.get(SESSION, ""))
        return engagement.visit if engagement and not engagement.visit.stopped else None

    def ask(self, visit: Visit, url: str, callback: Any, **meta: Any) -> Request:
        """A request of a session; whatever comes of it, one of its two callbacks hears of it."""
        return Request(
            url,
            callback=callback,
            errback=self.page_failed,
            dont_filter=True,
            meta={SESSION: visit.id, "handle_httpstatus_list": ANSWERS, **meta},
        )

    def keep(self, capture: PageCapture) -> PageCapture:
        """An item to be yielded; the visit does not end before it is stored."""
        self.engagements[capture.session_id].unstored += 1
        return capture

    def conclude(self, visit: Visit) -> None:
        """Nothing more is asked for in this visit."""
        engagement = self.engagements.get(visit.id)
        if engagement is not None:
            engagement.over = True
            engagement.check()

    def forget(self, visit: Visit) -> None:
        """Let go of what is known of a visit, which is over."""

    async def all_ended(self) -> None:
        """Called when every session has come to its end, and not when the crawl was stopped before."""

    @abstractmethod
    def page_failed(self, failure: Failure) -> Any:
        """Called when a request of a session came to nothing."""

    # ── signals ──

    def page_left(self, item: Any) -> None:
        """A page has come out of the pipelines."""
        engagement = self.engagements.get(getattr(item, "session_id", ""))
        if engagement is not None and isinstance(item, PageCapture | StoredPage):
            engagement.unstored -= 1
            engagement.check()

    def page_lost(self, item: Any) -> None:
        """A page has got lost in them; if that was before it was stored, its session must not end well."""
        visit = self.visits.running.get(getattr(item, "session_id", ""))
        if visit is not None and isinstance(item, PageCapture) and item.page_id not in visit.kept:
            self.visits.stop(item.session_id, Cause.STORE_FAILED, lost=item.url)
        self.page_left(item)

    def callback_failed(self, failure: Failure, response: Response | None) -> None:
        """An error in a callback ends its session, and no other."""
        visit = self.visit_of(response) if response is not None else None
        if visit is not None:
            visit.journal.error("error", "session.crashed", error=failure.getErrorMessage())
            visit.stop(Cause.CRASHED)
            self.conclude(visit)

    def request_lost(self, request: Request) -> None:
        """The scheduler would not have a request; the visit cannot go on."""
        visit = self.visit_of(request)
        if visit is not None:
            visit.stop(Cause.CRASHED)
            self.conclude(visit)
