"""The visits of one process: let in by the gate, kept alive, and ended, whatever happens.

Crawl code awaits its methods. What blocks runs in the visits' own threads, so that neither name look-ups nor
parsing hold up a lock.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from uuid import uuid4

from crawler import logs
from crawler.access.acquisition import DELAY, DomainAcquisition, DomainLockTimeoutError, Entered, Waiter
from crawler.access.gate import GateUnavailableError
from crawler.capture.failures import Cause, Summary
from crawler.config import shown
from crawler.evidence.blobs import DiskFullError
from crawler.leases.backoff import Backoff
from crawler.leases.patience import Patience
from crawler.leases.renewer import Renewer
from crawler.sessions.journal import Journal
from crawler.sessions.outcome import Outcome, Status
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.sessions.spool import keep_warc
from crawler.sessions.visit_writes import EndWrite, PutBackWrite, StartWrite, close_log
from crawler.stores import HOOKS, open_for_crawl

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Hashable, Sequence
    from uuid import UUID

    from crawler.access.gate import Held
    from crawler.capture.items import PageCapture
    from crawler.config import Settings
    from crawler.sessions.page_rows import Hooks, KeptPage
    from crawler.sessions.visit import Visit
    from crawler.sessions.write_queue import WriteQueue
    from crawler.sessions.writes import Write
    from crawler.stores import Stores

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 8
QUIET_SECONDS = 35.0  # a little longer than a download may take
# Between the tries to write the end of a session, while the store does not take it.
END_WAITS = tuple(Backoff(0.5).delays(6))

log = logs.get_logger(__name__)


class Visits:
    """Opens on first use, so that commands which fetch nothing touch no database."""

    def __init__(
        self, settings: Settings, hooks: Sequence[Hooks] = HOOKS, *, obeys_robots: bool = True
    ) -> None:
        self.settings = settings
        self.running: dict[str, Visit] = {}  # those that run, by id
        self.known: dict[str, Visit] = {}  # and those whose domains are not free yet
        self.slots = asyncio.Semaphore(settings.sessions_at_once)
        self.patience = Patience(settings.store_patience_seconds)  # with the stores
        self.listeners: list[Callable[..., None]] = []  # hear of sessions: queued, started, ended
        self.stores: Stores  # once they are open, as are the domains
        self.domains: Domains
        self._open_stores = partial(open_for_crawl, settings, hooks, obeys_robots=obeys_robots)
        self._opening: asyncio.Task[Stores] | None = None
        self._shared = Shared()
        self.threads = Threads()

    # ── opening and closing ──

    async def open(self) -> Stores:
        """Connect to the stores, once."""
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Stores:
        stores = self.stores = await self.threads.run(self._open_stores)
        stores.writes.patience = self.patience  # an outage is told once, whoever meets it first
        self.domains = Domains(stores, self.threads, self)
        return stores

    async def close(self, *, completed: bool) -> None:
        """End what is still open (as interrupted unless the crawl was completed), and let go of it all."""
        try:
            if self._opening is None:
                return
            await asyncio.wait([self._opening])
            if self._opening.exception() is not None:
                return  # why a store could not be opened was told when it was tried
            await self._shared.give_up()
            await self.stores.writes.settle()
            # All at once: ends that come together share commits.
            end = end_own if completed else _interrupt
            await asyncio.gather(*(end(self, visit) for visit in list(self.running.values())))
            await self.threads.run(_close, self.stores, self.domains)
        finally:
            self.threads.close()

    # ── a visit, from its request for the domain to its end ──

    async def begin(self, session_id: UUID, order: SessionOrder) -> Visit | None:
        """Wait for the domain, take it, and start the session.

        The caller holds a slot; it is lent to others while somebody else has the domain.
        """
        stores = await self.open()
        journal = Journal(str(session_id), order.domain)
        try:
            acquisition = await self.domains.acquire(order, journal, slots=self.slots)
        except DomainLockTimeoutError as error:
            await self.refuse(order, journal, Outcome(Status.FAILED, Summary.LOCK_TIMEOUT, error.cause))
            return None
        return await self._start(StartWrite(stores.sessions, order, journal), acquisition)

    async def begin_if_free(self, order: SessionOrder, waiting: UUID | None = None) -> Visit | None:
        """Start a session, or one that waits, in a domain that is free; None, and nothing written, if not.

        The gate is asked once, and only the domain's delay is waited for, under its lock. A gate that is
        away is an error, so that the caller can tell a busy domain from that.
        """
        stores = await self.open()
        journal = Journal(str(waiting or uuid4()), order.domain)
        try:
            acquisition = await self.domains.acquire(order, journal, once=True)
        except DomainLockTimeoutError as error:
            log.debug("domain.not_free", domain=order.domain, cause=error.cause)
            return None
        snapshot = None if waiting else shown(self.settings)
        start = StartWrite(stores.sessions, order, journal, snapshot)
        return await self._start(start, acquisition, is_new=True)

    async def long_delay(self, domain: str) -> float:
        """Return the seconds for which a domain's delay still lasts; 0 where it is short."""
        stores = await self.open()
        state = await self.threads.run(stores.gate.state, domain)
        return stores.acquisitions.long_delay(state)

    async def _start(
        self, start: StartWrite, acquisition: DomainAcquisition, *, is_new: bool = False
    ) -> Visit:
        try:
            visit = await to_its_end(_write_start(self, start, acquisition))
        except BaseException:
            if start.error is not None:
                await to_its_end(self.threads.run(acquisition.leave))
            raise
        if is_new:
            self.tell("queued", sessions=[visit.id])
        self.tell("started", session=visit.id, url=visit.order.url, domain=visit.order.domain)
        return visit

    async def refuse(self, order: SessionOrder, journal: Journal, outcome: Outcome) -> None:
        """End a queued session that cannot be begun."""
        stores = await self.open()
        await self.threads.run(stores.sessions.refuse, journal.key, outcome, journal)
        self.tell("ended", **_as_told(journal.session_id, order, outcome))

    async def admit(self, visit: Visit, domain: str) -> bool:
        """Let a running session fetch from a further domain; False when that cannot be had."""
        if visit.stopped:
            return False
        if self.domains.has(visit, domain):
            return True
        further = partial(self.domains.acquire_further, visit, domain)
        return await self._shared.get((visit.id, domain), further)

    async def keep(self, capture: PageCapture) -> KeptPage:
        """Store a page of a running session; one that cannot be stored ends the session.

        Where another process has the session by now, StaleSessionError is raised and nothing is ended here.
        """
        visit = self.running.get(capture.session_id)
        if visit is None:
            raise StaleSessionError(f"session {capture.session_id} does not run in this process")
        writes = self.stores.writes
        try:
            return await to_its_end(writes.post(writes.page(visit, capture)))
        except StaleSessionError:
            raise
        except Exception as error:
            # Whatever it was: a session that cannot keep what it sees must not end as if it had.
            cause = Cause.DISK_FULL if isinstance(error, DiskFullError) else Cause.STORE_FAILED
            self.stop(visit.id, cause, error=f"{type(error).__name__}: {error}")
            raise

    def stop(self, session_id: str, cause: Cause, **details: Any) -> None:
        """Have a session ended early."""
        visit = self.running.get(session_id)
        if visit is not None and visit.stop(cause):
            visit.journal.error("error", "session.stopped", cause=cause, **details)
            asyncio.get_running_loop().call_soon(visit.wake)

    async def end(self, visit: Visit) -> Outcome:
        """Store how the session ended, then let go of its domains: a result never waits for a lock."""
        self.running.pop(visit.id, None)
        try:
            # While a request is at the site still, nobody else may come.
            with suppress(TimeoutError):
                async with asyncio.timeout(QUIET_SECONDS):
                    await visit.requests.all_back()
            outcome = await to_its_end(_write_end(self, visit, EndWrite(self.stores.sessions, visit)))
        finally:
            self.known.pop(visit.id, None)
        self.tell("ended", **_as_told(visit.id, visit.order, outcome))
        return outcome

    # ── for everybody ──

    async def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Hold everyone off a domain, as its site has asked."""
        stores = await self.open()
        await self.threads.run(_ask_delay, stores, domain, seconds, reason)

    def tell(self, event: str, **fields: Any) -> None:
        """Let those who listen know what happened."""
        for listener in self.listeners:
            listener(event, **fields)


def _close(stores: Stores, domains: Domains) -> None:
    """Let go of what is queued and not begun, and of the connections."""
    domains.beats.close()
    try:
        stores.sessions.release_queued()
    finally:
        stores.close()


async def _write_start(visits: Visits, start: StartWrite, acquisition: DomainAcquisition) -> Visit:
    """Write the start, and have the visit in `running` at once: nothing is begun that `close` cannot find."""
    visit = await visits.stores.writes.post(start)
    visits.running[visit.id] = visits.known[visit.id] = visit
    visits.domains.belong_to(visit, acquisition)
    return visit


async def end_own(visits: Visits, visit: Visit) -> None:
    """End a session that nobody waits for; log it if it is another's by now, or cannot be ended."""
    try:
        await visits.end(visit)
    except StaleSessionError:
        log.warning("session.taken_over", session_id=visit.id, domain=visit.order.domain)
    except Exception:
        log.exception("session.failed", session_id=visit.id, domain=visit.order.domain)


