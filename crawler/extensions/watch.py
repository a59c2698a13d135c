"""Ends visits that have nothing under way and nothing to come; they would hold their domains for long.

At the end of a crawl, what waits in Scrapy's queues.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy import signals

from crawler.capture.failures import Cause
from crawler.crawl.closing import drops_its_queue, ends_its_visits, let_queue_run
from crawler.crawl.context import SESSION, Component
from crawler.crawl.scheduling import WaitingScheduler

if TYPE_CHECKING:
    from scrapy.core.scheduler import BaseScheduler

    from crawler.sessions.visit import Visit

LOOK_SECONDS = 1.0
# Looks are counted, not seconds: a process that was stopped, or a busy event loop, has looked at nothing.
LOST_AFTER = 5  # looks that find a visit waiting for what nobody is at
LEAVES_AFTER = (
    60  # looks that find a visit with all its pages stored, whose spider may come back to its domain
)


class Watch(Component):
    """Looks at what the engine has under way, and from there at the visits.

    Whatever keeps a request to itself (a middleware of somebody else's, a callback that gives nothing)
    tells nobody. A run's visits are not meant: the run itself finds out what it lost.
    """

    def set_up(self) -> None:
        """Hear of the crawl's beginning and end."""
        self._idle: Counter[str] = Counter()  # looks in a row that found nothing, by session
        self._is_ours = ends_its_visits(self.crawler)  # others' visits are only keeping their last pages
        self._looking: asyncio.Task[None] | None = None
        self.crawler.signals.connect(self.engine_started, signal=signals.engine_started)
        self.crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    def engine_started(self) -> None:
        """Begin to look."""
        self._looking = asyncio.ensure_future(self._keep_looking())

    async def spider_closed(self) -> None:
        """The crawl ends what is left."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if drops_its_queue(self.crawler):
                let_queue_run(self.crawler)
            self.look()

    def look(self) -> None:
        """Have the visits ended that were found idle often enough."""
        slot = self.crawler.engine._slot  # ruff: ignore[private-member-access] - there is no public word for it
        if slot is None or slot.closing is not None or _has_more(slot.scheduler):
            self._idle.clear()
            return
        # From the scheduler to the last of the items that a callback gave.
        busy = {request.meta.get(SESSION) for request in slot.inprogress}
        idle = [visit for visit in self.visits.running.values() if visit.id not in busy and _may_idle(visit)]
        self._idle = Counter({visit.id: self._idle[visit.id] + 1 for visit in idle})
        for visit in idle:
            if self._is_ours and visit.work.count and self._idle[visit.id] >= LOST_AFTER:
                self.visits.stop(visit.id, Cause.LOST, note="its request got lost in the crawl")
            elif self._idle[visit.id] >= LEAVES_AFTER:
                visit.wake()


def _has_more(scheduler: BaseScheduler) -> bool:
    """Whether requests may come; those that wait for a domain are none of the sessions that run."""
    if type(scheduler) is WaitingScheduler:  # isinstance() accepts any scheduler
        return scheduler.has_ready()
    return scheduler.has_pending_requests()


def _may_idle(visit: Visit) -> bool:
    """Whether a visit is one that nobody else looks after."""
    return visit.stopped is None and visit.order.run_id is None
