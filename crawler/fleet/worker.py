"""A worker of a fleet: takes entries as it has room for them, and begins sessions where domains are free.

An entry becomes a waiting session in the database before it leaves Redis, and waits there for its domain:
a hundred entries of one domain stand in nobody else's way. Whatever is away for a while (Redis, the
database) is waited for.
"""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from attrs import define, evolve, field

from crawler import logs
from crawler.config import shown
from crawler.errors import CrawlerError
from crawler.fleet.entries import shown_entry
from crawler.leases.backoff import Backoff
from crawler.leases.renewer import Renewer
from crawler.sessions.rows import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from crawler.crawl.visits import Visits
    from crawler.fleet.queue import FleetQueue, Taken
    from crawler.fleet.store import FleetStore, Waiting
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.visit import Visit

P = ParamSpec("P")
T = TypeVar("T")
# A worker takes a few entries more than it can begin, so that one busy domain costs no further round.
SPARE_ENTRIES = 4
LOOK_SECONDS = 1.0  # between two looks at what there is to do
BUSY_SECONDS = 5.0  # how long to pass by a domain that somebody else has
# More waiting sessions than that, all of busy domains, and entries stay in Redis.
MOST_WAITING = 10_000
PAUSES = Backoff(0.5, maximum=30, jitter=0.5)  # while something is away

log = logs.get_logger(__name__)


