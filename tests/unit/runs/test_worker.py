"""A process's part of a run, at a desk that answers as it is told and on a real database."""

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
from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.models import Run, Task
from crawler.runs import worker as module
from crawler.runs.sources import Source
from crawler.runs.store import RunOrder, RunStore
from crawler.runs.worker import FAILED, FINISHED, STOPPED, RunWorker
from crawler.sessions.journal import Journal
from crawler.sessions.rows import Fence, SessionOrder
from crawler.sessions.visit import Visit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from crawler.config import Settings
    from crawler.runs.tasks import LeasedTask

STARTS = ("https://one.example/", "https://two.example/")
SOURCE = Source("shops", "Shops", STARTS, ("one.example", "two.example"))


@define
class Stores:
    """What a foreman takes from the desk's stores."""

    database: Database
    owner: str = "first"

    @property
    def book(self) -> Stores:
        """Whose owner it asks for."""
        return self


@define
class Visits:
    """Lets in whoever asks, unless it was told otherwise."""

    settings: Settings
    database: Database
    answer: Callable[[str], float | None] = lambda _domain: 0  # seconds to wait; None: it is busy
    begun: list[str] = field(factory=list)
    ended: list[str] = field(factory=list)
    visits: dict[str, Visit] = field(factory=dict)
    told: list[dict[str, Any]] = field(factory=list)
    listeners: tuple[object, ...] = ("somebody",)

    async def open(self) -> Stores:
        """They are open."""
        return Stores(self.database)

    async def begin_if_free(self, order: SessionOrder) -> Visit | None:
        """A visit, after what `answer` says."""
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
    monkeypatch.setattr("crawler.runs.patience.PATIENCE_SECONDS", (0.01, 0.01))


@pytest.fixture
def desk(tmp_path: Path, sqlite_database: str, _quickly: None) -> Iterator[Visits]:
    """With a database of its own, and no wait between tries."""
    database = Database(sqlite_database)
    given = {"VITRINE_HOME": str(tmp_path), "DATABASE_URL": "", "TASK_BACKOFF_MIN_SECONDS": "0"}
    yield Visits(load_settings(given), database)
    database.close()


def at_work(desk: Visits, work: Callable[[RunWorker], Awaitable[None]]) -> tuple[RunWorker, str]:
    """Open a run, do something, close it: the foreman and the run's status."""

    async def main() -> tuple[RunWorker, str]:
        foreman = RunWorker(desk, at_once=1, wake=lambda: None)  # type: ignore[arg-type]
        await foreman.open(RunOrder(SOURCE))
        async with asyncio.timeout(20):
            try:
                await work(foreman)
            finally:
                status = await foreman.close()
        return foreman, status

    # pytest-twisted's loop runs in this thread
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()


async def until(condition: Callable[[], object]) -> None:
    """Wait for it."""
    while not condition():  # ruff: ignore[async-busy-wait] - nothing tells of it
        await asyncio.sleep(0.005)


async def next_of(foreman: RunWorker) -> LeasedTask:
    """The next task, as soon as there is one."""
    while (duty := foreman.take()) is None:  # ruff: ignore[async-busy-wait] - the engine is told, not we
        await asyncio.sleep(0.005)
    return duty[1]


def rows(desk: Visits) -> list[Task]:
    """The tasks as they stand."""
    with desk.database.read() as db:
        return list(db.scalars(select(Task).order_by(Task.id)))


def test_a_run_ends_when_all_is_done(desk: Visits) -> None:
    """Domains take turns; each is visited and left; people are told how it stands."""

    async def work(foreman: RunWorker) -> None:
        await until(lambda: all(lane.ready for lane in foreman.lanes.values()) and len(foreman.lanes) == 2)
        tasks = [await next_of(foreman), await next_of(foreman)]
        assert {task.domain for task in tasks} == {"one.example", "two.example"}
        for task in tasks:
            foreman.arrived(task)
            await foreman.finish(task, "stored")
        await until(lambda: foreman.over)

    foreman, status = at_work(desk, work)
    assert (status, foreman.over, dict(foreman.done)) == ("completed", FINISHED, {"stored": 2})
    assert sorted(desk.begun) == sorted(desk.ended) == ["one.example", "two.example"]
    assert desk.told[0]["waiting"] == 2
    assert all(event["event"] == "tasks" for event in desk.told)


def test_a_stop_gives_back_what_was_not_begun(desk: Visits) -> None:
    """And waits for what was: its end is written before the run's."""

    async def work(foreman: RunWorker) -> None:
        task = await next_of(foreman)
        await until(lambda: len(foreman.lanes) == 2)
        foreman.soon(task, foreman.finish(task, "stored"))

    foreman, status = at_work(desk, work)
    assert (status, foreman.over) == ("stopped", STOPPED)
    assert sorted((row.status, row.attempts) for row in rows(desk)) == [("finished", 1), ("pending", 0)]


