"""What goes out next: a task's attempt is on record before its request leaves, so that no death goes unseen.

Of each domain a few tasks are begun ahead, all domains' in one write, which shares its commit with whatever
else is written then. What a worker died of, perhaps, is tried alone: nothing else of this process is out.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from crawler.runs.domain_slot import most_out
from crawler.runs.task_ends import Release
from crawler.sessions.writes import Write

if TYPE_CHECKING:
    from crawler.runs.tasks import LeasedTask
    from crawler.runs.worker import RunWorker

AGAIN_SECONDS = 0.5
NO_TASK = 0  # stands for the record of what is begun


@frozen
class Over:
    """Why nothing more is handed out, and why what is not begun goes back."""

    why: str
    release: Release
    error: str = ""


FINISHED = Over("finished", Release.LEFT)
STOPPED = Over("run_stopped", Release.STOPPED)  # somebody said `vitrine runs stop`
INTERRUPTED = Over("interrupted", Release.INTERRUPTED)  # this process was told to stop
FAILED = Over("run_failed", Release.INTERRUPTED)  # a store was away for too long


@define(eq=False)
class Outgoing:
    """Has tasks begun as soon as there is room for them, until it is closed."""

    worker: RunWorker
    refused: dict[int, float] = field(factory=dict)  # since when a store has not taken a task's page
    _changed: asyncio.Event = field(factory=asyncio.Event, init=False)
    _beginning: asyncio.Task[None] | None = field(default=None, init=False)

    def look(self) -> None:
        """Something is ready, or something has ended: there may be something to begin."""
        self._changed.set()
        if self._beginning is None:
            self._beginning = asyncio.ensure_future(self._begin_all())

    def is_refused_for_long(self, task_id: int) -> bool:
        """A store has refused what a task gave: whether that has gone on for longer than it is waited for."""
        visits, now = self.worker.visits, asyncio.get_running_loop().time()
        since = self.refused.setdefault(task_id, now)
        return visits.stores.writes.is_away or now - since >= visits.patience.seconds

    async def close(self) -> None:
        """Begin nothing more."""
        if self._beginning is not None:
            self._beginning.cancel()
            await asyncio.wait([self._beginning])

    def next(self) -> list[LeasedTask]:
        """What may be begun now; a suspect waits until nothing is out, and nothing comes beside it."""
        slots, most = self.worker.slots.values(), most_out(self.worker)
        out = [task for slot in slots for task in slot.line.out()]
        if any(task.lease.is_suspect for task in out):
            return []
        ahead = [task for slot in slots if not slot.is_leaving for task in slot.line.next_ready(most)]
        if suspects := [task for task in ahead if task.lease.is_suspect]:
            return [] if out else suspects[:1]
        return ahead

    async def _begin_all(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            if tasks := self.next():
                await self._begin(tasks)

    async def _begin(self, tasks: list[LeasedTask]) -> None:
        worker = self.worker
        write = Write(
            partial(worker.store.begin, tasks), was_written=lambda _db: False
        )  # once more does no harm
        try:
            ours = await worker.visits.stores.writes.post(write)
        except Exception as error:  # ruff: ignore[blind-except] - whatever it is, nothing goes out
            if self.is_refused_for_long(NO_TASK):
                worker.end(evolve(FAILED, error=f"{type(error).__name__}: {error}"))
            else:
                await asyncio.sleep(AGAIN_SECONDS)
                self._changed.set()
            return
        self.refused.pop(NO_TASK, None)
        for task in tasks:
            if slot := worker.slots.get(task.domain):
                slot.line.begin(task, is_ours=task.lease.id in ours)
        worker.wake()
