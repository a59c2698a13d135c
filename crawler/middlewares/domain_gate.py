"""No request leaves for a domain that its session does not hold."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import IgnoreRequest

from crawler.access.gate import GateUnavailableError
from crawler.errors import BadUrlError, LockedError
from crawler.middlewares.desk import SESSION, desk_of
from crawler.urls import domain_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.sessions.visit import Visit

# Requests that Scrapy makes by itself (robots.txt, and where it redirects to) belong to the session
# whose request caused them: they are made in its task, which inherits this.
_session: ContextVar[str | None] = ContextVar("session", default=None)


class DomainHeldError(IgnoreRequest):
    """The domain could not be had."""


class SessionStoppedError(IgnoreRequest):
    """The request's session has ended."""


class DomainGateMiddleware:
    """Passes requests of domains that their session holds; takes a further one when it is first asked for.

    A spider that knows nothing of sessions gets one for each domain that it fetches from.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's way to make a component."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Wait, within bounds, until the request may go; refuse it otherwise."""
        desk = desk_of(self.crawler)
        try:
            domain = domain_of(request.url)
        except BadUrlError as error:
            raise IgnoreRequest(str(error)) from error
        session_id = request.meta.get(SESSION) or _session.get()
        visit = (
            await self._own_visit(domain, request.url) if session_id is None else desk.visits.get(session_id)
        )
        if visit is None or visit.stopped:
            raise SessionStoppedError(f"session {session_id} has ended")
        if not await desk.admit(visit, domain):
            raise DomainHeldError(f"{domain} is held by another session")
        _session.set(visit.id)
        request.meta[SESSION] = visit.id
        # One queue and one delay a domain, however its host is spelt.
        request.meta.setdefault("download_slot", domain)

    async def _own_visit(self, domain: str, url: str) -> Visit:
        try:
            return await desk_of(self.crawler).visit_of(domain, url)
        except (LockedError, GateUnavailableError) as error:
            raise DomainHeldError(f"{domain}: {error}") from error