def test_a_wish_to_stop_is_heard(desk: Visits) -> None:
    """Whoever had it."""

    async def work(foreman: RunWorker) -> None:
        await until(lambda: foreman.lanes)
        with desk.database.write() as db:
            db.scalars(select(Run)).one().stop_requested_at = desk.database.now(db)
        await until(lambda: foreman.over)

    foreman, status = at_work(desk, work)
    assert (status, foreman.over) == ("stopped", STOPPED)


def test_without_any_domain_for_long_the_run_fails(desk: Visits) -> None:
    """Its last error says what kept it; an answer in between, even `busy`, begins the wait anew."""
    begun = time.monotonic()

    def answer(_domain: str) -> None:
        if time.monotonic() - begun < 0.4:
            return
        raise GateUnavailableError("Redis does not answer")

    desk.answer = answer

    async def work(foreman: RunWorker) -> None:
        await until(lambda: foreman.over)

    foreman, status = at_work(desk, work)
    assert (status, foreman.over) == ("failed", FAILED)
    assert time.monotonic() - begun > 0.7
    with desk.database.read() as db:
        assert db.scalars(select(Run.last_error)).one() == "GateUnavailableError: Redis does not answer"


def test_a_gate_that_is_away_does_not_stop_what_is_under_way(desk: Visits) -> None:
    """As long as one domain is at work, the others wait."""

    def answer(domain: str) -> float:
        if domain == "two.example":
            raise GateUnavailableError("Redis does not answer")
        return 0

    desk.answer = answer

    async def work(foreman: RunWorker) -> None:
        task = await next_of(foreman)
        await asyncio.sleep(0.5)
        assert foreman.over is None
        desk.answer = lambda _domain: 0
        foreman.arrived(task)
        await foreman.finish(task, "stored")
        other = await next_of(foreman)
        await foreman.finish(other, "stored")
        await until(lambda: foreman.over)

    assert at_work(desk, work)[1] == "completed"


def test_a_stop_does_not_wait_for_a_domains_delay(desk: Visits) -> None:
    """A site may have asked for minutes."""
    desk.answer = lambda _domain: 600

    async def work(foreman: RunWorker) -> None:
        await until(lambda: len(foreman._knocking) == 2)

    begun = time.monotonic()
    assert at_work(desk, work)[1] == "stopped"
    assert time.monotonic() - begun < 10


def test_a_visit_that_was_ended_gives_its_domain_back(desk: Visits) -> None:
    """As when its lock was lost: what it had leased is taken by the next visit."""

    async def work(foreman: RunWorker) -> None:
        await until(lambda: len(foreman.lanes) == 2 and all(lane.ready for lane in foreman.lanes.values()))
        desk.visits["one.example"].wake()
        await until(lambda: desk.ended == ["one.example"])
        await until(lambda: desk.begun.count("one.example") == 2)
        await until(lambda: len(foreman.lanes) == 2 and all(lane.ready for lane in foreman.lanes.values()))

    at_work(desk, work)
    assert [row.attempts for row in rows(desk)] == [0, 0]


def test_only_what_nobody_works_on_is_swept(desk: Visits) -> None:
    """Not what lies ready, nor what is just being written."""

    async def work(foreman: RunWorker) -> None:
        ending, lost = await next_of(foreman), await next_of(foreman)
        foreman.soon(ending, foreman.finish(ending, "stored"))
        foreman.sweep()
        foreman.sweep()
        await until(lambda: foreman.done.total() == 2)
        assert dict(foreman.done) == {"stored": 1, "retried": 1}
        assert lost.lease.id not in foreman._ending

    at_work(desk, work)


def test_a_store_that_takes_no_page_ends_the_run(desk: Visits) -> None:
    """So many in a row are not the pages' fault; one that is stored in between shows that it works."""

    async def work(foreman: RunWorker) -> None:
        task = await next_of(foreman)
        for _ in range(module.MOST_UNSTORED - 1):
            assert not foreman.not_stored("disk full")
        foreman.stored(task, "stored", new_links=False)
        assert [foreman.not_stored("disk full") for _ in range(module.MOST_UNSTORED)][-1]
        assert foreman.over == FAILED

    assert at_work(desk, work)[1] == "failed"


def test_a_database_that_is_away_for_long_ends_the_run(desk: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some looks in vain."""

    async def work(foreman: RunWorker) -> None:
        def fail(*_: object) -> None:
            raise OSError("no database")

        monkeypatch.setattr(RunStore, "view", fail)
        await until(lambda: foreman.over)

    foreman, status = at_work(desk, work)
    assert (foreman.over, status) == (FAILED, "failed")
    with desk.database.read() as db:
        assert db.scalars(select(Run.last_error)).one() == "OSError: no database"
