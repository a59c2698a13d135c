"""A worker of a fleet: takes entries as it has room for them, and begins sessions where domains are free.

An entry becomes a waiting session in the database before it leaves Redis, and waits there for its domain:
a hundred entries of one domain stand in that domain's line and in nobody else's way. Whatever is away for a
while (Redis, the database) is waited for.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from attrs import define, evolve, field

from crawler import logs
from crawler.access.acquisition import DEBUG
from crawler.config import shown
from crawler.errors import CrawlerError
from crawler.fleet.queue import shown_entry
from crawler.sessions.rows import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from crawler.access.gate import Gate
    from crawler.crawl.visits import Visits
    from crawler.fleet.queue import FleetList, Taken
    from crawler.fleet.store import FleetStore, Waiting
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.visit import Visit

P = ParamSpec("P")
T = TypeVar("T")
# A worker takes a few entries more than it can begin, so that one busy domain costs no further round.
SPARE_ENTRIES = 4
LOOK_SECONDS = 1.0  # between two looks at what there is to do
SIGNS_OF_LIFE = 3  # within the time after which a worker counts as dead
# How long to pass by a domain that somebody else has, and which delays are waited out under its lock.
BUSY_SECONDS = 5.0
SHORT_DELAY_SECONDS = 5.0
# More waiting sessions than that, all of busy domains, and entries stay in Redis.
MOST_WAITING = 10_000
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0

log = logs.get_logger(__name__)


def _uncounted(_event: str, _number: int) -> None:
    """Nobody counts."""


@define
class Patience:
    """Pauses that grow while something is away, and one line at their beginning and at their end."""

    _failures: int = 0

    def failed(self, error: Exception) -> float:
        """How long to wait before the next try."""
        if not self._failures:
            log.warning("fleet.paused", error=str(error), note="nothing is begun; it goes on by itself")
        self._failures += 1
        pause: float = min(FIRST_PAUSE_SECONDS * 2 ** min(self._failures - 1, 10), LONGEST_PAUSE_SECONDS)
        return pause * random.uniform(0.5, 1)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - jitter

    def succeeded(self) -> None:
        """All is there."""
        if self._failures:
            log.info("fleet.goes_on", tries=self._failures)
        self._failures = 0


@define(eq=False, kw_only=True)
class Worker:
    """Works until it is cancelled, or has been idle for too long."""

    desk: Visits
    book: FleetStore
    gate: Gate
    entries: FleetList
    order_of: Callable[[bytes], SessionOrder]
    most_at_once: int  # entries taken in one go
    idle_seconds: float = 0  # with nothing to do for so long it ends; 0: never
    count: Callable[[str, int], None] = _uncounted  # hears of entries and sessions
    _at_work: dict[str, Waiting] = field(factory=dict, init=False)  # by domain
    _passed_by: dict[str, float] = field(factory=dict, init=False)  # domains, and until when
    _patience: Patience = field(factory=Patience, init=False)
    _ended: asyncio.Event = field(factory=asyncio.Event, init=False)  # a session did
    _next_sign: float = field(default=-math.inf, init=False)
    _idle_since: float | None = field(default=None, init=False)
    # One call at a time, so that leaving comes after whatever was begun.
    _thread: ThreadPoolExecutor = field(init=False)

    @_thread.default
    def _one_thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="fleet")

    async def work(self, see_through: Callable[[Visit], Awaitable[None]]) -> None:
        """Begin sessions, and have each seen through to its end."""
        log.info("fleet.joined", worker=self.entries.worker, key=self.entries.key)
        async with asyncio.TaskGroup() as group:
            while not self._is_idle_for_too_long():
                await self._turn(lambda waiting: group.create_task(self._run(waiting, see_through)))
        log.info("fleet.idle", worker=self.entries.worker, seconds=self.idle_seconds)

    async def leave(self) -> None:
        """Go; what was taken and is not in the database yet is another worker's at once."""
        try:
            await self._call(self.entries.leave)
        except CrawlerError as error:
            log.warning("fleet.left_silently", worker=self.entries.worker, error=str(error))
        finally:
            self.entries.close()
            self._thread.shutdown(wait=False)

    # ── a turn ──

    async def _turn(self, begin: Callable[[Waiting], object]) -> None:
        """Do what there is to do, then wait for more; what is away is waited for."""
        self._ended.clear()
        try:
            await self._do_what_there_is(begin)
        except Exception as error:
            if not isinstance(error, CrawlerError):
                log.exception("fleet.turn_failed")
            self._idle_since = None
            await asyncio.sleep(self._patience.failed(error))
            return
        self._patience.succeeded()
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self._ended.wait()
        except TimeoutError:
            pass

    async def _do_what_there_is(self, begin: Callable[[Waiting], object]) -> None:
        await self._give_sign_of_life()
        taken = 1
        while taken and self._room():
            for waiting in await self._free_ones():
                self._at_work[waiting.order.domain] = waiting
                begin(waiting)
            taken = await self._take_entries() if self._room() else 0
        await self._note_idleness()

    def _room(self) -> int:
        return self.desk.settings.sessions_at_once - len(self._at_work)

    async def _give_sign_of_life(self) -> None:
        """Show that we live, and see to those who do not."""
        if time.monotonic() < self._next_sign:
            return
        await self._call(self.entries.beat)
        for worker, left in (await self._call(self.entries.take_over)).items():
            log.warning("fleet.taken_over", worker=worker, entries=left)
            self.count("taken_over", left)
        self.count("recovered", len(await self._call(self.book.recover)))
        life = self.desk.settings.domain_lock_ttl_seconds
        self._next_sign = time.monotonic() + life / SIGNS_OF_LIFE

    async def _note_idleness(self) -> None:
        if self._at_work or not self.idle_seconds or await self._call(self._is_anything_left):
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = time.monotonic()

    def _is_anything_left(self) -> bool:
        """Anywhere: what a worker has in hand may come back if that worker dies."""
        return self.entries.waiting() > 0 or self.book.any_open()

    def _is_idle_for_too_long(self) -> bool:
        return self._idle_since is not None and time.monotonic() - self._idle_since >= self.idle_seconds

    # ── entries ──

    async def _take_entries(self) -> int:
        room = min(self._room() + SPARE_ENTRIES, self.most_at_once)
        taken, refused = await self._call(self._take, room)
        self.count("taken", taken)
        self.count("refused", refused)
        return taken

    def _take(self, room: int) -> tuple[int, int]:
        """Take entries, write their sessions, and only then let go of them; how many, and how many bad."""
        if self.book.count_waiting(MOST_WAITING) >= MOST_WAITING:
            return 0, 0
        taken = self.entries.fill(room)
        orders = {entry: order for entry in taken if (order := self._read(entry))}
        self.book.add(
            [evolve(order, entry_id=entry.id) for entry, order in orders.items()], shown(self.desk.settings)
        )
        self.entries.done(list(orders))
        return len(taken), len(taken) - len(orders)

    def _read(self, entry: Taken) -> SessionOrder | None:
        """What an entry asks for; one that makes no sense is put aside, with a line that says why."""
        try:
            return self.order_of(entry.data)
        except Exception as error:  # ruff: ignore[blind-except] - whatever it is, the entry is at fault and not we
            reason = str(error) or type(error).__name__
        log.error("fleet.entry_refused", entry=shown_entry(entry.data), error=reason)
        self.entries.refuse(entry, reason)
        return None

    # ── sessions ──

    async def _free_ones(self) -> Sequence[Waiting]:
        """Waiting sessions whose domains look free; each of them is asked for at the gate again."""
        now = time.monotonic()
        self._passed_by = {domain: until for domain, until in self._passed_by.items() if until > now}
        busy = {*self._at_work, *self._passed_by}
        free, passed_by = await self._call(self._look, self._room(), busy)
        self._passed_by |= {domain: now + seconds for domain, seconds in passed_by.items()}
        return free

    def _look(self, room: int, busy: Collection[str]) -> tuple[list[Waiting], dict[str, float]]:
        waiting = self._next_in_line(room, busy)
        seconds = {each.order.domain: self._closed_for(each.order) for each in waiting}
        free = [each for each in waiting if not seconds[each.order.domain]]
        return free, {domain: left for domain, left in seconds.items() if left}

    def _next_in_line(self, room: int, busy: Collection[str]) -> list[Waiting]:
        """Of those with which a worker has died one at a time: its page may be what kills."""
        if any(each.deaths for each in self._at_work.values()):
            return self.book.waiting(room, busy)
        suspects = self.book.waiting(1, busy, suspects=True)
        busy = {*busy, *(each.order.domain for each in suspects)}
        return [*suspects, *self.book.waiting(room - len(suspects), busy)]

    def _closed_for(self, order: SessionOrder) -> float:
        """For how many seconds a domain is not to be thought of: somebody is there, or its delay is long."""
        settings = self.desk.settings
        if settings.disable_locks:
            return 0
        entry = self.gate.entry(order.domain)
        if entry.value is not None:  # a lock that nobody renews any more is over sooner
            return min(max(entry.expires_in_ms / 1000, LOOK_SECONDS), BUSY_SECONDS)
        if settings.disable_throttle or order.mode == DEBUG:
            return 0
        delay = max(entry.throttled_for_ms, entry.delayed_for_ms) / 1000
        return delay if delay > SHORT_DELAY_SECONDS else 0

    async def _run(self, waiting: Waiting, see_through: Callable[[Visit], Awaitable[None]]) -> None:
        """One session; whatever goes wrong with it, the others go on."""
        domain = waiting.order.domain
        try:
            visit = await self._begin(waiting)
            if visit is not None:
                await see_through(visit)
        except StaleSessionError:
            log.warning("session.taken_over", session_id=str(waiting.session_id), domain=domain)
        except Exception:
            log.exception("session.failed", session_id=str(waiting.session_id), domain=domain)
            self._pass_by(domain)
        finally:
            del self._at_work[domain]
            self._ended.set()

    async def _begin(self, waiting: Waiting) -> Visit | None:
        """Take the domain and begin the session; None where another was quicker, or nobody can tell."""
        order = waiting.order
        try:
            visit = await self.desk.begin_if_free(order, waiting)
        except StaleSessionError:
            return None
        except CrawlerError as error:
            log.info("fleet.not_begun", domain=order.domain, error=str(error))
            visit = None
        if visit is None:
            self._pass_by(order.domain)
        return visit

    def _pass_by(self, domain: str) -> None:
        self._passed_by[domain] = time.monotonic() + BUSY_SECONDS

    # ── inside ──

    async def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, partial(function, *args, **kwargs)
        )
