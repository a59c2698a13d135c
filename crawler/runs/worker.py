"""A process's part of a run: it takes free domains, leases their tasks, and sees to their ends.

Crawl code calls the worker in the event loop and asks it for the next task without any waiting; what blocks
runs in threads. `DomainSlot` does the work of one domain.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from attrs import asdict, define, evolve, field, frozen

from crawler import logs
from crawler.capture.failures import Cause
from crawler.leases.backoff import FailureBudget
from crawler.leases.renewer import Renewer
from crawler.runs.domain_slot import (
    FAILED,
    FINISHED,
    INTERRUPTED,
    STOPPED,
    TURN_SECONDS,
    DomainSlot,
    Outgoing,
    Over,
)
from crawler.runs.store import RunStore
from crawler.runs.task_ends import Release, TaskEnd, TaskOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawler.crawl.visits import Visits
    from crawler.leases.rows import Lease
    from crawler.runs.store import RunAtWork, RunCompleted, RunOrder, View
    from crawler.runs.tasks import LeasedTask
    from crawler.sessions.visit import Visit

P = ParamSpec("P")
T = TypeVar("T")
LOOK_SECONDS = 1.0  # how often to see whether there is a domain to take
BUSY_SECONDS = 2.0  # how long to leave a domain that somebody else holds
DELAYED_SECONDS = 10.0  # after which to ask again how long a domain's delay lasts: an operator may end it
GATE_PATIENCE_SECONDS = 60.0  # how long to wait for a gate that has never answered
COUNTING_PART = 20  # no more than a twentieth of the time goes into counting
LOOKED_BACK_SECONDS = 30.0  # for how fast a run goes
LOST = "lost"  # of an end: it was another's to write, or could not be written

log = logs.get_logger(__name__)


class RunWorker:
    """Opens with `open`, hands out with `take`, hears of each task's end, and closes with `close`."""

    store: RunStore
    run: RunAtWork
    renewer: Renewer[Lease]

    def __init__(
        self,
        visits: Visits,
        *,
        at_once: int,
        wake: Callable[[], None],
        run_completed: RunCompleted | None = None,
    ) -> None:
        self.visits = visits
        self.at_once = at_once  # how many requests the downloader may have of one domain
        self.wake = wake  # tells the engine that there is something to take, or that all is over
        self.run_completed = run_completed
        self.slots: dict[str, DomainSlot] = {}
        self.done: Counter[str] = Counter()  # ends of tasks in this process, by what became of them
        self.over: Over | None = None
        self.dispatcher: Dispatcher | None = None  # None until there is a run
        self.outgoing = Outgoing(self)

    # ── opening and closing ──

    async def open(self, order: RunOrder) -> RunAtWork:
        """Make the run, or go on with one, and begin to work on it."""
        stores = await self.visits.open()
        settings, owner = self.visits.settings, stores.sessions.owner
        stores.writes.grows_seconds = 0  # each domain's next page waits for the one before
        self.store = RunStore(stores.database, settings, owner, self.run_completed)
        self.run = run = await asyncio.to_thread(self.store.open, order)
        call_soon = asyncio.get_running_loop().call_soon_threadsafe
        self.renewer = Renewer(
            "task-leases", self.store.renew, lambda lease, _why: call_soon(self.lose, lease),
            lasts=settings.task_lease_seconds, runs_out=False,
        )  # fmt: skip
        self.renewer.start()
        self.dispatcher = Dispatcher(self)
        log.info("run.begun", run=run.id, source=run.source.code, resumed=run.resumed)
        return run

    async def close(self) -> str:
        """Let go of everything, and store how the run ended for this process; the run's status."""
        if self.dispatcher is None:
            return ""
        self.over = self.over or INTERRUPTED
        for slot in self.slots.values():
            slot.leave()
        await self.dispatcher.stop_looking()
        self.sweep()
        await self.dispatcher.settle()
        await self.outgoing.close()
        await asyncio.to_thread(self.renewer.close)
        end = partial(asyncio.to_thread, self.store.end, failed=self.over.error)
        status = await self.visits.patience.outlast(end)
        log.info("run.ended", run=self.run.id, status=status, **self.done)
        return status

    def end(self, over: Over) -> None:
        """Hand nothing out any more; what is under way comes to its end."""
        if self.over is None:
            self.over = over
            if over.error:
                log.error("run.given_up", run=self.run.id, error=over.error)
        for slot in self.slots.values():
            slot.leave()
        self.wake()

    # ── handing out, without any waiting ──

    def take(self) -> tuple[Visit, LeasedTask] | None:
        """The next task that may go out now; domains take turns."""
        for domain, slot in list(self.slots.items()):
            task = slot.take()
            if task is not None:
                self.slots[domain] = self.slots.pop(domain)  # to the end of the line
                return slot.visit, task
        return None

    def has_ready(self) -> bool:
        """Whether something may go out now.

        What waits for an answer of its site is not meant: if that never comes, only an idle engine finds out.
        """
        return any(slot.may_hand_out() for slot in self.slots.values())

    def arrived(self, task: LeasedTask) -> None:
        """The site has answered, or never will: the next request may go."""
        if slot := self.slots.get(task.domain):
            slot.answered(task.lease.id)

    # ── the ends of tasks ──

    async def end_task(self, task: LeasedTask, came: TaskEnd) -> None:
        """Write what came of an attempt that became no page."""
        outcome = await self.written([task], self.store.end_task, task, came)
        self.run.links.settle(task.lease.id, is_stored=False)
        self.ended(task, outcome or LOST)

    async def written(
        self, tasks: list[LeasedTask], write: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """Write ends; those that cannot be written go back with the run's own."""
        attempt = partial(asyncio.to_thread, write, *args, **kwargs)
        try:
            return await self.visits.patience.outlast(attempt)
        except Exception as error:  # ruff: ignore[blind-except] - see above
            log.warning("run.ends_not_written", urls=[task.url for task in tasks], error=str(error))
            self.store.unended.extend(tasks)
            return None

    def end_soon(self, task: LeasedTask, came: TaskEnd) -> None:
        """The same from where nobody can wait; its slot does."""
        if slot := self.slots.get(task.domain):
            slot.ending[task.lease.id] = asyncio.ensure_future(self.end_task(task, came))

    def stored(self, task: LeasedTask, outcome: TaskOutcome) -> None:
        """A page is stored, and with it the end of its task; where it led there may be something to lease."""
        self.outgoing.refused.pop(task.lease.id, None)
        self.ended(task, outcome)
        leads = self.run.links.settle(task.lease.id, is_stored=outcome is TaskOutcome.STORED)
        for domain in leads.domains:
            if slot := self.slots.get(domain):
                slot.is_dry = False
                slot.changed.set()
            elif self.dispatcher is not None:
                self.dispatcher.look_again.set()

    def store_refused(self, task: LeasedTask, error: str) -> None:
        """A store did not take what a task gave: it goes back without an attempt; too long fails the run."""
        if self.outgoing.is_refused_for_long(task.lease.id):
            self.end(evolve(FAILED, error=error or "a store refused pages"))
        self.end_soon(task, TaskEnd.given_back(Release.INTERRUPTED))

    def ended(self, task: LeasedTask, outcome: str) -> None:
        """A task's end is written, or it is not ours to end any more."""
        self.done[outcome] += 1
        self.renewer.forget([task.lease])
        slot = self.slots.get(task.domain)
        if slot is not None and slot.line.is_newest(task.lease):
            slot.ended(task.lease.id)

    def sweep(self) -> None:
        """End what nobody works on, although it was handed out; called while the engine has nothing to do."""
        for slot in self.slots.values():
            for task in slot.lost():
                log.error("task.lost_in_crawl", url=task.url, task=task.lease.id)
                self.end_soon(task, TaskEnd(Cause.LOST, "the request got lost in the crawl"))

    def lose(self, lease: Lease) -> None:
        """Forget what is not ours any more, unless it was leased here again since then."""
        for slot in self.slots.values():
            if slot.line.is_newest(lease):
                slot.drop(lease.id)


class Dispatcher:
    """Looks at the run every second: begins to work on domains that wait, and finds out when all is over."""

    def __init__(self, worker: RunWorker) -> None:
        self.look_again = asyncio.Event()
        self._worker = worker
        self._pace = Pace()
        self._count_at = 0.0
        self._gate_failures = FailureBudget(GATE_PATIENCE_SECONDS)
        self._busy_until: dict[str, float] = {}
        self._works: dict[str, asyncio.Task[None]] = {}  # by domain, one that is only asked for included
        self._looking = asyncio.ensure_future(self._look())

    async def stop_looking(self) -> None:
        """Begin nothing more, nor wait for a domain: a site may have asked for minutes of delay."""
        self._looking.cancel()
        for domain, work in self._works.items():
            if domain not in self._worker.slots:
                work.cancel()
        with suppress(asyncio.CancelledError):
            await self._looking

    async def settle(self) -> None:
        """Wait for all that was begun."""
        await asyncio.gather(*self._works.values(), return_exceptions=True)

    async def _look(self) -> None:
        while self._worker.over is None:
            try:
                self._act_on(await self._worker.visits.patience.outlast(self._view))
            except Exception as error:  # ruff: ignore[blind-except] - the run is given up for it
                self._worker.end(evolve(FAILED, error=_told(error)))
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self.look_again.wait()
            self.look_again.clear()

    async def _view(self) -> View:
        """How the run stands; told to those who listen, as often as counting may be afforded."""
        worker, clock = self._worker, asyncio.get_running_loop().time
        begun = clock()
        self._busy_until = {domain: until for domain, until in self._busy_until.items() if until > begun}
        # Who has had a turn makes room where others wait.
        free = max(0, worker.visits.settings.sessions_at_once - len(self._works)) or len(self._overdue())
        counted = bool(worker.visits.listeners) and begun >= self._count_at
        but = self._busy_until.keys() | self._works.keys()
        view = await asyncio.to_thread(worker.store.view, but, free, counted=counted)
        if counted:
            self._count_at = clock() + COUNTING_PART * (clock() - begun)
            standing = self._pace.note(view.left.counts, clock())
            slowest, held = view.left.slowest, len(worker.slots)
            worker.visits.tell("tasks", run=worker.run.id, slowest=slowest, held=held, **asdict(standing))
        return view

    def _act_on(self, view: View) -> None:
        worker, run = self._worker, self._worker.run
        if len(view.learnt) != len(run.scope.denials):
            run.scope = run.scope.with_denials(view.learnt)
        if view.stop_requested:
            worker.end(STOPPED)
        elif view.left.is_drained and not self._works:
            worker.end(FINISHED)
        elif not worker.slots and self._gate_failures.is_spent(asyncio.get_running_loop().time()):
            worker.end(evolve(FAILED, error=self._gate_failures.error))
        else:
            overdue = self._overdue()
            for domain in view.left.domains:
                if len(self._works) < worker.visits.settings.sessions_at_once:
                    work = self._works[domain] = asyncio.ensure_future(self._work(domain))
                    work.add_done_callback(partial(self._left, domain))
                elif overdue:
                    overdue.pop(0).leave()

    def _overdue(self) -> list[DomainSlot]:
        """Domains whose turn was long enough, the longest first."""
        turn_ended = time.monotonic() - TURN_SECONDS
        slots = [slot for slot in self._worker.slots.values() if not slot.is_leaving]
        return sorted((slot for slot in slots if slot.begun_at <= turn_ended), key=lambda slot: slot.begun_at)

    def pass_by(self, domain: str, seconds: float) -> None:
        """Begin no visit of a domain for so many seconds."""
        self._busy_until[domain] = asyncio.get_running_loop().time() + seconds

    async def _work(self, domain: str) -> None:
        """Work on a domain, if it can be had now: one that is delayed takes no place from the others."""
        slots, clock = self._worker.slots, asyncio.get_running_loop().time
        try:
            if delay := await self._worker.visits.long_delay(domain):
                self.pass_by(domain, min(delay, DELAYED_SECONDS))
                return
            slot = await DomainSlot.begin(self._worker, domain)
        except Exception as error:  # ruff: ignore[blind-except] - whatever it is, the others go on
            log.warning("run.domain_not_taken", domain=domain, error=str(error))
            slot = None
            if not slots:
                self._gate_failures.spend(_told(error), clock())
        else:
            self._gate_failures.refill()
            # From here on it is an outage, and no wrong address.
            lock_life = self._worker.visits.settings.domain_lock_ttl_seconds
            self._gate_failures.seconds = max(GATE_PATIENCE_SECONDS, lock_life)
        if slot is None:
            self.pass_by(domain, BUSY_SECONDS)
            return
        slots[domain] = slot
        try:
            await slot.work()
        finally:
            slots.pop(domain, None)

    def _left(self, domain: str, _work: asyncio.Task[None]) -> None:
        self._works.pop(domain, None)
        self.look_again.set()


@frozen
class Standing:
    """A run at one moment, as people are told."""

    finished: int
    error: int
    refused: int  # of the errors: they must not be fetched, and nothing failed
    waiting: int  # pending ones and those that are being fetched
    rate: float  # ends of tasks a second, lately
    seconds_left: float | None  # None while nobody can tell


@define
class Pace:
    """Counts of the last half minute, and what follows from them."""

    _seen: deque[tuple[float, int]] = field(factory=deque)

    def note(self, counts: Mapping[str, int], now: float) -> Standing:
        """Take in the run's counts as they are now."""
        ended = counts["finished"] + counts["error"]
        self._seen.append((now, ended))
        while now - self._seen[0][0] > LOOKED_BACK_SECONDS:
            self._seen.popleft()
        then, before = self._seen[0]
        rate = (ended - before) / (now - then) if now > then else 0.0
        waiting = counts["pending"] + counts["in_progress"]
        left = waiting / rate if rate > 0 else None
        return Standing(counts["finished"], counts["error"], counts["refused"], waiting, rate, left)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
