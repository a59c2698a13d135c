"""Domains of spiders that know nothing of sessions: waited for, released in time, and taken again.

A request whose domain is held by somebody else waits beside the engine. Inside it, it would occupy
CONCURRENT_REQUESTS, and requests of other domains would starve.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakSet

from attrs import define, field

from crawler import logs
from crawler.access.gate import GateUnavailableError
from crawler.access.process import holder_of, is_own
from crawler.crawl.closing import is_closing, recall_queue, requests_of
from crawler.crawl.visits import end_own
from crawler.errors import BadUrlError
from crawler.runs.domain_slot import PART_OF_SESSION
from crawler.sessions.rows import SessionOrder
from crawler.sessions.visit import ProductPage
from crawler.urls import domain_of, require_http_url

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.crawl.context import CrawlContext
    from crawler.sessions.visit import Visit

HOLD_SECONDS = 1.0  # how long a request waits inside the engine for a domain that is about to open
ASK_SECONDS = 0.4  # between two tries to get a domain, and up to twice that
# How long a domain is left to others after a session's time was over, or was found to be another worker's.
LET_IN_SECONDS = 1.5
TELL_SECONDS = 60.0
LOOK_SECONDS = 0.1
OTHERS_SECONDS = 5.0  # how long a domain is passed by that another worker of the same queue has

log = logs.get_logger(__name__)


@define(eq=False)
class DomainWait:
    """A domain that is being opened, and the requests that wait for it; times are the event loop's."""

    domain: str
    since: float
    opening: asyncio.Task[Visit | None] = field(init=False)
    requests: list[Request] = field(factory=list)  # those that wait beside it
    slots: set[str] = field(factory=set)  # Scrapy's names of their places in its queues
    holder: str | None = None  # the value of the lock that stands in the way
    holder_since: float = 0.0
    why: str = ""  # what stands in the way, for people
    told_at: float | None = None
    is_refused: bool = False  # somebody else had the domain when it was last asked for


