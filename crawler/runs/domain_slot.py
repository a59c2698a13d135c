"""The domains of a run in this process: their visits, what is leased of them, and what goes out next."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Self

from attrs import define, evolve, field, frozen

from crawler import logs
from crawler.runs.task_ends import Release
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.sessions.writes import Write
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.db.engine import Transaction
    from crawler.leases.rows import Lease
    from crawler.runs.store import RunStore
    from crawler.runs.tasks import LeasedTask
    from crawler.runs.worker import RunWorker
    from crawler.sessions.visit import Visit

LARGEST_WINDOW = 100
LOOK_SECONDS = 1.0  # how often to see whether there is something to lease again
LINGER_SECONDS = 5.0  # how long to hold a domain whose tasks wait for their next try
PART_OF_SESSION = 0.7  # of SESSION_MAX_SECONDS; then the domain is let go of, and asked for again
TURN_SECONDS = 120.0  # after which a domain is let go of where others wait
AGAIN_SECONDS = 0.5  # after which what could not be begun is tried again
NO_TASK = 0  # stands for the record of what is begun

log = logs.get_logger(__name__)


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
class Line:
    """The tasks that are leased of a domain, from the lease to the end."""

    ready: deque[LeasedTask] = field(factory=deque)  # leased, and not begun
    begun: deque[LeasedTask] = field(factory=deque)  # begun, and not handed out yet
    open: dict[int, LeasedTask] = field(factory=dict)  # all that have not ended

    def put(self, got: list[LeasedTask]) -> None:
        """Take in what was leased; an old lease of it, that ran out and nobody said so yet, goes."""
        self.drop(*(task.lease.id for task in got if task.lease.id in self.open))
        self.open.update((task.lease.id, task) for task in got)
        self.ready.extend(got)

    def is_newest(self, lease: Lease) -> bool:
        """Whether its task was not leased again since then, so that what is heard of it still counts."""
        task = self.open.get(lease.id)
        return task is None or task.lease == lease

    def next_ready(self, most: int) -> list[LeasedTask]:
        """What is to be begun next: as much as may be wanted before the next of it can be begun."""
        return list(islice(self.ready, max(0, most - len(self.begun))))

    def begin(self, task: LeasedTask, *, is_ours: bool) -> None:
        """A task's attempt is on record, or it is another's; one that was given back meanwhile is gone."""
        if task in self.ready:
            self.ready.remove(task)
            if is_ours:
                self.begun.append(task)
            else:
                del self.open[task.lease.id]

    def out(self) -> list[LeasedTask]:
        """What is begun and has not ended."""
        waits = {task.lease.id for task in self.ready}
        return [task for task_id, task in self.open.items() if task_id not in waits]

    def untouched(self) -> list[LeasedTask]:
        """What was not handed out."""
        return [*self.ready, *self.begun]

    def drop(self, *lost: int) -> None:
        """Forget what is no longer ours; what is on its way already is refused when it is stored."""
        for task in [task for task in self.untouched() if task.lease.id in lost]:
            (self.ready if task in self.ready else self.begun).remove(task)
            del self.open[task.lease.id]


@define(eq=False)
class DomainSlot:
    """The tasks that this process has of one domain, whose lock its visit holds.

    The window is how many it leases ahead. It begins small, since what is leased here nobody else can
    take, and grows when the site answers faster than leases come.
    """

    worker: RunWorker
    domain: str
    visit: Visit
    window: int = field()
    line: Line = field(factory=Line)
    begun_at: float = field(factory=time.monotonic)
    at_site: set[int] = field(factory=set)  # handed out, and not answered yet
    ending: dict[int, asyncio.Task[None]] = field(factory=dict)  # those whose end is being written
    is_leaving: bool = False
    is_resting: bool = False  # the pause between an answer and the next request is not over
    is_dry: bool = False  # the last lease brought nothing, and nothing has happened since
    changed: asyncio.Event = field(factory=asyncio.Event)

    @window.default
    def _first_window(self) -> int:
        """What keeps the downloader busy, and no more."""
        return 2 * (self.worker.at_once + 1)

    @classmethod
    async def begin(cls, worker: RunWorker, domain: str) -> Self | None:
        """Take a domain that is free; None where somebody else is there."""
        settings, source = worker.visits.settings, worker.run.source
        starts = [url for url in source.start_urls if domain_of(url) == domain] or [f"https://{domain}/"]
        policy = settings.crawl_policy_version
        order = SessionOrder(starts[0], domain, crawl_policy_version=policy, run_id=worker.run.id)
        visit = await worker.visits.begin_if_free(order)
        if visit is None:
            return None
        slot = cls(worker, domain, visit)
        visit.wake = slot.leave
        if visit.stopped:
            slot.leave()
        return slot

    async def work(self) -> None:
        """Fetch for as long as there is something to do there; the visit is over then."""
        try:
            await self._supply()
        except Exception:
            log.exception("run.slot_failed", domain=self.domain)
        self.leave()
        await self._give_back()
        while self.line.open:
            self.changed.clear()
            await news(self.changed, LOOK_SECONDS)
        try:
            await self.worker.visits.end(self.visit)
        except StaleSessionError:
            log.warning("session.taken_over", session_id=self.visit.id, domain=self.domain)
        except Exception:
            log.exception("session.failed", session_id=self.visit.id, domain=self.domain)

    async def _supply(self) -> None:
        """Lease ahead of what goes out, until there is nothing left or it is time to let others in."""
        now = asyncio.get_running_loop().time
        leave_at = now() + self.worker.visits.settings.session_max_seconds * PART_OF_SESSION
        while not self.is_leaving and now() <= leave_at:
            self.changed.clear()
            if wanted := self.wanted():
                lease = partial(asyncio.to_thread, self.worker.store.lease, self.domain, wanted)
                got, due_in = await self.worker.visits.patience.outlast(lease)
                self.put(got, wanted)
                is_due = due_in is not None and due_in.total_seconds() < LINGER_SECONDS
                if not self.line.open and not is_due:
                    return
            if not await news(self.changed, LOOK_SECONDS):
                self.is_dry = False

    # ── in ──

    def wanted(self) -> int:
        """How many tasks to lease now; nothing until half of the window is free."""
        room = self.window - len(self.line.open)
        return 0 if self.is_dry or room * 2 < self.window else room

    def put(self, got: list[LeasedTask], asked: int) -> None:
        """Take in what was leased; a slot that ran empty although there was more looks further ahead."""
        self.is_dry = not got
        if len(got) == asked and not self.line.ready:
            self.window = min(2 * self.window, LARGEST_WINDOW)
        self.line.put(got)
        if got:
            self.worker.renewer.keep([task.lease for task in got])
            self.worker.outgoing.look()

    # ── out ──

    def may_hand_out(self) -> bool:
        """Whether there is a task that may go out now."""
        held = self.is_leaving or self.is_resting
        return bool(self.line.begun) and not held and len(self.at_site) < most_out(self.worker)

    def take(self) -> LeasedTask | None:
        """The next task that may go out now."""
        if not self.may_hand_out():
            return None
        task = self.line.begun.popleft()
        self.at_site.add(task.lease.id)
        self.worker.outgoing.look()
        if self.wanted():
            self.changed.set()
        return task

    def answered(self, task_id: int) -> None:
        """The site has answered, or never will: the next request may go, after the pause that is due."""
        self.at_site.discard(task_id)
        if longest := self.worker.run.jitter_seconds:
            self.is_resting = True
            pause = random.uniform(0, longest)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - jitter
            asyncio.get_running_loop().call_later(pause, self._rested)
        elif self.line.begun:
            self.worker.wake()

    def _rested(self) -> None:
        self.is_resting = False
        self.worker.wake()

    # ── to its end ──

    def lost(self) -> list[LeasedTask]:
        """What was handed out, and nobody is at it."""
        waits = {task.lease.id for task in self.line.untouched()} | self.ending.keys()
        return [task for task_id, task in self.line.open.items() if task_id not in waits]

    def drop(self, *lost: int) -> None:
        """Forget what is no longer ours; what is on its way already is refused when it is stored."""
        self.line.drop(*lost)
        self.changed.set()
        self.worker.outgoing.look()

    def ended(self, task_id: int) -> None:
        """A task's end is stored, or will be somebody else's; a slot without any may find some again."""
        self.line.open.pop(task_id, None)
        self.at_site.discard(task_id)
        self.ending.pop(task_id, None)
        self.is_dry = self.is_dry and bool(self.line.open)
        self.changed.set()
        self.worker.outgoing.look()

    def leave(self) -> None:
        """Hand nothing out any more."""
        self.is_leaving = True
        self.changed.set()

    async def _give_back(self) -> None:
        """Let others have what was leased and not begun."""
        untouched = self.line.untouched()
        if not untouched:
            return
        self.drop(*(task.lease.id for task in untouched))
        worker, reason = self.worker, self.worker.over.release if self.worker.over else Release.LEFT
        worker.renewer.forget([task.lease for task in untouched])
        await worker.written(untouched, worker.store.give_back, untouched, reason)


@define(eq=False)
class Outgoing:
    """Has tasks begun as soon as there is room for them, until it is closed.

    A task's attempt is on record before its request leaves, so that no death goes unseen. Of each domain a
    few are begun ahead, all domains' in one write, which shares its commit with whatever else is written
    then. What a worker died of, perhaps, is tried alone: nothing else of this process is out.
    """

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
        try:
            ours = await worker.visits.stores.writes.post(_BeginWrite(worker.store, tasks))
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


class _BeginWrite(Write[set[int]]):
    """Counts an attempt of tasks that are about to go out; to write that twice does no harm."""

    retries_lost_commits = True

    def __init__(self, store: RunStore, tasks: Sequence[LeasedTask]) -> None:
        super().__init__()
        self.store = store
        self.tasks = tasks

    def write_rows(self, db: Transaction) -> set[int]:
        """Write the attempts; the ids of those tasks that are still ours."""
        return self.store.begin(self.tasks, db)


def most_out(worker: RunWorker) -> int:
    """How many tasks of a domain may be at its site, and how many lie begun for it.

    One more than it takes at once lies ready in the downloader, except where pauses come between.
    """
    return worker.at_once + (not worker.run.jitter_seconds)


async def news(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, but not for long; whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    event.clear()
    return True
