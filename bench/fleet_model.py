"""A fleet on a virtual clock: workers, one Redis, one PostgreSQL, and sites that want to be left alone. Pure.

Nothing of a crawl is done here; what each step costs comes from outside, measured (`bench.fleet`). Each
server is a line in front of so many cores, so that what waits for it makes everybody behind it later.
"""

from __future__ import annotations

import heapq
from collections import deque
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

REDIS, DATABASE, DISK, WORKERS = "Redis", "PostgreSQL", "commits", "workers"


@frozen
class Costs:
    """Seconds, of a session and of a look for work; measured, or assumed where the name says so."""

    worker_cpu: float  # of a session: the event loop, its threads and its readers
    database_cpu: float  # of a session: PostgreSQL's processes
    redis_cpu: float  # of a session: Redis's one thread
    commits: float  # transactions of a session that write
    commit_seconds: float  # how long the disk takes for one flush of the log
    look_cpu: float  # PostgreSQL's part of one look for work
    look_redis: float
    pages: int = 3  # requests of a session: robots.txt, home page, product
    assumed_answer: float = 0.3  # how long a site takes for each


@frozen
class Fleet:
    """What is run."""

    workers: int = 100
    slots: int = 8  # SESSIONS_AT_ONCE
    domains: int = 10_000
    turns: int = 10  # sessions of each domain
    download_delay: float = 1.0
    min_delay: float = 2.0
    look_seconds: float = 1.0
    database_cores: int = 4
    group: int = 10  # commits that one flush of the log covers, at most
    lock_ttl: float = 300.0


@define
class Line:
    """A server: so many at once, the others behind them."""

    cores: int
    busy: float = 0
    longest_wait: float = 0
    _free: list[float] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        """Nobody is there yet."""
        self._free = [0.0] * self.cores

    @property
    def over(self) -> float:
        """When it has done all that came."""
        return max(self._free)

    def serve(self, now: float, seconds: float) -> float:
        """When it is done with what comes now."""
        begins = max(now, heapq.heappop(self._free))
        self.longest_wait = max(self.longest_wait, begins - now)
        self.busy += seconds
        heapq.heappush(self._free, begins + seconds)
        return begins + seconds


@define
class Came:
    """What a simulation came to."""

    sessions: int
    seconds: float
    busy: dict[str, float]  # the share of each server that was used
    longest_wait: dict[str, float]
    latest_renewal: float  # the worst of: since the last sign of life of a lock that is held
    most_at_once: int  # sessions
    overlaps: int = 0  # visits to a domain that had one, or whose delay was not over: must be none

    @property
    def rate(self) -> float:
        """Sessions a second."""
        return self.sessions / self.seconds

    @property
    def fullest(self) -> str:
        """The server that was used most."""
        return max(self.busy, key=lambda name: self.busy[name])


@define
class _Worker:
    """What a worker has in hand."""

    free: int  # slots
    turn: int = 0  # looks so far
    looks: bool = False
    ended: bool = False  # a session did, while it looked


