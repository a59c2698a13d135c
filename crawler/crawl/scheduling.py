"""A crawl's scheduler, whichever it is, without the requests whose domains are not open yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from scrapy.core.scheduler import BaseScheduler
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from crawler.crawl.context import SESSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider
    from scrapy.pqueues import DownloaderInterface
    from twisted.internet.defer import Deferred

    from crawler.crawl.waiting import DomainWaits

MOST_HELD = 100  # requests that wait beside the engine; the others wait where the scheduler has them
FAR = 1_000_000


class WaitingScheduler(BaseScheduler):
    """Hands out what may go to its site; the rest waits, and goes back when the crawl ends."""

    def __init__(self, scheduler: BaseScheduler, waits: DomainWaits) -> None:
        self.scheduler = scheduler
        self.waits = waits
        self.handed_out: WeakSet[Request] = WeakSet()
        queues = (getattr(scheduler, "mqs", None), getattr(scheduler, "dqs", None))
        self._queues = [queue for queue in queues if isinstance(queue, DownloaderAwarePriorityQueue)]
        for queue in self._queues:
            # Of all domains it would choose one that is held: it has nothing under way there.
            looks = queue._downloader_interface  # ruff: ignore[private-member-access] - it has no public name
            queue._downloader_interface = cast("Any", _HeldLast(looks, waits))  # ruff: ignore[private-member-access] - see above

    def __getattr__(self, name: str) -> Any:
        return getattr(self.scheduler, name)

    def __len__(self) -> int:
        return len(cast("Any", self.scheduler)) + self.waits.held + len(self.waits.released)

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open the scheduler."""
        return self.scheduler.open(spider)

    def close(self, reason: str) -> Deferred[None]:
        """Give back what waits, and close the scheduler."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        waiting = await self.waits.close()
        self.leave_queue()
        for request in waiting:
            self.scheduler.enqueue_request(again(request))
        if (closing := self.scheduler.close(reason)) is not None:
            await maybe_deferred_to_future(closing)

    def leave_queue(self) -> None:
        """Let other workers have what this one has taken; called when no session is left."""

    def enqueue_request(self, request: Request) -> bool:
        """Hand a request to the scheduler."""
        return self.scheduler.enqueue_request(request)

    def has_pending_requests(self) -> bool:
        """Return whether there is something to come; domains that are waited for too long do not count."""
        return self.has_ready() or len(self.waits.overdue) < len(self.waits.waits)

    def has_ready(self) -> bool:
        """Return whether there are requests beside those that wait for their domains."""
        return bool(self.waits.released) or self.scheduler.has_pending_requests()

    def next_request(self) -> Request | None:
        """Return the next request that may go to its site; hold those that may not."""
        while (request := self._next()) is not None:
            if (wait := self.waits.wait_of(request)) is None:
                self.handed_out.add(request)
                return request
            self.waits.hold(request, wait)
        return None

    def _next(self) -> Request | None:
        if self.waits.released:
            return self.waits.released.popleft()
        if self.waits.held < MOST_HELD or self._has_open():
            return self.scheduler.next_request()
        return None

    def _has_open(self) -> bool:
        """Return whether the queue that the scheduler asks first has requests of other domains."""
        queue = next((queue for queue in self._queues if queue), None)
        return queue is not None and not _held_slots(self.waits).issuperset(queue.pqueues)


def again(request: Request) -> Request:
    """Return a request as the scheduler takes it back: seen, not asked for, and of no session."""
    meta = {key: value for key, value in request.meta.items() if key != SESSION}
    return request.replace(meta=meta, dont_filter=True)


def _held_slots(waits: DomainWaits) -> set[str]:
    """Return Scrapy's names of the places where requests of the domains that are waited for are queued."""
    return {slot for wait in waits.waits.values() for slot in wait.slots}


class _HeldLast:
    """How many requests each domain has under way, by which Scrapy's queue chooses; held ones come last."""

    def __init__(self, looks: DownloaderInterface, waits: DomainWaits) -> None:
        self._looks = looks
        self._waits = waits

    def stats(self, possible_slots: Iterable[str]) -> list[tuple[int, str]]:
        """Return the slots with their numbers of requests."""
        held = _held_slots(self._waits)
        return [
            (active + (FAR if slot in held else 0), slot)
            for active, slot in self._looks.stats(possible_slots)
        ]

    def get_slot_key(self, request: Request) -> str:
        """Return the slot of a request."""
        return self._looks.get_slot_key(request)