@define(eq=False, kw_only=True)
class Worker:
    """Works until it is cancelled, or has been idle for too long."""

    visits: Visits
    queue: FleetQueue
    store: FleetStore
    order_of: Callable[[bytes], SessionOrder]
    most_at_once: int  # entries taken in one go
    idle_seconds: float = 0  # with nothing to do for so long it ends; 0: never
    count: Callable[[str, int], object] = lambda _event, _number: None  # hears of entries and sessions
    _at_work: dict[str, Waiting] = field(factory=dict, init=False)  # by domain
    _passed_by: dict[str, float] = field(factory=dict, init=False)  # domains, and until when
    _ended: asyncio.Event = field(factory=asyncio.Event, init=False)  # a session did
    # One call at a time, so that leaving comes after whatever was begun.
    _thread: ThreadPoolExecutor = field(init=False)
    _beats: Renewer[None] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make the threads; nothing runs in them yet."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fleet")
        show_life = partial(self._show_life, asyncio.get_running_loop())
        life = self.visits.settings.domain_lock_ttl_seconds
        self._beats = Renewer("fleet-worker", show_life, lasts=life)

    async def work(self, see_through: Callable[[Visit], Awaitable[None]]) -> None:
        """Begin sessions, and have each seen through to its end."""
        log.info("fleet.joined", worker=self.queue.worker, key=self.queue.key)
        self._beats.start()
        now = asyncio.get_running_loop().time
        failures, idle_since = 0, None
        async with asyncio.TaskGroup() as group:
            while idle_since is None or now() - idle_since < self.idle_seconds:
                self._ended.clear()
                try:
                    is_idle = await self._look(lambda each: group.create_task(self._run(each, see_through)))
                except Exception as error:  # ruff: ignore[blind-except] - whatever it is, it may pass
                    failures, idle_since = failures + 1, None
                    await _pause(error, failures)
                    continue
                if failures:
                    log.info("fleet.goes_on", tries=failures)
                failures, idle_since = 0, (idle_since or now()) if is_idle else None
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._ended.wait()
        log.info("fleet.idle", worker=self.queue.worker, seconds=self.idle_seconds)

    async def leave(self) -> None:
        """Go; what was taken and is not in the database yet is another worker's at once."""
        try:
            await self._call(self._beats.close)
            await self._call(self.queue.leave)
        except CrawlerError as error:
            log.warning("fleet.left_silently", worker=self.queue.worker, error=str(error))
        finally:
            self.queue.close()
            self._thread.shutdown(wait=False)

    def _show_life(self, loop: asyncio.AbstractEventLoop, _kept: list[None]) -> list[None]:
        """Called in the renewer's thread: say that we live, and see to those who say so no more."""
        for worker, left in self.queue.beat().items():
            log.warning("fleet.taken_over", worker=worker, entries=left)
            loop.call_soon_threadsafe(self.count, "taken_over", left)
        loop.call_soon_threadsafe(self.count, "recovered", len(self.store.recover()))
        return []

    # ── what there is to do ──

    async def _look(self, begin: Callable[[Waiting], object]) -> bool:
        """Begin what is free and take entries while there is room; whether nothing is left to do anywhere."""
        taken = True
        while taken and self._room():
            for waiting in await self._free_ones():
                self._at_work[waiting.order.domain] = waiting
                begin(waiting)
            taken = bool(self._room()) and await self._take_entries()
        if self._at_work or not self.idle_seconds:
            return False
        # What another worker has in hand may come back if that worker dies.
        return not await self._call(lambda: self.queue.waiting() > 0 or self.store.any_open())

    def _room(self) -> int:
        return self.visits.settings.sessions_at_once - len(self._at_work)

    async def _take_entries(self) -> bool:
        taken, refused = await self._call(self._take, min(self._room() + SPARE_ENTRIES, self.most_at_once))
        self.count("taken", taken)
        self.count("refused", refused)
        return taken > 0

    def _take(self, room: int) -> tuple[int, int]:
        """Take entries, write their sessions, and only then let go of them; how many, and how many bad."""
        if self.store.count_waiting(MOST_WAITING) >= MOST_WAITING:
            return 0, 0
        taken = self.queue.fill(room)
        orders = {entry: order for entry in taken if (order := self._read(entry))}
        self.store.add(
            [evolve(order, entry_id=entry.id) for entry, order in orders.items()], shown(self.visits.settings)
        )
        self.queue.done(list(orders))
        return len(taken), len(taken) - len(orders)

    def _read(self, entry: Taken) -> SessionOrder | None:
        """What an entry asks for; one that makes no sense is put aside, with a line that says why."""
        try:
            return self.order_of(entry.data)
        except Exception as error:  # ruff: ignore[blind-except] - whatever it is, the entry is at fault and not we
            reason = str(error) or type(error).__name__
        log.error("fleet.entry_refused", entry=shown_entry(entry.data), error=reason)
        self.queue.refuse(entry, reason)
        return None

    # ── sessions ──

    async def _free_ones(self) -> list[Waiting]:
        """Waiting sessions whose domains look free; each of them is asked for at the gate again."""
        now = asyncio.get_running_loop().time()
        self._passed_by = {domain: until for domain, until in self._passed_by.items() if until > now}
        busy = {*self._at_work, *self._passed_by}
        # Of those with which a worker has died one at a time: its page may be what kills.
        suspects = 0 if any(each.deaths for each in self._at_work.values()) else 1
        found = await self._call(self._look_at, self._room(), busy, suspects)
        self._passed_by |= {each.order.domain: now + seconds for each, seconds in found if seconds}
        return [each for each, seconds in found if not seconds]

    def _look_at(self, room: int, busy: Collection[str], suspects: int) -> list[tuple[Waiting, float]]:
        """Sessions to be begun next, and for how many seconds the domain of each is not to be thought of."""
        waiting = self.store.waiting(room, busy, suspects=suspects)
        return [(each, self._closed_for(each.order)) for each in waiting]

    def _closed_for(self, order: SessionOrder) -> float:
        """Not at all, or while somebody is there, or a long delay lasts."""
        settings = self.visits.settings
        if settings.disable_locks:
            return 0
        state = self.visits.stores.gate.state(order.domain)
        if state.value is not None:  # a lock that nobody renews any more is over sooner
            return min(max(state.expires_in_ms / 1000, LOOK_SECONDS), BUSY_SECONDS)
        return self.visits.stores.acquisitions.long_delay(state, order.mode)

    async def _run(self, waiting: Waiting, see_through: Callable[[Visit], Awaitable[None]]) -> None:
        """One session; whatever goes wrong with it, the others go on."""
        domain = waiting.order.domain
        try:
            if (visit := await self._begin(waiting)) is not None:
                await see_through(visit)
        except StaleSessionError:
            log.warning("session.taken_over", session_id=str(waiting.session_id), domain=domain)
        except Exception:
            log.exception("session.failed", session_id=str(waiting.session_id), domain=domain)
            self._passed_by[domain] = asyncio.get_running_loop().time() + BUSY_SECONDS
        finally:
            del self._at_work[domain]
            self._ended.set()

    async def _begin(self, waiting: Waiting) -> Visit | None:
        """Take the domain and begin the session; None where another was quicker, or nobody can tell."""
        domain, visit = waiting.order.domain, None
        try:
            visit = await self.visits.begin_if_free(waiting.order, waiting.session_id)
        except StaleSessionError:
            return None
        except CrawlerError as error:
            log.info("fleet.not_begun", domain=domain, error=str(error))
        if visit is None:
            self._passed_by[domain] = asyncio.get_running_loop().time() + BUSY_SECONDS
        return visit

    async def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        work = partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


async def _pause(error: Exception, failures: int) -> None:
    """Tell once that something is away, and wait a little longer each time."""
    if not isinstance(error, CrawlerError):
        log.error("fleet.look_failed", exc_info=error)
    if failures == 1:
        log.warning("fleet.paused", error=str(error), note="nothing is begun; it goes on by itself")
    await asyncio.sleep(PAUSES.delay(failures, random.random()))  # ruff: ignore[suspicious-non-cryptographic-random-usage] - jitter
