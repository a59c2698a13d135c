"""A process's part of a run: it takes free domains, leases their tasks, and sees to their ends.

Crawl code calls it in the event loop and asks it for the next task without any waiting; what blocks
runs in the worker's own threads.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from attrs import asdict

from crawler import logs
from crawler.capture.failures import Cause
from crawler.runs.domain_slot import DomainSlot, news
from crawler.runs.patience import Patience, Threads, patience_seconds
from crawler.runs.progress import Pace
from crawler.runs.renewal import Renewal
from crawler.runs.store import RunStore, scope_of
from crawler.runs.task_ends import Outcome, Release, TaskEnd
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import Any

    from crawler.access.scope import Denial, Scope
    from crawler.crawl.visits import Visits
    from crawler.runs.store import Closer, RunAtWork, RunOrder, View
    from crawler.runs.tasks import LeasedTask
    from crawler.sessions.visit import Visit

T = TypeVar("T")
LOOK_SECONDS = 1.0  # how often to see whether there is a domain to take
BUSY_SECONDS = 2.0  # how long to leave a domain that somebody else holds
LINGER_SECONDS = 10.0  # how long to hold a domain whose tasks wait for their next try
PART_OF_SESSION = 0.7  # of SESSION_MAX_SECONDS; then the domain is let go of, and asked for again
GATE_PATIENCE_SECONDS = 60.0  # how long to go without any domain because none can be asked for
MOST_UNSTORED = 5  # pages in a row; then it is the store's fault, and no more are asked for in vain
COUNTING_PART = 20  # no more than a twentieth of the time goes into counting
# Why nothing more is handed out.
FINISHED = "finished"
STOPPED = "run_stopped"  # somebody said `vitrine runs stop`
FAILED = "run_failed"  # a store was away for too long
INTERRUPTED = "interrupted"  # this process was told to stop
LOST = "lost"  # of an end: it was another's to write

log = logs.get_logger(__name__)


class RunWorker:
    """Opens with `open`, hands out with `take`, hears of each task's end, and closes with `close`."""

    def __init__(
        self, visits: Visits, *, at_once: int, wake: Callable[[], None], closers: Sequence[Closer] = ()
    ) -> None:
        self.visits = visits
        self.at_once = at_once
        self.wake = wake  # tells the engine that there is something to take, or that all is over
        self.closers = closers
        self.slots: dict[str, DomainSlot] = {}
        self.done: Counter[str] = Counter()  # ends of tasks in this process, by what became of them
        self.over: str | None = None
        self._error = ""
        self._pace = Pace()
        self._tell_at = 0.0
        self._at_gate = Patience(GATE_PATIENCE_SECONDS)
        self._unstored = Patience(most=MOST_UNSTORED)
        self._entering: dict[str, asyncio.Task[None]] = {}  # domains being taken or worked on
        self._knocking: set[str] = set()  # those of them that are not ours yet
        self._busy_until: dict[str, float] = {}
        self._errands: set[asyncio.Task[None]] = set()
        self._ending: set[int] = set()  # tasks whose end is on its way into the book
        self._threads = Threads()
        self._look_again = asyncio.Event()
        self._tending: asyncio.Task[None] | None = None

    # ── opening and closing ──

    async def open(self, order: RunOrder) -> RunAtWork:
        """Make the run, or go on with one, and begin to work on it."""
        stores = await self.visits.open()
        self.book = RunStore(stores.database, self.visits.settings, stores.sessions.owner, self.closers)
        self.run = await self._threads.run(self.book.open, order)
        self.scope: Scope = scope_of(self.run.source, self.run.denials)
        self._loop = asyncio.get_running_loop()
        self._renewal = Renewal(
            self.book.renew, self._lost_from_afar, self.visits.settings.task_lease_seconds
        )
        self._renewal.start()
        self._tending = asyncio.ensure_future(self._tend())
        log.info("run.begun", run=self.run.id, source=self.run.source.code, resumed=self.run.resumed)
        return self.run

    async def close(self) -> str:
        """Let go of everything, and store how the run ended for this process; the run's status."""
        if self._tending is None:
            self._threads.close()
            return ""
        self.over = self.over or INTERRUPTED
        self._tending.cancel()
        for slot in self.slots.values():
            slot.leave()
        for domain in self._knocking:  # a site may have asked for minutes of delay
            self._entering[domain].cancel()
        with suppress(asyncio.CancelledError):
            await self._tending
        self.sweep()
        await asyncio.gather(*self._entering.values(), *self._errands, return_exceptions=True)
        await asyncio.to_thread(self._renewal.close)
        try:
            status = await self._threads.patiently(
                lambda: self.book.end(failed=self._error if self.over == FAILED else "")
            )
        finally:
            self._threads.close()
        log.info("run.ended", run=self.run.id, status=status, **self.done)
        return status

    # ── handing out, without any waiting ──

    def take(self) -> tuple[Visit, LeasedTask] | None:
        """The next task that may go out now; domains take turns."""
        for domain, slot in list(self.slots.items()):
            task = slot.take()
            if task is not None:
                self.slots[domain] = self.slots.pop(domain)  # to the end of the line
                if slot.wanted():
                    slot.changed.set()
                return slot.visit, task
        return None

    def has_ready(self) -> bool:
        """Whether something may go out now.

        What waits for an answer of its site is not meant: if that never comes, only an idle engine finds out.
        """
        return any(slot.may_hand_out for slot in self.slots.values())

    def arrived(self, task: LeasedTask) -> None:
        """The site has answered, or never will: the next request may go."""
        if slot := self.slots.get(task.domain):
            slot.answered(task.lease.id, self.wake)

    @property
    def is_open(self) -> bool:
        """Whether there is a run that it works on."""
        return self._tending is not None

    @property
    def max_attempts(self) -> int:
        """How often a task is tried."""
        return self.book.leases.rules.max_attempts

    # ── the ends of tasks ──

    def ended(self, task: LeasedTask, outcome: str, *, new_links: bool = False) -> None:
        """A task's end is in the book, or it is not ours to end any more."""
        self.done[outcome] += 1
        self._ending.discard(task.lease.id)
        self._renewal.forget([task.lease.id])
        if slot := self.slots.get(task.domain):
            slot.ended(task.lease.id)
        if new_links:
            self._look_again.set()
            for other in self.slots.values():
                other.moistened()

    def stored(self, task: LeasedTask, outcome: str, *, new_links: bool) -> None:
        """A page is in the book, and with it the end of its task."""
        self._unstored.forget()
        self.ended(task, outcome, new_links=new_links)

    def store_refused(self, task: LeasedTask, error: str) -> None:
        """A store did not take what a task gave: it goes back without an attempt; too many fail the run."""
        if self._unstored.note(error, self._loop.time()) and self.over is None:
            self._fail_run(error)
        self.soon(task, self.give_back(task, Release.INTERRUPTED))

    async def end(self, task: LeasedTask, came: TaskEnd) -> None:
        """Write what came of an attempt that became no page."""
        outcome = await self._written(task, lambda: self.book.end_task(task, came))
        self.ended(task, outcome or LOST)

    async def give_back(self, task: LeasedTask, reason: Release) -> None:
        """Leave a task to the next who takes the domain; no attempt is counted."""
        await self._written(task, lambda: self.book.give_back([task], reason))
        self.ended(task, Outcome.GIVEN_BACK)

    def sweep(self) -> None:
        """End what nobody works on, although it was handed out; called while the engine has nothing to do."""
        for slot in self.slots.values():
            waits = {task.lease.id for task in slot.ready} | self._ending
            for task in [task for task_id, task in slot.open.items() if task_id not in waits]:
                log.error("task.lost_in_crawl", url=task.url, task=task.lease.id)
                self.soon(task, self.end(task, TaskEnd(Cause.LOST, "the request got lost in the crawl")))

    async def has_own_task(self, task: LeasedTask, url: str) -> bool:
        """Whether the run fetches a URL that a task was led to by another task."""
        return await self._threads.run(self.book.has_own_task, task, url)

    def leave(self, domain: str) -> None:
        """Let go of a domain; what its site asked for is waited out by whoever comes next."""
        if slot := self.slots.get(domain):
            slot.leave()

    async def learn(self, denials: Sequence[Denial]) -> None:
        """Ask no more for what the run has found to be closed."""
        self.scope = self.scope.with_denials(denials)
        await self._threads.run(self.book.deny, denials)

    # ── taking domains ──

    async def _tend(self) -> None:
        waits = patience_seconds()
        while self.over is None:
            try:
                self._act_on(await self._threads.run(self.book.view, self._not_now(), self._free_slots()))
                waits = patience_seconds()
                if self.visits.listeners:
                    await self._tell_standing()
            except Exception as error:  # ruff: ignore[blind-except] - whatever it is, it may pass
                wait = next(waits, None)
                if wait is None:
                    self._fail_run(f"{type(error).__name__}: {error}")
                    return
                log.warning("run.look_failed", run=self.run.id, error=str(error), again_in_seconds=wait)
                await asyncio.sleep(wait)
            await news(self._look_again, LOOK_SECONDS)

    def _act_on(self, view: View) -> None:
        if len(view.learnt) != len(self.scope.denials):
            self.scope = self.scope.with_denials(view.learnt)
        if view.stop_requested:
            self._end(STOPPED)
        elif view.drained and not self.slots and not self._entering:
            self._end(FINISHED)
        elif not self.slots and self._at_gate.is_over(self._loop.time()):
            self._fail_run(self._at_gate.error)
        else:
            for domain in view.waiting:
                work = self._entering[domain] = asyncio.ensure_future(self._work(domain))
                work.add_done_callback(partial(self._left, domain))

    async def _tell_standing(self) -> None:
        """Let those who listen know how the run stands; the slowest domain has most still to do."""
        begun = self._loop.time()
        if begun < self._tell_at:
            return
        counts, slowest = await self._threads.run(self.book.standing)
        # Counting a million tasks takes its time, and nobody needs it that often.
        self._tell_at = self._loop.time() + COUNTING_PART * (self._loop.time() - begun)
        standing = self._pace.note(counts, self._loop.time())
        self.visits.tell("tasks", run=self.run.id, slowest=slowest, **asdict(standing))

    def _fail_run(self, error: str) -> None:
        log.error("run.given_up", run=self.run.id, error=error)
        self._error = error
        self._end(FAILED)

    def _end(self, why: str) -> None:
        self.over = why
        for slot in self.slots.values():
            slot.leave()
        self.wake()

    def _left(self, domain: str, _work: asyncio.Task[None]) -> None:
        self._entering.pop(domain, None)
        self._look_again.set()

    def _not_now(self) -> set[str]:
        """Domains that are not to be asked for: ours, and those that were busy a moment ago."""
        now = self._loop.time()
        self._busy_until = {domain: until for domain, until in self._busy_until.items() if until > now}
        return self._busy_until.keys() | self._entering.keys()

    def _free_slots(self) -> int:
        return max(0, self.visits.settings.sessions_at_once - len(self._entering))

    async def _work(self, domain: str) -> None:
        """Visit a domain for as long as there is something to do there."""
        visit = await self._taken(domain)
        if visit is None:
            self._busy_until[domain] = self._loop.time() + BUSY_SECONDS
            return
        longest = self.visits.settings.session_max_seconds * PART_OF_SESSION
        slot = self.slots[domain] = DomainSlot(
            visit, self.at_once, self._loop.time() + longest,
            jitter_seconds=self.run.source.jitter_seconds or 0.0,
        )  # fmt: skip
        visit.wake = slot.leave
        if visit.stopped:
            slot.leave()
        try:
            await self._supply(slot)
        except Exception:
            log.exception("run.lane_failed", domain=domain)
        finally:
            await self._leave(slot)

    async def _taken(self, domain: str) -> Visit | None:
        """A visit to a domain that is free; None where somebody else is there, or nobody can tell."""
        self._knocking.add(domain)
        try:
            visit = await self.visits.begin_if_free(self._order(domain))
        except Exception as error:  # ruff: ignore[blind-except] - whatever it is, the others go on
            log.warning("run.domain_not_taken", domain=domain, error=str(error))
            if not self.slots:
                self._at_gate.note(f"{type(error).__name__}: {error}", self._loop.time())
            return None
        finally:
            self._knocking.discard(domain)
        self._at_gate.forget()
        return visit

    def _order(self, domain: str) -> SessionOrder:
        starts = (url for url in self.run.source.start_urls if domain_of(url) == domain)
        start = next(starts, f"https://{domain}/")
        return SessionOrder(
            start, domain, policy=self.visits.settings.crawl_policy_version, run_id=self.run.id
        )

    # ── one domain ──

    async def _supply(self, slot: DomainSlot) -> None:
        """Lease ahead of what goes out, until there is nothing left or it is time to let others in."""
        while not (slot.is_leaving or self.over or self._loop.time() > slot.leave_at):
            slot.changed.clear()
            if wanted := slot.wanted():
                got = await self._threads.run(self.book.lease, slot.domain, wanted)
                self._renewal.keep(task.lease for task in got)
                slot.put(got, wanted)
                if got:
                    self.wake()
            if slot.is_dry and not slot.open and not await self._is_worth_waiting(slot):
                return
            if not await news(slot.changed, LOOK_SECONDS):
                slot.is_dry = False

    async def _is_worth_waiting(self, slot: DomainSlot) -> bool:
        """Whether the domain has a task that is due soon."""
        due = await self._threads.run(self.book.next_due, slot.domain)
        return due is not None and due.total_seconds() < LINGER_SECONDS

    async def _leave(self, slot: DomainSlot) -> None:
        """Give back what was not begun, wait for what is under way, and end the visit."""
        slot.leave()
        untouched = slot.give_up()
        self._renewal.forget(task.lease.id for task in untouched)
        if untouched:
            with suppress(Exception):  # a lease that is not given back runs out
                await self._threads.patiently(lambda: self.book.give_back(untouched, self._release))
        while slot.open:
            slot.changed.clear()
            await news(slot.changed, LOOK_SECONDS)
        self.slots.pop(slot.domain, None)
        try:
            await self.visits.end(slot.visit)
        except StaleSessionError:
            log.warning("session.taken_over", session_id=slot.visit.id, domain=slot.domain)
        except Exception:
            log.exception("session.failed", session_id=slot.visit.id, domain=slot.domain)

    # ── inside ──

    @property
    def _release(self) -> Release:
        """Why what is not begun goes back (SPEC D88)."""
        return {None: Release.LEFT, STOPPED: Release.STOPPED}.get(self.over, Release.INTERRUPTED)

    def _lost_from_afar(self, ids: set[int]) -> None:
        """Called in the renewal's thread."""
        self._loop.call_soon_threadsafe(self._lost, ids)

    def _lost(self, ids: set[int]) -> None:
        for slot in self.slots.values():
            slot.drop(ids)

    async def _written(self, task: LeasedTask, write: Callable[[], T]) -> T | None:
        """The end of a task; one that cannot be written is left to its lease, which runs out."""
        try:
            return await self._threads.patiently(write)
        except Exception as error:  # ruff: ignore[blind-except] - see above
            log.warning("task.end_not_written", url=task.url, error=str(error))
            return None

    def soon(self, task: LeasedTask, work: Coroutine[Any, Any, None]) -> None:
        """Have a task's end written, and waited for when all is closed."""
        self._ending.add(task.lease.id)
        errand = asyncio.ensure_future(work)
        self._errands.add(errand)
        errand.add_done_callback(self._errands.discard)
