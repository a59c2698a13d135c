"""No request leaves for a domain that its session does not hold."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from crawler import logs
from crawler.capture.failures import Cause
from crawler.crawl.answers import (
    REFUSED,
    BadRequestUrlError,
    DomainHeldError,
    SessionStoppedError,
    cause_of_error,
)
from crawler.crawl.closing import drops_its_queue, end_crawl, ends_its_visits, is_closing, tell_refusal
from crawler.crawl.context import SESSION, Component
from crawler.crawl.scheduling import again
from crawler.crawl.shared_scheduling import waiting_scheduler
from crawler.crawl.waiting import DomainWaits
from crawler.errors import BadUrlError, CrawlerError, LockedError
from crawler.urls import domain_of, redact, require_http_url

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request

    from crawler.crawl.scheduling import WaitingScheduler
    from crawler.sessions.visit import Visit

log = logs.get_logger(__name__)

HINT = "`vitrine domains list` shows by whom"
LEAST_DELAY = 0.001  # without any, Scrapy neither counts what is under way at a site nor asks for its turn

# The request for robots.txt (and where that redirects to) belongs to the session whose request caused
# it. It is made in that request's task, right behind us, and inherits this. For any other request the
# context says nothing: Scrapy starts requests from wherever it happens to be.
_caused_by: ContextVar[str | None] = ContextVar("caused_by", default=None)


class DomainsHeldError(LockedError):
    """Domains that are all that is left of a crawl stay somebody else's."""

    code = Cause.DOMAIN_HELD


