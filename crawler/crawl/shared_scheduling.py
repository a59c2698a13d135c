"""scrapy-redis' scheduler, whose queue several workers share: what one cannot get or finish is another's.

A request leaves Redis when its callback is over, and an entry of a RedisSpider's start URLs when its requests
are in the queue. What a worker has taken goes back when the worker ends, or is silent for too long.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from crawler import logs
from crawler.access.process import new_token
from crawler.crawl.scheduling import WaitingScheduler, again
from crawler.leases.renewer import Renewer
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.crawl.waiting import DomainWaits
    from crawler.fleet.queue import FleetQueue
    from crawler.fleet.requests import SharedRequests, TakenRequest

SCHEDULERS, QUEUES = "scrapy_redis.scheduler", "scrapy_redis.queue"
# Its queues; one that pops in a way of its own is used as it is.
KINDS = {"PriorityQueue": "priority", "FifoQueue": "fifo", "LifoQueue": "lifo"}
MOST_PASSED_BY = 100  # requests of busy domains that are put back in one go; then the queue rests
REST_SECONDS = 1.0

log = logs.get_logger(__name__)


def waiting_scheduler(crawler: Crawler, waits: DomainWaits, *, silent_seconds: float) -> WaitingScheduler:
    """Return what stands in front of a crawl's scheduler."""
    scheduler = crawler.engine.scheduler
    assert scheduler is not None  # ruff: ignore[assert] - it is made before the spider is opened
    if not any(kind.__module__ == SCHEDULERS for kind in type(scheduler).__mro__):
        return WaitingScheduler(scheduler, waits)
    if not crawler.settings.getbool("SCHEDULER_PERSIST"):
        log.warning(
            "queue.not_kept", note="the first worker that ends empties it; set SCHEDULER_PERSIST=True"
        )
    if (kind := _kind_of(cast("Any", scheduler).queue)) is None:
        log.warning(
            "queue.not_secured", note="SCHEDULER_QUEUE_CLASS pops by itself: a killed worker loses requests"
        )
        return WaitingScheduler(scheduler, waits)
    return SharedScheduler(crawler, waits, kind, silent_seconds)


def _kind_of(queue: Any) -> str | None:
    """Return how a queue of scrapy-redis takes requests; None where its class has changed that."""
    base = next(kind for kind in type(queue).__mro__ if "pop" in vars(kind))
    return KINDS.get(base.__name__) if base.__module__ == QUEUES else None


class SharedScheduler(WaitingScheduler):
    """Takes requests from the queue, passes those of busy domains by, and removes what is done."""

    def __init__(self, crawler: Crawler, waits: DomainWaits, kind: str, silent_seconds: float) -> None:
        # ruff: ignore[import-outside-top-level] - the client of Redis takes 10 MiB
        from crawler.fleet.requests import SharedRequests

        self._away = SharedRequests.away
        scheduler: Any = crawler.engine.scheduler
        super().__init__(scheduler, waits)
        waits.is_shared = True
        self._crawler = crawler
        queue, worker = scheduler.queue, new_token(crawler.spidercls.name)
        silent_ms = round(silent_seconds * 1000)
        self._decode = queue._decode_request  # ruff: ignore[private-member-access] - scrapy-redis has no public one
        self._queue: SharedRequests = SharedRequests(
            queue.server, queue.key, kind, worker, silent_ms=silent_ms
        )
        self._entries = _start_entries(crawler.spider, worker, silent_ms)
        self._taken: dict[Request, TakenRequest] = {}
        self._unsent: deque[Request] = deque()  # requests that wait for Redis to come back
        self._is_away = False
        self._rests_until = 0.0
        self._beats: Renewer[None] = Renewer("shared-queue", self._beat, lasts=silent_seconds)
        self._beats.start()

    def has_pending_requests(self) -> bool:
        """Return whether there is something to come; while Redis is away, there is."""
        try:
            return bool(self._unsent) or super().has_pending_requests()
        except self._away:
            return True

    def enqueue_request(self, request: Request) -> bool:
        """Hand a request to the scheduler; keep it here while Redis is away."""
        try:
            return super().enqueue_request(request)
        except self._away as error:
            self._rest(error)
            self._unsent.append(again(request))  # it may count as seen by now
            return True

    def next_request(self) -> Request | None:
        """Return the next request whose domain may be asked for; None while Redis is away."""
        if time.monotonic() < self._rests_until:
            return None
        try:
            self._remove_done()
            self._send_unsent()
            return self._next_of_queue()
        except self._away as error:
            self._rest(error)
            return None

    def _next_of_queue(self) -> Request | None:
        for _ in range(MOST_PASSED_BY):
            if (taken := self._queue.take()) is None:
                return None
            if (request := self._request_in(taken)) is None:
                continue
            if not self.waits.is_put_off(request):
                self._taken[request] = taken
                self.handed_out.add(request)
                self._crawler.stats.inc_value("scheduler/dequeued/redis")
                return request
            self._queue.put_back(taken)
        self._rests_until = time.monotonic() + REST_SECONDS
        return None

    def _send_unsent(self) -> None:
        while self._unsent:
            super().enqueue_request(self._unsent[0])
            self._unsent.popleft()
        if self._is_away:
            self._is_away = False
            log.info("queue.goes_on")

    def _rest(self, error: Exception) -> None:
        self._rests_until = time.monotonic() + REST_SECONDS
        if not self._is_away:
            self._is_away = True
            log.warning("queue.paused", error=redacted(str(error)))

    def leave_queue(self) -> None:
        """Remove what is done, send what waited for Redis, and give back the rest."""
        self._beats.close()
        self._remove_done()
        self._send_unsent()
        self._queue.leave()
        if self._entries is not None:
            self._entries.leave()

    def _request_in(self, taken: TakenRequest) -> Request | None:
        try:
            return cast("Request", self._decode(taken.data))
        except Exception:
            log.exception("queue.request_refused", key=self._queue.key)
            self._queue.refuse(taken)
            return None

    def _remove_done(self) -> None:
        """Remove the requests that the engine has left behind: scraped, failed, or scheduled anew."""
        slot = self._crawler.engine._slot  # ruff: ignore[private-member-access] - Scrapy has no signal for it
        under_way = slot.inprogress if slot is not None else set()
        if done := [request for request in self._taken if request not in under_way]:
            self._queue.done([self._taken[request] for request in done])
            for request in done:
                del self._taken[request]

    def _beat(self, _kept: list[None]) -> list[None]:
        """Called in the renewer's thread."""
        dead = self._queue.beat()
        if self._entries is not None:
            dead |= self._entries.beat()
        for worker, left in dead.items():
            log.warning("queue.taken_over", worker=worker, entries=left)
        return []


def _start_entries(spider: Any, worker: str, silent_ms: int) -> FleetQueue | None:
    """Have a RedisSpider's start URLs leave Redis only when their requests are in the queue."""
    server = getattr(spider, "server", None)
    if server is None or not hasattr(spider, "fetch_data") or server.get_encoder().decode_responses:
        return None
    from crawler.fleet.queue import FleetQueue  # ruff: ignore[import-outside-top-level] - see above

    queue = FleetQueue(server, spider.redis_key, worker, silent_ms=silent_ms)

    def fetch(_key: str, most: int) -> Iterator[bytes]:
        for entry in queue.fill(most):
            try:
                yield entry.data
            except GeneratorExit:
                queue.refuse(entry, "its request could not be made")
                raise
            queue.done([entry])

    spider.fetch_data = fetch
    return queue
