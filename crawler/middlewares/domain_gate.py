"""No request leaves for a domain that its session does not hold."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from crawler import logs
from crawler.access.gate import GateUnavailableError
from crawler.capture.failures import Cause
from crawler.crawl.answers import (
    REFUSED,
    BadRequestUrlError,
    DomainHeldError,
    NoStoreError,
    SessionStoppedError,
    cause_of_error,
)
from crawler.crawl.closing import drops_its_queue, ends_its_visits, tell_refusal, unless_closing
from crawler.crawl.context import SESSION, Promised
from crawler.errors import BadUrlError, CrawlerError, LockedError
from crawler.urls import domain_of, redact, require_http_url

if TYPE_CHECKING:
    from scrapy import Request

    from crawler.sessions.visit import Visit

log = logs.get_logger(__name__)

LEAST_DELAY = 0.001  # without any, Scrapy neither counts what is under way at a site nor asks for its turn

# The request for robots.txt (and where that redirects to) belongs to the session whose request caused
# it. It is made in that request's task, right behind us, and inherits this. For any other request the
# context says nothing: Scrapy starts requests from wherever it happens to be.
_caused_by: ContextVar[str | None] = ContextVar("caused_by", default=None)


class DomainGateMiddleware(Promised):
    """Passes requests of domains that their session holds; takes a further one when it is first asked for.

    A spider that knows nothing of sessions gets one for each domain that it fetches from.
    """

    def set_up(self) -> None:
        """Hear of requests that go and come."""
        self._ending: asyncio.Task[None] | None = None
        self.crawler.signals.connect(self.request_went, signal=signals.request_reached_downloader)
        self.crawler.signals.connect(self.request_came_back, signal=signals.request_left_downloader)
        self._tells_visits = not ends_its_visits(self.crawler)  # of what becomes of requests
        self._goes_on_later = bool(self.crawler.settings.get("JOBDIR"))
        if self._tells_visits:
            self.crawler.signals.connect(self.answer_came, signal=signals.response_received)

    async def process_request(self, request: Request) -> None:
        """Wait, within bounds, until the request may go; refuse it otherwise."""
        try:
            domain = domain_of(require_http_url(request.url))
        except BadUrlError as error:
            # Scrapy drops such a request without a word.
            log.warning("request.refused", url=redact(request.url), error=str(error))
            self.crawler.stats.inc_value(REFUSED)
            raise BadRequestUrlError(str(error)) from error
        session_id = self._session_of(request)
        visit = (
            await unless_closing(self.crawler, self._own_visit(domain, request.url))
            if session_id is None
            else self.visits.running.get(session_id)
        )
        if visit is None or visit.stopped:
            raise SessionStoppedError(f"session {session_id} has ended")
        if not await self.visits.admit(visit, domain):
            raise DomainHeldError(f"{domain} is held by another session")
        _caused_by.set(visit.id)
        request.meta[SESSION] = visit.id
        # One queue and one delay a domain, however its host is spelt.
        request.meta["download_slot"] = domain

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Have the session of a spider that knows of none hear what failed; ours see to that themselves.

        What a crawl with a JOBDIR has not asked for when it is ended goes back to where it was kept.
        """
        if self._is_put_off(request, exception):
            meta = {key: value for key, value in request.meta.items() if key != SESSION}
            return request.replace(meta=meta, dont_filter=True)  # it was seen, and not asked for
        visit = self.visits.running.get(request.meta.get(SESSION, ""))
        if visit is None or request.callback is NO_CALLBACK or not self._tells_visits:
            return None
        cause = cause_of_error(exception)
        is_theirs = isinstance(exception, IgnoreRequest) and cause is Cause.CRASHED  # a middleware's own wish
        if not is_theirs and not isinstance(exception, SessionStoppedError):
            visit.came(cause, request.url)
        return None

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

    def _session_of(self, request: Request) -> str | None:
        """The session that a request belongs to; one out of a JOBDIR may name another process's."""
        if _is_for_robots(request):
            return request.meta.get(SESSION) or _caused_by.get()
        session_id: str | None = request.meta.get(SESSION)
        is_gone = self._goes_on_later and self._tells_visits and session_id not in self.visits.known
        return None if is_gone else session_id

    def _is_put_off(self, request: Request, exception: Exception) -> bool:
        return (
            self._goes_on_later
            and isinstance(exception, SessionStoppedError)
            and request.callback is not NO_CALLBACK
            and drops_its_queue(self.crawler)
        )

    async def _own_visit(self, domain: str, url: str) -> Visit:
        try:
            await self.visits.open()
        except CrawlerError as error:
            self._end_crawl(error)
            raise NoStoreError(str(error)) from error
        try:
            return await self.visits.visit_of(domain, url)
        except (LockedError, GateUnavailableError) as error:
            raise DomainHeldError(f"{domain}: {error}") from error

    def _end_crawl(self, error: CrawlerError) -> None:
        """A crawl of which nothing could be kept is told once, and ended."""
        if self._ending is None:
            tell_refusal(self.visits, error)
            self._ending = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=error.code))


def _is_for_robots(request: Request) -> bool:
    return request.callback is NO_CALLBACK and bool(request.meta.get("dont_obey_robotstxt"))