class DomainGateMiddleware(Component):
    """Passes requests of domains that their session holds; takes a further one when it is first asked for.

    A spider that knows nothing of sessions gets one for each domain that it fetches from, and a further one
    when that one's time is over. Its requests wait for their domains.
    """

    def set_up(self) -> None:
        """Connect to the signals of requests that go out and come back."""
        self._held_too_long = False
        self._scheduler: WaitingScheduler | None = None
        connect = self.crawler.signals.connect
        connect(self.request_went, signal=signals.request_reached_downloader)
        connect(self.request_came_back, signal=signals.request_left_downloader)
        self._is_foreign = not ends_its_visits(self.crawler)
        self.waits = DomainWaits(self.crawler, self.context)
        if self._is_foreign:
            connect(self.spider_opened, signal=signals.spider_opened)
            connect(self.spider_idle, signal=signals.spider_idle)
            connect(self.answer_came, signal=signals.response_received)

    def spider_opened(self) -> None:
        """Have requests wait beside the engine for their domains."""
        silent_seconds = self.context.settings.domain_lock_ttl_seconds
        self._scheduler = waiting_scheduler(self.crawler, self.waits, silent_seconds=silent_seconds)
        slot = self.crawler.engine._slot  # ruff: ignore[private-member-access] - the engine asks this one
        assert slot is not None  # ruff: ignore[assert] - it is made before the spider is opened
        slot.scheduler = self._scheduler

    async def process_request(self, request: Request) -> Request | None:
        """Let a request pass, have it wait for its domain, or refuse it."""
        try:
            domain = domain_of(require_http_url(request.url))
        except BadUrlError as error:
            # Scrapy drops such a request without a word.
            log.warning("request.refused", url=redact(request.url), error=str(error))
            self.crawler.stats.inc_value(REFUSED)
            raise BadRequestUrlError(str(error)) from error
        waits = self._is_foreign and not _is_for_robots(request)
        visit = await (self._visit_for(request, domain) if waits else self._its_visit(request, domain))
        if visit is None:
            return again(request)
        _caused_by.set(visit.id)
        request.meta[SESSION] = visit.id
        # One queue and one delay a domain, however its host is spelt.
        request.meta["download_slot"] = domain
        return None

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Report what failed to the session of a spider that knows of none; ours see to that themselves.

        A request whose session has ended before it went out goes back to the scheduler.
        """
        if not self._is_foreign:
            return None
        if isinstance(exception, SessionStoppedError):
            return again(request) if self._comes_again(request) else None
        visit = self.visits.running.get(request.meta.get(SESSION, ""))
        if visit is None or request.callback is NO_CALLBACK:
            return None
        cause = cause_of_error(exception)
        is_theirs = isinstance(exception, IgnoreRequest) and cause is Cause.CRASHED  # a middleware's own wish
        if not is_theirs:
            visit.came(cause, request.url)
        return None

    def spider_idle(self) -> None:
        """End a crawl that has waited for its domains for too long; whatever keeps its requests has them."""
        if not (overdue := self.waits.overdue):
            if self._held_too_long:
                raise CloseSpider(Cause.DOMAIN_HELD.value)
            return
        held = "; ".join(sorted(f"{wait.domain}: {wait.why or 'this process'}" for wait in overdue))
        self._held_too_long = True
        tell_refusal(self.visits, DomainsHeldError(f"waited for too long: {held}", hint=HINT))
        if self._keeps_requests:
            raise CloseSpider(Cause.DOMAIN_HELD.value)
        self.waits.give_up()
        raise DontCloseSpider

    def answer_came(self, request: Request) -> None:
        """What came of a page is noted behind its callback; a file has none, and is an answer, too."""
        visit = self.visits.running.get(request.meta.get(SESSION, ""))
        if visit is not None and not _is_for_robots(request):
            visit.heard()

    def request_went(self, request: Request) -> None:
        """A session has a request at its site; it is one of those that Scrapy counts there."""
        slot = self.crawler.engine.downloader.slots[request.meta["download_slot"]]
        slot.delay = slot.delay or LEAST_DELAY
        visit = self.visits.known.get(request.meta.get(SESSION, ""))
        if visit is not None:
            visit.requests.add()

    def request_came_back(self, request: Request) -> None:
        """And no longer has."""
        visit = self.visits.known.get(request.meta.get(SESSION, ""))
        if visit is not None:
            visit.requests.remove()

    async def _its_visit(self, request: Request, domain: str) -> Visit:
        """Return the session that a request names, or that caused it, once it holds the domain."""
        session_id = request.meta.get(SESSION) or (_caused_by.get() if _is_for_robots(request) else None)
        visit = self.visits.running.get(session_id or "")
        if visit is None or visit.stopped:
            raise SessionStoppedError(f"session {session_id} has ended")
        if not await self.visits.admit(visit, domain):
            raise DomainHeldError(f"{domain} is held by another session")
        return visit

    async def _visit_for(self, request: Request, domain: str) -> Visit | None:
        """Return the session that a request goes with; None where its domain is not open yet.

        A session that has ended, as one out of a JOBDIR or of a meta that was copied, counts as none.
        """
        if drops_its_queue(self.crawler):
            raise SessionStoppedError("the crawl is being ended")
        if self.waits.is_refused(request, domain):
            raise DomainHeldError(f"{domain} is held by another session")
        named = self.visits.running.get(request.meta.get(SESSION, ""))
        if named is not None and self.waits.sessions.takes(named) and await self.visits.admit(named, domain):
            return named
        request.meta.pop(SESSION, None)
        try:
            await self.visits.open()
        except CrawlerError as error:
            end_crawl(self.crawler, self.visits, error)
            raise SessionStoppedError(str(error)) from error  # so the request stays in the scheduler
        return await self._beside_others(request, self.waits.visit_of(domain, request.url))

    async def _beside_others(
        self, request: Request, opening: Coroutine[Any, Any, Visit | None]
    ) -> Visit | None:
        """Wait for a domain; a request that no scheduler takes back occupies no place meanwhile."""
        if self._scheduler is None or request in self._scheduler.handed_out:
            return await opening
        active = self.crawler.engine.downloader.active
        active.discard(request)
        try:
            return await opening
        finally:
            active.add(request)

    def _comes_again(self, request: Request) -> bool:
        """Whether there is somebody who takes a request back."""
        if _is_for_robots(request):
            return False
        is_scheduled = self._scheduler is not None and request in self._scheduler.handed_out
        return is_scheduled or not is_closing(self.crawler)

    @property
    def _keeps_requests(self) -> bool:
        """Whether what is left in the scheduler is there for the next crawl."""
        scheduler = self._scheduler and self._scheduler.scheduler
        is_scrapys = type(scheduler).__module__.startswith("scrapy.")
        return not is_scrapys or bool(self.crawler.settings.get("JOBDIR"))


def _is_for_robots(request: Request) -> bool:
    return request.callback is NO_CALLBACK and bool(request.meta.get("dont_obey_robotstxt"))
