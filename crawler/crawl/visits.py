"""The visits of one process: let in by the gate, kept alive, and ended, whatever happens.

Crawl code awaits its methods. What blocks runs in the visits's own threads, so that neither name
look-ups nor parsing hold up a lock.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar
from uuid import uuid4

from attrs import frozen

from crawler import logs
from crawler.access.acquisition import DELAY, DomainLockTimeoutError, Entered, Waiter
from crawler.access.gate import GateUnavailableError
from crawler.capture.failures import Cause, Summary
from crawler.config import shown
from crawler.errors import CrawlerError, LockedError
from crawler.sessions.journal import Journal
from crawler.sessions.outcome import Outcome, Status
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.sessions.writes import WriteQueue, lines_of
from crawler.stores import HOOKS, Stores, open_stores

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
    from uuid import UUID

    from crawler.access.acquisition import DomainAcquisition
    from crawler.access.gate import Gate, Held
    from crawler.access.keeper import Lost
    from crawler.capture.items import PageCapture
    from crawler.config import Settings
    from crawler.fleet.store import Waiting
    from crawler.sessions.store import Hooks, KeptPage, OpenBatch, SessionStore
    from crawler.sessions.visit import Visit
    from crawler.sessions.writes import Write


T = TypeVar("T")


class Shared(Generic[T]):
    """Work that several requests wait for and only the first begins."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[T]] = {}

    async def get(self, key: Hashable, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the work that goes by `key`; a caller who is cancelled does not end it."""
        if key not in self._tasks:
            task = self._tasks[key] = asyncio.ensure_future(begin())
            task.add_done_callback(lambda _: self._tasks.pop(key))
        return await asyncio.shield(self._tasks[key])

    async def settle(self) -> None:
        """Wait for what is under way."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


# ── the end of a visit: first its result, then its domains, then its log ──


# How long to try to write the end of a session, while the store does not take it.
END_TRIES_SECONDS = (0.5, 1, 2, 4, 8)

log = logs.get_logger(__name__)


@frozen
class Ending:
    """Ends visits; what blocks is done `in_thread`."""

    stores: Stores
    queue: WriteQueue
    in_thread: Callable[..., Awaitable[Any]]

    async def end(self, visit: Visit, end: Write[T]) -> T:
        """Write the end, let go of the domains, close the log.

        A log that is another's by now is not touched.
        """
        try:
            result = await self._written(visit, end)
        finally:
            await self.in_thread(_let_go, self.stores.gate, visit)
        await self._close_log(visit)
        return result

    async def _written(self, visit: Visit, end: Write[T]) -> T:
        """An end that cannot be written is tried again: a store that is away for seconds must not cost it."""
        for wait in END_TRIES_SECONDS:
            try:
                return await self.queue.post(end)
            except StaleSessionError:
                raise
            except Exception:
                log.exception("session.end_delayed", session_id=visit.id, again_in_seconds=wait)
                await asyncio.sleep(wait)
        return await self.queue.post(end)

    async def _close_log(self, visit: Visit) -> None:
        """A log that cannot be exported is in the database all the same (SPEC F145)."""
        try:
            close: Write[None] = await self.in_thread(self.stores.sessions.close_log, visit)
            await self.queue.post(close)
        except Exception as error:
            log.exception("session.log_export_failed", session_id=visit.id, error=str(error))
            await self.queue.post(lines_of(visit.journal))


def _let_go(gate: Gate, visit: Visit) -> None:
    for domain, seconds in visit.crawl_delays.items():
        ask_delay(gate, domain, seconds, "Crawl-delay")
    for acquisition in visit.acquisitions.values():
        acquisition.leave()


def ask_delay(gate: Gate, domain: str, seconds: float, reason: str) -> None:
    """A gate that is away is not worth a page."""
    try:
        gate.ask_delay(domain, seconds, reason)
    except GateUnavailableError as error:
        log.warning("delay.not_kept", domain=domain, seconds=seconds, error=str(error))


# ── the visits of one process: let in by the gate, kept alive, and ended, whatever happens ──


P = ParamSpec("P")
THREADS = 8
QUIET_SECONDS = 35.0  # a little longer than a download may take


def _open(settings: Settings, hooks: Sequence[Hooks]) -> Stores:
    """Open the stores and the gate, and end the sessions of processes that are gone."""
    stores = open_stores(settings, hooks)
    try:
        stores.open_gate()
        stores.sessions.abandon_stale()
    except BaseException:
        stores.close()
        raise
    return stores


def _close(stores: Stores) -> None:
    """Let go of what is queued and not begun, and of the connections."""
    try:
        stores.sessions.release_queued()
    finally:
        stores.close()


class Visits:
    """Opens on first use, so that commands which fetch nothing touch no database."""

    def __init__(self, settings: Settings, hooks: Sequence[Hooks] = HOOKS) -> None:
        self.settings = settings
        self.hooks = hooks
        self.running: dict[str, Visit] = {}  # those that run
        self.known: dict[str, Visit] = {}  # and those whose domains are not free yet
        self._lost_early: dict[str, Cause] = {}
        self._guard = threading.Lock()  # the keeper's thread tells of losses
        self.slots = asyncio.Semaphore(settings.sessions_at_once)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="visits")
        self._opening: asyncio.Task[Stores] | None = None
        self._pulse: asyncio.Task[None] | None = None
        self.listeners: list[Callable[..., None]] = []  # hear of sessions: queued, started, ended
        self._admissions = Shared[bool]()
        self._own_visits = Shared["Visit"]()
        self._writes = WriteQueue(self._commit)

    # ── opening and closing ──

    async def open(self) -> Stores:
        """Connect to the stores, once."""
        if self._opening is None:
            self._loop = asyncio.get_running_loop()
            self._opening = asyncio.ensure_future(self._in_thread(_open, self.settings, self.hooks))
            self._pulse = asyncio.ensure_future(self._beat_queued())
        return await asyncio.shield(self._opening)

    @property
    def _opened(self) -> Stores:
        """The stores, for threads that only run once they are open."""
        if self._opening is None:
            raise RuntimeError("the visits is not open")
        return self._opening.result()

    async def close(self, *, completed: bool) -> None:
        """End what is still open (as interrupted unless the crawl was completed), and let go of it all."""
        try:
            if self._opening is not None and await self._is_open():
                await self._close_stores(await self.open(), completed=completed)
        finally:
            if self._pulse:
                self._pulse.cancel()
            self._threads.shutdown()

    async def _is_open(self) -> bool:
        """Whether there is anything to close; why a store could not be opened was told when it was tried."""
        try:
            await self.open()
        except Exception:  # ruff: ignore[blind-except] - see above
            return False
        return True

    async def _close_stores(self, stores: Stores, *, completed: bool) -> None:
        await self._admissions.settle()
        await self._own_visits.settle()
        await self._writes.settle()
        for visit in list(self.running.values()):
            if completed:
                await self.end(visit)
            else:
                await self._interrupt(visit)
        await self._in_thread(_close, stores)

    # ── queueing ──

    async def queue(self, orders: list[SessionOrder]) -> list[UUID]:
        """Write sessions as queued, with the settings that they will run under."""
        book = (await self.open()).sessions
        ids = await self._in_thread(book.queue, orders, shown(self.settings))
        self.tell("queued", sessions=[str(session_id) for session_id in ids])
        return ids

    async def requeue(self, session: str) -> tuple[UUID, SessionOrder]:
        """Queue an ended session again."""
        book = (await self.open()).sessions
        session_id, order = await self._in_thread(book.requeue, session)
        self.tell("queued", sessions=[str(session_id)])
        return session_id, order

    async def open_batch(self, source: str) -> OpenBatch:
        """The batch of a URL file: a new one, or the one that was interrupted."""
        book = (await self.open()).sessions
        batch = await self._in_thread(book.open_batch, source)
        if batch.left:
            self.tell("queued", sessions=[str(session_id) for session_id, _ in batch.left])
        return batch

    async def close_batch(self, batch_id: int) -> None:
        """Mark a batch as finished if nothing of it is left to do."""
        book = (await self.open()).sessions
        await self._in_thread(book.close_batch, batch_id)

    async def refuse(self, session_id: UUID, order: SessionOrder, cause: Cause, **details: Any) -> None:
        """End a queued session that cannot be begun at all."""
        journal = Journal(str(session_id), order.domain)
        journal.error("error", "session.refused", cause=cause, **details)
        await self._refuse(session_id, order, Outcome(Status.FAILED, Summary.CRAWL_FAILED, cause), journal)

    # ── one visit ──

    async def begin(self, session_id: UUID, order: SessionOrder) -> Visit | None:
        """Wait for the domain, take it, and start the session.

        The caller holds a slot; it is lent to others while somebody else has the domain.
        """
        journal = Journal(str(session_id), order.domain)
        acquisition = await self._acquisition(str(session_id), order, journal)
        try:
            await self._go_in(acquisition, lend_slot=True)
        except DomainLockTimeoutError as error:
            cause = Cause(error.cause) if error.cause in set(Cause) else Cause.DOMAIN_HELD
            outcome = Outcome(Status.FAILED, Summary.LOCK_TIMEOUT, cause)
            await self._refuse(session_id, order, outcome, journal)
            return None
        start = self._opened.sessions.start(session_id, order, journal, partial(self._has_begun, acquisition))
        return await self._started(start, acquisition)

    async def begin_if_free(self, order: SessionOrder, waiting: Waiting | None = None) -> Visit | None:
        """Start a session, or one that waits, in a domain that is free; None, and nothing written, if not.

        The gate is asked once, and only the domain's delay is waited for, under its lock. A gate that is
        away is an error, so that the caller can tell a busy domain from that.
        """
        session_id = str(waiting.session_id if waiting else uuid4())
        journal = Journal(session_id, order.domain)
        acquisition = await self._acquisition(session_id, order, journal, once=True)
        try:
            await self._go_in(acquisition, lend_slot=False)
        except DomainLockTimeoutError as error:
            log.debug("domain.not_free", domain=order.domain, cause=error.cause)
            return None
        new = partial(self._opened.sessions.start_new, snapshot=shown(self.settings))
        begun = (waiting.start if waiting else new)(
            order, journal, then=partial(self._has_begun, acquisition)
        )
        return await self._started(begun, acquisition, is_new=True)

    async def _started(
        self, start: Write[Visit], acquisition: DomainAcquisition, *, is_new: bool = False
    ) -> Visit:
        try:
            visit = await self._to_its_end(self._writes.post(start))
        except BaseException:
            if start.error is not None:
                await self._to_its_end(self._in_thread(acquisition.leave))
            raise
        if is_new:
            self.tell("queued", sessions=[visit.id])
        self.tell("started", session=visit.id, url=visit.order.url, domain=visit.order.domain)
        return visit

    def _has_begun(self, acquisition: DomainAcquisition, visit: Visit) -> None:
        """Have a session in `visits` as soon as it is written: nothing is begun that `close` cannot find."""
        visit.acquisitions[visit.order.domain] = acquisition
        with self._guard:
            self.running[visit.id] = self.known[visit.id] = visit
            lost = self._lost_early.pop(visit.id, None)
        if lost is not None:
            self.stop(visit.id, lost)

    async def admit(self, visit: Visit, domain: str) -> bool:
        """Let a running session fetch from a further domain; False when that cannot be had."""
        if visit.stopped:
            return False
        if domain in visit.acquisitions:
            return True
        return await self._admissions.get((visit.id, domain), lambda: self._enter_further(visit, domain))

    async def _enter_further(self, visit: Visit, domain: str) -> bool:
        order = SessionOrder(visit.order.url, domain, mode=visit.order.mode)
        acquisition = await self._acquisition(visit.id, order, visit.journal, further=True)
        try:
            await self._go_in(acquisition, lend_slot=False)
        except DomainLockTimeoutError:
            return False
        visit.acquisitions[domain] = acquisition
        return True

    async def end(self, visit: Visit) -> Outcome:
        """Store how the session ended, then let go of its domains: a result never waits for a lock."""
        stores = await self.open()
        self.running.pop(visit.id, None)
        try:
            await self._quiet(visit)
            outcome = await self._to_its_end(self._ending(stores).end(visit, stores.sessions.finish(visit)))
        finally:
            self.known.pop(visit.id, None)
        self._tell_end(visit.id, visit.order, outcome)
        return outcome

    @staticmethod
    async def _quiet(visit: Visit) -> None:
        """Wait for requests that are at the site still: while one is, nobody else may come."""
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET_SECONDS):
                await visit.quiet.wait()

    async def _interrupt(self, visit: Visit) -> None:
        """A session of a batch or a fleet waits for its next start; another one ends here."""
        stores = await self.open()
        self.running.pop(visit.id, None)
        goes_on = visit.order.waits_for_others and visit.stopped is None
        if not goes_on:
            visit.stop(Cause.INTERRUPTED)
        end: Write[Any] = stores.sessions.put_back(visit) if goes_on else stores.sessions.finish(visit)
        try:
            await self._ending(stores).end(visit, end)
            if visit.stopped:
                self._tell_end(visit.id, visit.order, visit.stopped)
        except Exception:
            log.exception("session.interrupt_failed", session_id=visit.id)

    def stop(self, session_id: str, cause: Cause, **details: Any) -> None:
        """Have a session ended early, from the event loop's thread or any other."""
        visit = self.running.get(session_id)
        if visit is not None and visit.stop(cause):
            visit.journal.error("error", "session.stopped", cause=cause, **details)
            self._loop.call_soon_threadsafe(visit.wake)

    async def keep(self, capture: PageCapture) -> KeptPage:
        """Store a page of a running session."""
        visit = self.running.get(capture.session_id)
        if visit is None:
            raise StaleSessionError(f"session {capture.session_id} does not run in this process")
        book = (await self.open()).sessions
        return await self._to_its_end(self._keep(book, visit, capture))

    async def _keep(self, book: SessionStore, visit: Visit, capture: PageCapture) -> KeptPage:
        write = await self._in_thread(book.keep, visit, capture)  # compresses and digests
        return await self._writes.post(write)

    async def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Hold everyone off a domain, as its site has asked."""
        gate = (await self.open()).gate
        await self._in_thread(ask_delay, gate, domain, seconds, reason)

    # ── for spiders that know nothing of sessions ──

    async def visit_of(self, domain: str, url: str) -> Visit:
        """The session of this process that holds `domain`; one is begun if there is none."""
        for visit in self.running.values():
            if domain in visit.acquisitions and not visit.stopped:
                return visit
        return await self._own_visits.get(domain, lambda: self._begin_own(domain, url))

    async def _begin_own(self, domain: str, url: str) -> Visit:
        order = SessionOrder(url, domain, policy=self.settings.crawl_policy_version)
        [session_id] = await self.queue([order])
        async with self.slots:
            visit = await self.begin(session_id, order)
        if visit is None:
            raise LockedError(f"{domain} is held by another session")
        visit.missing_pdp = None
        visit.wake = lambda: asyncio.ensure_future(self.end(visit))
        if visit.stopped:
            visit.wake()
        return visit

    # ── inside ──

    async def _commit(self, writes: list[Write[Any]]) -> None:
        await self._in_thread(self._opened.sessions.commit, writes)

    def _ending(self, stores: Stores) -> Ending:
        return Ending(stores, self._writes, self._in_thread)

    async def _acquisition(
        self, session_id: str, order: SessionOrder, journal: Journal, **how: bool
    ) -> DomainAcquisition:
        def emit(event: str, level: str, **fields: Any) -> None:
            getattr(journal, level)("lock", event, **fields)

        waiter = Waiter(
            session_id, order.domain, emit, self._on_lost, beat=self._beat, mode=order.mode, **how
        )
        return (await self.open()).acquisitions.acquisition(waiter)

    async def _go_in(self, acquisition: DomainAcquisition, *, lend_slot: bool) -> None:
        try:
            while not isinstance(
                step := await self._to_its_end(self._in_thread(acquisition.advance)), Entered
            ):
                if lend_slot and step.why != DELAY:
                    await self._sleep_without_slot(step.milliseconds)
                else:
                    await asyncio.sleep(step.milliseconds / 1000)
        except BaseException:
            await self._to_its_end(self._in_thread(acquisition.leave))
            raise

    async def _sleep_without_slot(self, milliseconds: int) -> None:
        self.slots.release()
        try:
            await asyncio.sleep(milliseconds / 1000)
        finally:
            await self._to_its_end(self.slots.acquire())

    async def _refuse(
        self, session_id: UUID, order: SessionOrder, outcome: Outcome, journal: Journal
    ) -> None:
        book = (await self.open()).sessions
        await self._in_thread(book.refuse, session_id, outcome, journal)
        self._tell_end(str(session_id), order, outcome)

    def _tell_end(self, session: str, order: SessionOrder, outcome: Outcome) -> None:
        self.tell(
            "ended", session=session, url=order.url, domain=order.domain,
            status=outcome.status, summary=outcome.summary, cause=outcome.cause,
        )  # fmt: skip

    def tell_refusal(self, error: CrawlerError) -> None:
        """Let those who listen know why nothing is run."""
        self.tell("refused", code=error.code, exit_code=error.exit_code)

    def tell(self, event: str, **fields: Any) -> None:
        """Let those who listen know what happened."""
        for listener in self.listeners:
            listener(event, **fields)

    def _on_lost(self, held: Held, why: Lost) -> None:
        cause = Cause(why.value)
        with self._guard:
            if held.session_id not in self.running:
                self._lost_early[held.session_id] = cause  # it is just being started
                return
        self.stop(held.session_id, cause, held_domain=held.domain)

    def _beat(self, held: Held) -> None:
        visit = self.running.get(held.session_id)
        if visit is not None and not self._opened.sessions.beat(visit):
            self.stop(held.session_id, Cause.LOCK_LOST, reason="taken over")

    async def _beat_queued(self) -> None:
        """Show other processes that what waits here is not forgotten."""
        book = (await self.open()).sessions
        while True:
            await asyncio.sleep(book.ttl.total_seconds() / 3)
            try:
                await self._in_thread(book.beat_queued)
            except Exception:
                log.exception("session.queue_beat_failed")

    async def _in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: function(*args, **kwargs)
        )

    @staticmethod
    async def _to_its_end(work: Coroutine[Any, Any, T]) -> T:
        """Wait for work that must not be left half done, even when the waiting is cancelled."""
        task = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise
