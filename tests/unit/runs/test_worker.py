"""A process's part of a run, with visits that begin as they are told and on a real database."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from attrs import define, field
from sqlalchemy import select

from crawler.access.gate import GateUnavailableError
from crawler.capture.failures import Cause
from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.models import Run, Task
from crawler.leases.backoff import Backoff
from crawler.leases.patience import Patience
from crawler.runs import domain_slot
from crawler.runs import worker as module
from crawler.runs.domain_slot import FAILED, FINISHED, INTERRUPTED, STOPPED
from crawler.runs.sources import Source
from crawler.runs.store import RunOrder, RunStore
from crawler.runs.task_ends import TaskEnd, TaskOutcome
from crawler.runs.worker import LOOKED_BACK_SECONDS, Pace, RunWorker, Standing
from crawler.sessions.journal import Journal
from crawler.sessions.rows import Fence, SessionOrder
from crawler.sessions.visit import Visit
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from crawler.config import Settings
    from crawler.runs.tasks import LeasedTask
    from crawler.sessions.writes import Write

PATIENCE_SECONDS = 0.5
LONG_SECONDS = 3600  # nobody waits for it
STARTS = ("https://one.example/", "https://two.example/")
SOURCE = Source("shops", "Shops", STARTS, ("one.example", "two.example"))


@define
class Stores:
    """What a worker takes from the stores of visits."""

    database: Database
    owner: str = "first"
    is_away: bool = False
    grows_seconds: float = 0.01

    @property
    def sessions(self) -> Stores:
        """Whose owner it asks for."""
        return self

    @property
    def writes(self) -> Stores:
        """Where it writes."""
        return self

    async def post(self, write: Write[Any]) -> Any:
        """Write by itself, at once."""
        with self.database.write() as db:
            write.wrote(write.write_rows(db))
        return write.result


@define
class Visits:
    """Lets in whoever asks, unless it was told otherwise."""

    settings: Settings
    database: Database
    answer: Callable[[str], float | None] = lambda _domain: 0  # seconds to wait; None: it is busy
    away: bool = False
    asked: set[str] = field(factory=set)
    begun: list[str] = field(factory=list)
    ended: list[str] = field(factory=list)
    visits: dict[str, Visit] = field(factory=dict)
    told: list[dict[str, Any]] = field(factory=list)
    delays: dict[str, float] = field(factory=dict)  # that sites asked for, by domain
    listeners: tuple[object, ...] = ("somebody",)
    patience: Patience = field(factory=lambda: Patience(PATIENCE_SECONDS, Backoff(0.01, maximum=0.1)))

    @property
    def stores(self) -> Stores:
        """Once they are open."""
        return Stores(self.database, is_away=self.away)

    async def open(self) -> Stores:
        """They are open."""
        return self.stores

    async def long_delay(self, domain: str) -> float:
        """As long as it was told."""
        return self.delays.get(domain, 0)

    async def begin_if_free(self, order: SessionOrder) -> Visit | None:
        """A visit, after what `answer` says."""
        self.asked.add(order.domain)
        wait = self.answer(order.domain)
        if wait is None:
            return None
        await asyncio.sleep(wait)
        self.begun.append(order.domain)
        session_id = uuid4()
        visit = Visit(Fence(session_id, "first", 1), order, Journal(str(session_id), order.domain))
        self.visits[order.domain] = visit
        return visit

    async def end(self, visit: Visit) -> None:
        """It is over."""
        self.ended.append(visit.order.domain)

    def tell(self, event: str, **fields: Any) -> None:
        """Remember it."""
        self.told.append({"event": event, **fields})


@pytest.fixture
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.02)
    monkeypatch.setattr(module, "GATE_PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr(domain_slot, "LOOK_SECONDS", 0.02)


@pytest.fixture
def visits(tmp_path: Path, sqlite_database: str, _quickly: None) -> Iterator[Visits]:
    """With a database of its own, and no wait between tries."""
    database = Database(sqlite_database)
    quick = {"TASK_BACKOFF_MIN_SECONDS": "0", "TASK_JITTER_SECONDS": "0"}
    given = {"VITRINE_HOME": str(tmp_path), "DATABASE_URL": "", **quick}
    yield Visits(load_settings(given), database)
    database.close()


def at_work(visits: Visits, work: Callable[[RunWorker], Awaitable[None]]) -> tuple[RunWorker, str]:
    """Open a run, do something, close it: the worker and the run's status."""

    async def main() -> tuple[RunWorker, str]:
        worker = RunWorker(visits, at_once=1, wake=lambda: None)  # type: ignore[arg-type]
        await worker.open(RunOrder(SOURCE))
        async with asyncio.timeout(120):
            try:
                await work(worker)
            finally:
                status = await worker.close()
        return worker, status

    # pytest-twisted's loop runs in this thread
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()


async def both_begun(worker: RunWorker) -> None:
    """Wait until both domains are visited and have a task each."""
    await until(lambda: len(worker.slots) == 2 and all(slot.line.open for slot in worker.slots.values()))


async def next_of(worker: RunWorker) -> LeasedTask:
    """The next task, as soon as there is one."""
    while (duty := worker.take()) is None:  # ruff: ignore[async-busy-wait] - the engine is told, not we
        await asyncio.sleep(0.005)
    return duty[1]


def rows(visits: Visits) -> list[Task]:
    """The tasks as they stand."""
    with visits.database.read() as db:
        return list(db.scalars(select(Task).order_by(Task.id)))


def test_a_run_ends_when_all_is_done(visits: Visits) -> None:
    """Domains take turns; each is visited and left; people are told how it stands."""

    async def work(worker: RunWorker) -> None:
        await both_begun(worker)
        tasks = [await next_of(worker), await next_of(worker)]
        assert {task.domain for task in tasks} == {"one.example", "two.example"}
        for task in tasks:
            worker.arrived(task)
            await worker.end_task(task, TaskEnd())
        await until(lambda: worker.over)

    worker, status = at_work(visits, work)
    assert (status, worker.over, dict(worker.done)) == ("completed", FINISHED, {"stored": 2})
    assert sorted(visits.begun) == sorted(visits.ended) == ["one.example", "two.example"]
    assert visits.told[0]["waiting"] == 2
    assert all(event["event"] == "tasks" for event in visits.told)


def test_a_domain_whose_delay_is_long_takes_no_place(visits: Visits) -> None:
    """Others are visited meanwhile, with one place for all; its own turn comes when the delay is over."""
    visits.settings = visits.settings.model_copy(update={"sessions_at_once": 1})
    visits.delays["one.example"] = 0.2

    async def work(worker: RunWorker) -> None:
        task = await next_of(worker)
        assert task.domain == "two.example"
        await worker.end_task(task, TaskEnd())
        visits.delays.clear()
        await worker.end_task(await next_of(worker), TaskEnd())
        await until(lambda: worker.over)

    _worker, status = at_work(visits, work)
    assert (status, visits.begun) == ("completed", ["two.example", "one.example"])


def test_a_stop_gives_back_what_was_not_begun(visits: Visits) -> None:
    """And waits for what was: its end is written before the run's."""

    async def work(worker: RunWorker) -> None:
        task = await next_of(worker)
        await until(lambda: len(worker.slots) == 2)
        worker.end_soon(task, TaskEnd())

    worker, status = at_work(visits, work)
    assert (status, worker.over) == ("stopped", INTERRUPTED)
    assert sorted((row.status, row.attempts, row.last_error) for row in rows(visits)) == [
        ("finished", 1, None), ("pending", 0, "interrupted"),
    ]  # fmt: skip


def test_a_wish_to_stop_is_heard(visits: Visits) -> None:
    """Whoever had it; what goes back says so (SPEC D88)."""

    async def work(worker: RunWorker) -> None:
        await both_begun(worker)
        with visits.database.write() as db:
            db.scalars(select(Run)).one().stop_requested_at = db.now
        await until(lambda: worker.over)

    worker, status = at_work(visits, work)
    assert (status, worker.over) == ("stopped", STOPPED)
    assert [(row.status, row.attempts, row.last_error) for row in rows(visits)] == [
        ("pending", 0, "stopped")
    ] * 2


def test_without_any_domain_for_long_the_run_fails(visits: Visits) -> None:
    """Its last error says what kept it; an answer, even `busy`, lets it wait as long as a lock lives."""
    visits.settings = visits.settings.model_copy(update={"domain_lock_ttl_seconds": 1})
    begun = time.monotonic()

    def answer(_domain: str) -> None:
        if time.monotonic() - begun < 0.4:
            return
        raise GateUnavailableError("Redis does not answer")

    visits.answer = answer

    async def work(worker: RunWorker) -> None:
        await until(lambda: worker.over)

    worker, status = at_work(visits, work)
    assert worker.over
    assert (status, worker.over.why) == ("failed", FAILED.why)
    assert time.monotonic() - begun > 1.4
    with visits.database.read() as db:
        assert db.scalars(select(Run.last_error)).one() == "GateUnavailableError: Redis does not answer"


def test_a_gate_that_is_away_does_not_stop_what_is_under_way(visits: Visits) -> None:
    """As long as one domain is at work, the others wait."""

    def answer(domain: str) -> float:
        if domain == "two.example":
            raise GateUnavailableError("Redis does not answer")
        return 0

    visits.answer = answer

    async def work(worker: RunWorker) -> None:
        task = await next_of(worker)
        await asyncio.sleep(0.5)
        assert worker.over is None
        visits.answer = lambda _domain: 0
        worker.arrived(task)
        await worker.end_task(task, TaskEnd())
        other = await next_of(worker)
        await worker.end_task(other, TaskEnd())
        await until(lambda: worker.over)

    assert at_work(visits, work)[1] == "completed"


def test_a_stop_does_not_wait_for_a_domains_delay(visits: Visits) -> None:
    """A site may have asked for minutes."""
    visits.answer = lambda _domain: 600

    async def work(worker: RunWorker) -> None:
        await until(lambda: visits.asked >= {"one.example", "two.example"})

    begun = time.monotonic()
    assert at_work(visits, work)[1] == "stopped"
    assert time.monotonic() - begun < 300


def test_a_visit_that_was_ended_gives_its_domain_back(visits: Visits) -> None:
    """As when its lock was lost: what it had leased is taken by the next visit."""

    async def work(worker: RunWorker) -> None:
        await both_begun(worker)
        visits.visits["one.example"].wake()
        await until(lambda: visits.ended == ["one.example"])
        assert rows(visits)[0].last_error == "left"
        await until(lambda: visits.begun.count("one.example") == 2)
        await both_begun(worker)

    at_work(visits, work)
    assert [row.attempts for row in rows(visits)] == [0, 0]


def test_a_domain_that_had_its_turn_makes_room_where_others_wait(
    visits: Visits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nowhere else: one that nobody waits for is worked on to its end."""
    monkeypatch.setattr(module, "TURN_SECONDS", 0.2)
    visits.settings = visits.settings.model_copy(update={"sessions_at_once": 1})

    async def work(worker: RunWorker) -> None:
        first = await next_of(worker)
        await until(lambda: worker.slots[first.domain].is_leaving)
        worker.arrived(first)
        await worker.end_task(first, TaskEnd())
        second = await next_of(worker)
        assert {first.domain, second.domain} == {"one.example", "two.example"}
        await asyncio.sleep(1)
        assert not worker.slots[second.domain].is_leaving
        await worker.end_task(second, TaskEnd())
        await until(lambda: worker.over)

    assert at_work(visits, work)[1] == "completed"


def test_only_what_nobody_works_on_is_swept(visits: Visits) -> None:
    """Not what lies ready, nor what is just being written."""

    async def work(worker: RunWorker) -> None:
        ending, _lost = await next_of(worker), await next_of(worker)
        worker.end_soon(ending, TaskEnd())
        worker.sweep()
        worker.sweep()
        await until(lambda: worker.done.total() == 2)
        assert dict(worker.done) == {"stored": 1, "retried": 1}
        assert not any(slot.ending for slot in worker.slots.values())

    at_work(visits, work)


async def refuse_one(worker: RunWorker) -> None:
    """A task goes out, and the store does not take its page."""
    task = await next_of(worker)
    worker.arrived(task)
    given_back = worker.done["given_back"]
    worker.store_refused(task, "disk full")
    await until(lambda: worker.done["given_back"] > given_back)


def test_a_store_that_takes_no_page_ends_the_run(visits: Visits) -> None:
    """That is never the page's fault: no attempt is counted, from the first page on."""

    async def work(worker: RunWorker) -> None:
        worker.visits.patience.seconds = LONG_SECONDS
        for _ in range(9):
            await refuse_one(worker)
        assert not worker.over
        for refused in worker.outgoing.refused:
            worker.outgoing.refused[refused] -= LONG_SECONDS
        while not worker.over:
            await refuse_one(worker)

    worker, status = at_work(visits, work)
    assert worker.over
    assert (worker.over.why, status) == (FAILED.why, "failed")
    assert [(row.status, row.attempts, row.last_error) for row in rows(visits)] == [
        ("pending", 0, "interrupted"), ("pending", 0, "interrupted"),
    ]  # fmt: skip
    with visits.database.read() as db:
        assert db.scalars(select(Run.last_error)).one() == "disk full"


def test_a_fault_of_the_store_that_passes_costs_nothing(visits: Visits) -> None:
    """The page is stored by its next attempt, which is its first."""

    async def work(worker: RunWorker) -> None:
        await both_begun(worker)
        await refuse_one(worker)
        await worker.end_task(await next_of(worker), TaskEnd())
        again = await next_of(worker)
        await worker.end_task(again, TaskEnd())
        worker.stored(again, TaskOutcome.STORED)
        await until(lambda: worker.over)

    worker, status = at_work(visits, work)
    assert (worker.over, status, worker.outgoing.refused) == (FINISHED, "completed", {})
    assert [(row.status, row.attempts) for row in rows(visits)] == [("finished", 1)] * 2


def test_an_end_that_cannot_be_written_costs_no_attempt(
    visits: Visits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task goes back with the end of the run, when the store is there again."""

    async def work(worker: RunWorker) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError("no database")

        task = await next_of(worker)
        with monkeypatch.context() as patch:
            patch.setattr(RunStore, "end_task", fail)
            await worker.end_task(task, TaskEnd(Cause.TIMEOUT, "too slow"))
        assert worker.done == {"lost": 1}

    assert at_work(visits, work)[1] == "stopped"
    assert [(row.status, row.attempts, row.cause) for row in rows(visits)] == [("pending", 0, None)] * 2


def test_a_database_that_is_away_for_long_ends_the_run(
    visits: Visits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some looks in vain."""

    async def work(worker: RunWorker) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError("no database")

        monkeypatch.setattr(RunStore, "view", fail)
        await until(lambda: worker.over)

    worker, status = at_work(visits, work)
    assert worker.over
    assert (worker.over.why, status) == (FAILED.why, "failed")
    with visits.database.read() as db:
        assert db.scalars(select(Run.last_error)).one() == "OSError: no database"


def test_the_rate_is_that_of_the_last_half_minute() -> None:
    """Failures are ends too; one look makes no rate, and a run that stands still has no end in sight."""
    pace, counts = Pace(), {"pending": 100, "in_progress": 0, "finished": 0, "error": 0, "refused": 0}
    assert pace.note(counts, 0.0) == Standing(0, 0, 0, 100, 0.0, None)
    counts |= {"pending": 90, "finished": 8, "error": 2}
    standing = pace.note(counts, 5.0)
    assert (standing.rate, standing.seconds_left) == (2.0, 45.0)
    assert pace.note(counts, 5.0 + LOOKED_BACK_SECONDS).seconds_left is None
    standing = pace.note(counts | {"pending": 60, "finished": 38}, 15.0 + LOOKED_BACK_SECONDS)
    assert (standing.rate, standing.seconds_left) == (3.0, 20.0)
