"""Runs sessions side by side, one a domain at a time; what a visit asks for is the subclass's business."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider

from crawler import logs
from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture, page_fields
from crawler.crawl.closing import end_crawl, tell_refusal
from crawler.crawl.context import SESSION, CrawlContext
from crawler.db.engine import DatabaseUnavailableError
from crawler.errors import CrawlerError
from crawler.sessions.rows import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from uuid import UUID

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from crawler.crawl.visits import Visits
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.visit import Visit

    Queued = tuple[UUID, SessionOrder]
    Outgoing = asyncio.Queue[Request | None]

# Every status comes to the callback, except redirects, which are followed.
ANSWERS = [status for status in range(200, 600) if status not in {301, 302, 303, 307, 308}]

log = logs.get_logger(__name__)


ITEMS_AT_ONCE = 2


class SessionSpider(Spider):
    """A spider of Vitrine's: it ends its sessions itself, and has our policy for attempts."""

    ends_its_visits = True

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Switch off what our policy replaces; RETRY_ENABLED and the like are for other spiders.

        A session follows what the server says, not what the page's markup says.
        """
        super().update_settings(settings)
        # Scrapy starts so many tasks for every answer, whatever its callback yields; a page is one item.
        settings.set("CONCURRENT_ITEMS", ITEMS_AT_ONCE, priority="spider")
        for name in ("RETRY_ENABLED", "METAREFRESH_ENABLED"):
            settings.set(name, value=False, priority="cmdline")


class VisitingSpider(SessionSpider):
    """The frame of a spider whose requests belong to sessions."""

    context: CrawlContext
    visits: Visits

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Scrapy's way to make a spider."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.context = CrawlContext.of(crawler)
        spider.visits = spider.context.visits
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(spider.page_left, signal=signal)
        crawler.signals.connect(spider.callback_failed, signal=signals.spider_error)
        crawler.signals.connect(spider.request_lost, signal=signals.request_dropped)
        return spider

    @abstractmethod
    async def orders(self) -> Sequence[Queued]:
        """The queued sessions that this crawl is to run, in order."""

    @abstractmethod
    def opening(self, visit: Visit) -> Request:
        """The first request of a visit."""

    async def all_ended(self) -> None:
        """Called when every session has come to its end, and not when the crawl was stopped before."""

    # ── sessions, from their requests for the domain to their ends ──

    async def start(self) -> AsyncIterator[Request]:
        """Yield each session's first request once its domain is held."""
        try:
            orders = await self.orders()
        except CrawlerError as error:
            raise refusal(self.visits, error) from error
        outgoing: Outgoing = asyncio.Queue()
        running = asyncio.ensure_future(self._run_to_the_end(orders, outgoing))
        running.add_done_callback(lambda _: outgoing.put_nowait(None))
        try:
            while (request := await outgoing.get()) is not None:
                yield request
            await running
        finally:
            running.cancel()

    async def _run_to_the_end(self, orders: Sequence[Queued], outgoing: Outgoing) -> None:
        """Run all sessions; a database that cannot be used any more ends the crawl."""
        try:
            await self.run_sessions(orders, outgoing)
            await self.all_ended()
        except* DatabaseUnavailableError as errors:
            end_crawl(self.crawler, self.visits, errors.exceptions[0])

    async def run_sessions(self, orders: Sequence[Queued], outgoing: Outgoing) -> None:
        """Run these sessions: those of one domain one after the other, the domains side by side."""
        by_domain: dict[str, list[Queued]] = {}
        for session_id, order in orders:
            by_domain.setdefault(order.domain, []).append((session_id, order))
        async with asyncio.TaskGroup() as group:
            for waiting in by_domain.values():
                group.create_task(self._run_in_turn(waiting, outgoing))

    async def _run_in_turn(self, waiting: Sequence[Queued], outgoing: Outgoing) -> None:
        for session_id, order in waiting:
            try:
                async with self.visits.slots:
                    visit = await self.visits.begin(session_id, order)
                    if visit is not None:
                        await self.see_through(visit, outgoing)
            except StaleSessionError:
                log.warning("session.taken_over", session_id=str(session_id), domain=order.domain)
            except DatabaseUnavailableError:
                raise
            except Exception:
                log.exception("session.failed", session_id=str(session_id), domain=order.domain)

    async def see_through(self, visit: Visit, outgoing: Outgoing) -> None:
        """Be with a visit that has begun until it has ended: its way is over, and its pages are stored."""
        visit.wake = visit.work.over.set
        if visit.stopped is None:
            visit.work.add()
            outgoing.put_nowait(self.opening(visit))
            await visit.work.over.wait()
        await self.visits.end(visit)

    # ── signals ──

    def page_left(self, item: Any, signal: object) -> None:
        """A page has left the pipelines; one that got lost there before it was stored ends its session."""
        page = page_fields(item)
        visit = self.visits.running.get(page["session_id"]) if page is not None else None
        if visit is None:
            return
        is_lost = signal is not signals.item_scraped and isinstance(item, PageCapture)
        if is_lost and item.page_id not in visit.kept:
            self.visits.stop(visit.id, Cause.STORE_FAILED, lost=item.url)
        visit.work.remove()

    def callback_failed(self, failure: Failure, response: Response | Failure | None) -> None:
        """An error in a callback ends its session, and no other."""
        request = getattr(response, "request", None)
        visit = self.visits.running.get(request.meta.get(SESSION, "")) if request else None
        if visit is not None and visit.stop(Cause.CRASHED):
            visit.journal.error("error", "session.crashed", error=failure.getErrorMessage())
            visit.wake()

    def request_lost(self, request: Request) -> None:
        """The scheduler would not have a request; the visit cannot go on."""
        visit = self.visits.running.get(request.meta.get(SESSION, ""))
        if visit is not None and visit.stop(Cause.CRASHED):
            visit.wake()


def refusal(visits: Visits, error: CrawlerError) -> CloseSpider:
    """Tell why nothing is run; what then ends the spider. `scrapy crawl` says it as the error that it is."""
    tell_refusal(visits, error)
    return CloseSpider(error.code)