async def _interrupt(visits: Visits, visit: Visit) -> None:
    """A session of a batch or a fleet waits for its next start; another one ends here."""
    visits.running.pop(visit.id, None)
    goes_on = visit.order.waits_for_others and visit.stopped is None
    if not goes_on:
        visit.stop(Cause.INTERRUPTED)
    try:
        end: Write[Any] = PutBackWrite(visit) if goes_on else EndWrite(visits.stores.sessions, visit)
        await _write_end(visits, visit, end)
        if visit.stopped:
            visits.tell("ended", **_as_told(visit.id, visit.order, visit.stopped))
    except StaleSessionError:
        log.warning("session.taken_over", session_id=visit.id, domain=visit.order.domain)
    except Exception:
        log.exception("session.interrupt_failed", session_id=visit.id)


async def _write_end(visits: Visits, visit: Visit, end: Write[T]) -> T:
    """Write the end, let go of the domains, close the log.

    A log that is another's by now is not touched.
    """
    try:
        result = await _patiently(visits.stores.writes, visit, end)
    finally:
        await visits.domains.let_go(visit)
    await close_log(visits.stores.writes, visit)
    if visits.stores.writes.spool is not None:
        await visits.threads.run(_keep_warc, visits.stores, visit)
    if (shelf := visits.stores.shelf) is not None:
        await asyncio.wrap_future(shelf.seal(visit.fence.session_id))
    return result