class OwnSessions:
    """The sessions of a spider that knows of none: one a domain at a time.

    Each is over before its lock's time is, so that others get their turn.
    """

    def __init__(self, crawler: Crawler, context: CrawlContext) -> None:
        self._crawler = crawler
        self._visits = context.visits
        self._settings = context.settings
        self._of: dict[str, Visit] = {}  # by domain
        self._leaving: set[str] = set()  # sessions that take no further requests
        self._not_before: dict[str, float] = {}  # domains, and when they may be asked for again
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def takes(self, visit: Visit | None) -> bool:
        """Whether a session takes further requests."""
        return visit is not None and visit.stopped is None and visit.id not in self._leaving

    def of(self, domain: str) -> Visit | None:
        """Return the session that holds a domain, and takes further requests."""
        own = self._of.get(domain)
        if own is not None and own.id in self._visits.running and self.takes(own):
            return own
        for visit in self._visits.running.values():
            if self._visits.domains.has(visit, domain) and self.takes(visit):
                return visit
        return None

    def is_others_turn(self, domain: str) -> bool:
        """Whether a domain is left to others for the moment."""
        if self._not_before.get(domain, -math.inf) > _now():
            return True
        self._not_before.pop(domain, None)
        return False

    def leave_to_others(self, domain: str, seconds: float = LET_IN_SECONDS) -> None:
        """Do not ask for a domain for a moment."""
        self._not_before[domain] = _now() + seconds

    async def begin(self, domain: str, url: str) -> Visit | None:
        """Start a session in a domain that is free; None, and nothing written, if it is held."""
        order = SessionOrder(url, domain, crawl_policy_version=self._settings.crawl_policy_version)
        async with self._visits.slots:
            visit = await self._visits.begin_if_free(order)
        if visit is None:
            return None
        visit.pdp = ProductPage(missing=None)
        visit.expect()
        self._of[domain] = visit
        visit.wake = lambda: self._start(self._end(visit))
        if visit.stopped:
            visit.wake()
            return visit
        seconds = self._settings.session_max_seconds * PART_OF_SESSION
        loop = asyncio.get_running_loop()
        self._timers[visit.id] = loop.call_later(seconds, lambda: self._start(self._leave(visit)))
        return visit

    async def close(self) -> None:
        """Wait for the sessions that are ending; the visits end the others."""
        for timer in self._timers.values():
            timer.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _leave(self, visit: Visit) -> None:
        """Finish what is at the site; what waits for its turn comes back at once."""
        self._leaving.add(visit.id)
        recall_queue(self._crawler, visit.id)
        is_busy = True
        while visit.stopped is None and is_busy:
            is_busy = bool(requests_of(self._crawler, visit.id))
            await asyncio.sleep(LOOK_SECONDS)  # the last time for its callback, before which its page is kept
        if visit.id in self._visits.running and visit.stopped is None:
            await self._end(visit)

    async def _end(self, visit: Visit) -> None:
        domain = visit.order.domain
        if self._of.pop(domain, None) is not visit:
            return  # it is ending already
        self._leaving.add(visit.id)
        self._not_before[domain] = math.inf
        if timer := self._timers.pop(visit.id, None):
            timer.cancel()
        recall_queue(self._crawler, visit.id)
        try:
            await visit.work.all_back()  # pages that are being kept
            await end_own(self._visits, visit)
        finally:
            self._leaving.discard(visit.id)
            self.leave_to_others(domain)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class DomainWaits:
    """Waits for domains, with the requests whose domains are not open yet."""

    def __init__(self, crawler: Crawler, context: CrawlContext) -> None:
        self._crawler = crawler
        self._context = context
        self.sessions = OwnSessions(crawler, context)
        self.waits: dict[str, DomainWait] = {}  # by domain
        self.released: deque[Request] = deque()  # requests whose waits are over
        # Whether other workers share the queue: what cannot be had here goes back to them at once.
        self.is_shared = False
        self._put_off: dict[
            str, DomainWait
        ] = {}  # domains that other workers had when they were last asked for
        self._refused: WeakSet[Request] = WeakSet()

    async def visit_of(self, domain: str, url: str) -> Visit | None:
        """Return the session that holds `domain`, beginning one if there is none; None if it takes longer."""
        if (visit := self.sessions.of(domain)) is not None:
            return visit
        wait = self.waits.get(domain) or self._begin_wait(domain, url)
        await asyncio.wait([wait.opening], timeout=HOLD_SECONDS)
        is_over = wait.opening.done() and not wait.opening.cancelled()
        return wait.opening.result() if is_over else None

    def wait_of(self, request: Request) -> DomainWait | None:
        """Return what a request has to wait for; None if it may go on to the gate."""
        domain = _domain_of(request) if self.waits else None
        return self.waits.get(domain) if domain else None

    def is_put_off(self, request: Request) -> bool:
        """Whether a request's domain is being opened, or was another worker's a moment ago."""
        domain = _domain_of(request)
        return domain is not None and (domain in self.waits or self.sessions.is_others_turn(domain))

    def hold(self, request: Request, wait: DomainWait) -> None:
        """Keep a request until the wait is over."""
        wait.requests.append(request)
        wait.slots.add(self._crawler.engine.downloader.get_slot_key(request))

    @property
    def held(self) -> int:
        """How many requests wait beside the engine."""
        return sum(len(wait.requests) for wait in self.waits.values())

    async def close(self) -> list[Request]:
        """Open nothing more; return the requests that still waited."""
        waits = list(self.waits.values())
        waiting = [*self.released, *(request for wait in waits for request in wait.requests)]
        for wait in waits:
            wait.opening.cancel()
        await asyncio.gather(*(wait.opening for wait in waits), return_exceptions=True)
        await self.sessions.close()
        return waiting

    def is_overdue(self, wait: DomainWait) -> bool:
        """Whether a domain has been waited for longer than any session should hold it."""
        settings = self._context.settings
        if not wait.is_refused or self.is_shared:
            return False
        if limit := settings.domain_queue_wait_seconds:
            return _now() - wait.since > limit
        # A session ends in time, or dies; then its lock expires. The next holder gets as long.
        return _now() - wait.holder_since > settings.session_max_seconds + settings.domain_lock_ttl_seconds

    @property
    def overdue(self) -> list[DomainWait]:
        """The domains that have been waited for too long."""
        return [wait for wait in self.waits.values() if self.is_overdue(wait)]

    def is_refused(self, request: Request, domain: str) -> bool:
        """Whether a request has waited for too long."""
        wait = self.waits.get(domain)
        return request in self._refused or (wait is not None and self.is_overdue(wait))

    def give_up(self) -> None:
        """Have the requests of all overdue domains refused."""
        for wait in self.overdue:
            self._refused.update(wait.requests)
            wait.opening.cancel()

    def _begin_wait(self, domain: str, url: str) -> DomainWait:
        wait = self._put_off.pop(domain, None) or DomainWait(domain, _now(), holder_since=_now())
        self.waits[domain] = wait
        wait.opening = asyncio.ensure_future(self._open(wait, url))
        wait.opening.add_done_callback(partial(self._end_wait, wait))
        return wait

    def _end_wait(self, wait: DomainWait, opening: asyncio.Task[Visit | None]) -> None:
        del self.waits[wait.domain]
        if not opening.cancelled():
            opening.exception()  # whoever waits inside the engine reports it
        self.released += wait.requests
        self._context.wake()

    async def _open(self, wait: DomainWait, url: str) -> Visit | None:
        while not is_closing(self._crawler):
            if self.sessions.is_others_turn(wait.domain):
                await asyncio.sleep(LOOK_SECONDS)
                continue
            if (visit := await self._try(wait, url)) is not None:
                return visit
            if self.is_shared:
                self._put_off[wait.domain] = wait
                self.sessions.leave_to_others(wait.domain, OTHERS_SECONDS)
                return None
            await asyncio.sleep(ASK_SECONDS * (1 + random.random()))  # ruff: ignore[suspicious-non-cryptographic-random-usage] - jitter
        return None

    async def _try(self, wait: DomainWait, url: str) -> Visit | None:
        wait.is_refused = False
        holder, visits = None, self._context.visits
        try:
            if (visit := await self.sessions.begin(wait.domain, url)) is not None:
                return visit
            holder = (await visits.threads.run(visits.stores.gate.state, wait.domain)).value
            wait.why = _named(holder or "")
        except GateUnavailableError as error:
            wait.why = str(error)
        wait.is_refused = True
        if holder != wait.holder:
            wait.holder, wait.holder_since = holder, _now()
        if wait.why and (wait.told_at is None or _now() - wait.told_at >= TELL_SECONDS):
            wait.told_at = _now()
            waited = round(_now() - wait.since)
            log.warning("domain.waiting", domain=wait.domain, held_by=wait.why, waited_seconds=waited)
        if self.is_overdue(wait):
            self._context.wake()
        return None


def _domain_of(request: Request) -> str | None:
    """Return a request's domain; None where the gate refuses its URL anyway."""
    try:
        return domain_of(require_http_url(request.url))
    except BadUrlError:
        return None


def _named(lock: str) -> str:
    """Describe the holder of a lock for people; empty where it is this process, between two sessions."""
    if not lock or is_own(lock):
        return ""
    holder = holder_of(lock)
    if holder is None:
        return "another system"
    return f"session {holder.session_id} of process {holder.pid} on {holder.host}"


def _now() -> float:
    return asyncio.get_running_loop().time()