@define
class Simulation:
    """Runs a fleet until all is done."""

    fleet: Fleet
    costs: Costs
    now: float = 0
    _events: list[tuple[float, int, Callable[[], None]]] = field(factory=list)
    _numbers: count[int] = field(factory=count)
    _waiting: deque[int] = field(factory=deque)  # domains that may be visited
    _left: dict[int, int] = field(factory=dict)
    _closed_until: dict[int, float] = field(factory=dict)
    _workers: list[_Worker] = field(factory=list)
    _at_work: int = 0
    _lines: dict[str, Line] = field(factory=dict)
    _came: Came = field(init=False)

    def run(self) -> Came:
        """Until no session is left."""
        fleet = self.fleet
        self._left = dict.fromkeys(range(fleet.domains), fleet.turns)
        self._waiting = deque(self._left)
        self._workers = [_Worker(fleet.slots) for _ in range(fleet.workers)]
        self._lines = {
            REDIS: Line(1), DATABASE: Line(fleet.database_cores), DISK: Line(1),
            **{f"{WORKERS} {number}": Line(1) for number in range(fleet.workers)},
        }  # fmt: skip
        self._came = Came(0, 0, {}, {}, 0, 0)
        for number in range(fleet.workers):  # not all of them look at the same moment
            share = number / fleet.workers
            self._at(share * fleet.look_seconds, partial(self._look, number))
            self._at(share * fleet.lock_ttl / 3, partial(self._beat, number, 0))
        while self._events:
            self.now, _, happens = heapq.heappop(self._events)
            happens()
        return self._summed_up()

    def _at(self, when: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._numbers), happens))

    def _look(self, worker: int) -> None:
        """Ask for work; one look at a time."""
        if not self._left:
            return
        state = self._workers[worker]
        state.turn, state.looks = state.turn + 1, True
        done = self._lines[DATABASE].serve(self.now, self.costs.look_cpu)
        done = max(done, self._lines[REDIS].serve(self.now, self.costs.look_redis))
        self._at(done, lambda: self._begin_free_ones(worker))

    def _begin_free_ones(self, worker: int) -> None:
        """Begin what is free; look again at once if a session ended meanwhile, or else in a second."""
        state = self._workers[worker]
        while state.free and self._waiting:
            domain = self._waiting.popleft()
            self._came.overlaps += self._closed_until.get(domain, 0) > self.now
            self._closed_until[domain] = float("inf")
            state.free -= 1
            self._at_work += 1
            self._go_on(self._session(worker, domain), self.now)
        self._came.most_at_once = max(self._came.most_at_once, self._at_work)
        state.looks = False
        if state.ended:
            state.ended = False
            self._look(worker)
            return
        turn = state.turn
        again = self.now + self.fleet.look_seconds
        self._at(again, lambda: self._look(worker) if state.turn == turn else None)

    def _beat(self, worker: int, last: float) -> None:
        """Renew what a worker holds, at a third of the lock's life, and see how late that was."""
        if not self._left:
            return
        state = self._workers[worker]
        held = self.fleet.slots - state.free + 1
        done = self._lines[REDIS].serve(self.now, held * self.costs.redis_cpu / 4)
        self._came.latest_renewal = max(self._came.latest_renewal, done - last)
        self._at(self.now + self.fleet.lock_ttl / 3, lambda: self._beat(worker, done))

    def _go_on(self, session: Generator[float], when: float) -> None:
        """Have a session take its next step then."""

        def step() -> None:
            wanted = next(session, None)
            if wanted is not None:
                self._go_on(session, wanted)

        self._at(when, step)

    def _session(self, worker: int, domain: int) -> Generator[float]:
        """Takes the domain, asks page after page, stores each; gives when each step is over."""
        costs, pages, lines = self.costs, self.costs.pages, self._lines
        yield lines[REDIS].serve(self.now, costs.redis_cpu / 2)
        for page in range(pages):
            yield self.now + (self.fleet.download_delay if page else 0) + costs.assumed_answer
            yield lines[f"{WORKERS} {worker}"].serve(self.now, costs.worker_cpu / pages)
            yield lines[DATABASE].serve(self.now, costs.database_cpu / pages)
            flush = costs.commit_seconds / self.fleet.group  # others' commits go with it
            yield lines[DISK].serve(self.now, flush * costs.commits / pages) + costs.commit_seconds
        yield lines[REDIS].serve(self.now, costs.redis_cpu / 2)
        self._end(worker, domain)

    def _end(self, worker: int, domain: int) -> None:
        """Free the slot; the domain may be visited again after its delay."""
        state = self._workers[worker]
        state.free += 1
        self._at_work -= 1
        self._came.sessions += 1
        self._closed_until[domain] = self.now + self.fleet.min_delay
        self._left[domain] -= 1
        if self._left[domain]:
            self._at(self.now + self.fleet.min_delay, lambda: self._waiting.append(domain))
        else:
            del self._left[domain]
        self._came.seconds = self.now
        if state.looks:
            state.ended = True
        else:
            self._look(worker)

    def _summed_up(self) -> Came:
        """How full each server was; of the workers the average."""
        came = self._came
        span = max(came.seconds, *(line.over for line in self._lines.values()))
        for name in (REDIS, DATABASE, DISK):
            line = self._lines.pop(name)
            came.busy[name] = line.busy / line.cores / span
            came.longest_wait[name] = line.longest_wait
        came.busy[WORKERS] = sum(line.busy for line in self._lines.values()) / len(self._lines) / span
        came.longest_wait[WORKERS] = max(line.longest_wait for line in self._lines.values())
        return came