def _keep_warc(stores: Stores, visit: Visit) -> None:
    """A WARC that cannot be kept stays where it was written, and that is told."""
    try:
        keep_warc(stores.writes, visit)
    except Exception as error:
        log.exception("session.warc_not_kept", session_id=visit.id, error=str(error))


async def _patiently(writes: WriteQueue, visit: Visit, end: Write[T]) -> T:
    """An end that cannot be written is tried again: a store that is away for seconds must not cost it.

    What a store's own fault ends has been waiting for it already.
    """
    cause = visit.stopped.cause if visit.stopped else None
    for wait in () if cause and cause.traits.is_stores_fault else END_WAITS:
        try:
            return await writes.post(end)
        except StaleSessionError:
            raise
        except Exception:
            log.exception("session.end_delayed", session_id=visit.id, again_in_seconds=wait)
            await asyncio.sleep(wait)
    return await writes.post(end)


def _as_told(session: str, order: SessionOrder, outcome: Outcome) -> dict[str, Any]:
    """What those who listen hear of an end."""
    return {
        "session": session, "url": order.url, "domain": order.domain,
        "status": outcome.status, "summary": outcome.summary, "cause": outcome.cause,
    }  # fmt: skip


# ── the domains that visits hold: waited for before the first request, let go of after the last ──


class Domains:
    """Goes into domains, and tells visits when they have lost one."""

    def __init__(self, stores: Stores, threads: Threads, visits: Visits) -> None:
        self._stores = stores
        self._threads = threads
        self._visits = visits
        self._loop = asyncio.get_running_loop()
        self._held: dict[str, dict[str, DomainAcquisition]] = {}  # by session and domain
        self._lost_early: dict[str, Cause] = {}  # by sessions that are just being started
        self.beats: Renewer[None] = Renewer(
            "session-beats", self._beat, lasts=stores.sessions.ttl.total_seconds()
        )
        self.beats.start()

    async def acquire(
        self, order: SessionOrder, journal: Journal, slots: asyncio.Semaphore | None = None, **how: Any
    ) -> DomainAcquisition:
        """Go into a domain; of the slots one is lent to others while somebody else is there."""
        waiter = Waiter(journal.session_id, order.domain, journal, self._tell_loss, mode=order.mode, **how)
        acquisition = DomainAcquisition(self._stores.acquisitions, waiter)
        try:
            while not isinstance(step := await to_its_end(self._threads.run(acquisition.advance)), Entered):
                lent = slots if step.why != DELAY else None
                await _sleep(step.milliseconds / 1000, lent)
        except BaseException:
            await to_its_end(self._threads.run(acquisition.leave))
            raise
        return acquisition

    def belong_to(self, visit: Visit, acquisition: DomainAcquisition) -> None:
        """The visit that a domain was acquired for has begun; a loss from before is told now."""
        self._held[visit.id] = {visit.order.domain: acquisition}
        if (lost := self._lost_early.pop(visit.id, None)) is not None:
            self._visits.stop(visit.id, lost)

    def has(self, visit: Visit, domain: str) -> bool:
        """Whether a visit holds a domain."""
        return domain in self._held.get(visit.id, ())

    def may_fetch(self, visit: Visit, domain: str) -> bool:
        """Whether a domain is a visit's at this moment; asked right before a connection is opened."""
        acquisition = self._held.get(visit.id, {}).get(domain)
        return acquisition is not None and self._stores.acquisitions.renewer.is_ours(acquisition)

    async def acquire_further(self, visit: Visit, domain: str) -> bool:
        """Go into a further domain of a visit's site, without standing in anybody's way."""
        order = SessionOrder(visit.order.url, domain, mode=visit.order.mode)
        held = self._held[visit.id]
        try:
            held[domain] = await self.acquire(order, visit.journal, beside=held[visit.order.domain])
        except DomainLockTimeoutError:
            return False
        return True

    async def let_go(self, visit: Visit) -> None:
        """Leave every domain of a visit, and ask others for the delays that its robots.txt files want."""
        await self._threads.run(self._let_go, visit)

    def _let_go(self, visit: Visit) -> None:
        for domain, seconds in visit.crawl_delays.items():
            _ask_delay(self._stores, domain, seconds, "Crawl-delay")
        for acquisition in self._held.pop(visit.id, {}).values():
            acquisition.leave()

    def _tell_loss(self, held: Held, why: Cause) -> None:
        """Called in the renewer's thread."""
        self._loop.call_soon_threadsafe(self._lost, held, why)

    def _lost(self, held: Held, cause: Cause) -> None:
        if held.session_id in self._visits.running:
            self._visits.stop(held.session_id, cause, held_domain=held.domain)
        else:
            self._lost_early[held.session_id] = cause

    def _beat(self, _kept: list[None]) -> list[None]:
        """Called in the renewer's thread: tell other processes that what waits and runs here lives."""
        running = list(self._visits.running.values())
        ours = self._stores.sessions.beat(running)
        for visit in running:
            if visit not in ours:
                stop = partial(self._visits.stop, visit.id, Cause.LOCK_LOST, reason="taken over")
                self._loop.call_soon_threadsafe(stop)
        return []


async def _sleep(seconds: float, slots: asyncio.Semaphore | None) -> None:
    """Wait, and lend the slot that one holds to others meanwhile."""
    if slots is None:
        await asyncio.sleep(seconds)
        return
    slots.release()
    try:
        await asyncio.sleep(seconds)
    finally:
        await to_its_end(slots.acquire())


def _ask_delay(stores: Stores, domain: str, seconds: float, reason: str) -> None:
    """A gate that is away is not worth a page."""
    try:
        stores.gate.ask_delay(domain, seconds, reason)
    except GateUnavailableError as error:
        log.warning("delay.not_kept", domain=domain, seconds=seconds, error=str(error))


# ── work that is waited for ──


class Threads:
    """What blocks, run beside the event loop."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="visits")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread."""
        work = partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Wait for what runs, and end."""
        self._pool.shutdown()


class Shared:
    """Work that several requests wait for and only the first begins."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}

    async def get(self, key: Hashable, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the work that goes by `key`; a caller who is cancelled does not end it."""
        if key not in self._tasks:
            task = self._tasks[key] = asyncio.ensure_future(begin())
            task.add_done_callback(lambda _: self._tasks.pop(key))
        result: T = await asyncio.shield(self._tasks[key])
        return result

    async def give_up(self) -> None:
        """Break off what is under way: nobody waits for it any more."""
        under_way = list(self._tasks.values())
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Wait for work that must not be left half done, even when the waiting is cancelled."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
