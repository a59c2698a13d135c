"""A run from its first worker to its last (SPEC D77, D86, D94-98)."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.db.engine import Database
from crawler.db.models import RunWorker, ScrapeRecord
from crawler.errors import NotFoundError
from crawler.runs import rows, tasks
from crawler.runs.rows import RunStatus
from tests.unit.runs.queues import NOON, SECOND, Queue, a_run, page

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from datetime import datetime

    from crawler.db.models import Run

SOON, LATER = NOON + 10 * SECOND, NOON + 60 * SECOND


@pytest.fixture
def on_postgresql(postgres_database: str) -> Generator[Database]:
    """Where several transactions write at once."""
    opened = Database(postgres_database)
    yield opened
    opened.close()


def create(database: Database, source: str = "shop") -> int:
    """A run that has yet to start."""
    with database.write() as db:
        return rows.create(db, source, {"depth": 3}, max_pages=10, now=NOON)


def load(database: Database, run_id: int) -> Run:
    """The run as it stands."""
    with database.read() as db:
        return rows.find(db, str(run_id))


def join(database: Database, run_id: int, *owners: str, until: datetime = LATER) -> None:
    """Have workers join."""
    with database.write() as db:
        assert all(rows.join(db, run_id, owner, until) for owner in owners)


def written(database: Database, act: Callable[..., bool], *arguments: object, **more: object) -> bool:
    """What an act on a run says, in a transaction of its own."""
    with database.write() as db:
        return act(db, *arguments, **more)


# ── made and found ──


def test_a_run_is_made_and_started_once(database: Database) -> None:
    """Its plan is kept as it was when it was made."""
    run_id = create(database)
    run = load(database, run_id)
    assert (run.status, run.source, run.plan, run.max_pages) == ("initialized", "shop", {"depth": 3}, 10)
    assert (run.created_at, run.started_at, run.completed_at) == (NOON, None, None)
    assert written(database, rows.start, run_id, SOON)
    assert not written(database, rows.start, run_id, LATER)
    run = load(database, run_id)
    assert (run.status, run.started_at) == ("running", SOON)


def test_a_run_is_found_by_its_id_or_its_source(database: Database) -> None:
    """The newest of the source; what is not there is told."""
    first, second = create(database), create(database)
    with database.read() as db:
        assert rows.find(db, str(first)).id == first
        assert rows.find(db, "shop").id == second
        for given in ("999999", "9" * 40, "elsewhere", "", "-1", "²"):
            with pytest.raises(NotFoundError, match="there is no run"):
                rows.find(db, given)


def test_what_is_unknown_is_told(database: Database) -> None:
    """Instead of doing nothing."""
    with database.write() as db, pytest.raises(NotFoundError, match="there is no run 999"):
        rows.request_stop(db, 999, NOON)


@pytest.mark.parametrize("status", RunStatus)
def test_the_newest_run_that_is_not_over_can_be_resumed(database: Database, status: RunStatus) -> None:
    """SPEC D98: whichever was not completed; of the source that is asked for."""
    older = create(database)
    newest = create(database)
    create(database, "elsewhere")
    with database.write() as db:
        rows.find(db, str(newest)).status = status
    with database.read() as db:
        found = rows.resumable(db, "shop")
        assert rows.resumable(db, "nowhere") is None
    assert found
    assert found.id == (older if status == RunStatus.COMPLETED else newest)


def test_a_listed_run_says_whether_anybody_is_at_it(database: Database) -> None:
    """One that is running, and has no living worker, was left by a crash."""
    left, alive, new = a_run(database), a_run(database), create(database, "other")
    join(database, left, "dead", until=SOON)
    join(database, alive, "one", "two")
    with database.read() as db:
        listed = [(listed.run.id, listed.workers) for listed in rows.listing(db, SOON, limit=9)]
        assert listed == [(new, 0), (alive, 2), (left, 0)]
        assert [each.run.id for each in rows.listing(db, SOON, limit=1, source="shop")] == [alive]
        assert rows.living_workers(db, alive, SOON) == ["one", "two"]


# ── at work ──


def test_a_worker_lives_as_long_as_it_says_so(database: Database) -> None:
    """It joins, beats, falls silent; joining twice is no mistake."""
    run_id = a_run(database)
    join(database, run_id, "one", "one", until=SOON)
    with database.read() as db:
        assert rows.living_workers(db, run_id, SOON - SECOND) == ["one"]
        assert rows.living_workers(db, run_id, SOON) == []
    assert written(database, rows.beat, run_id, "one", LATER)
    assert not written(database, rows.beat, run_id, "two", LATER)
    with database.write() as db:
        assert rows.living_workers(db, run_id, SOON) == ["one"]
        rows.leave(db, run_id, "one")
        assert rows.living_workers(db, run_id, SOON) == []


def test_nobody_joins_a_run_that_is_not_running(database: Database) -> None:
    """It has not begun, or it is over."""
    run_id = create(database)
    assert not written(database, rows.join, run_id, "one", LATER)
    written(database, rows.start, run_id, NOON)
    assert written(database, rows.join, run_id, "one", LATER)
    assert written(database, rows.stop, run_id, "one", NOON)
    assert not written(database, rows.join, run_id, "one", LATER)


# ── drained ──


def test_a_drained_run_is_completed(database: Database) -> None:
    """SPEC D77, D95: when nothing is pending and nothing in progress, and only then."""
    queue = Queue(database, a_run(database, page(1)))
    assert not written(database, rows.end_if_drained, queue.run_id, NOON)
    [lease] = queue.acquire()
    assert not written(database, rows.end_if_drained, queue.run_id, NOON)
    queue.finish(lease)
    assert written(database, rows.end_if_drained, queue.run_id, SOON)
    assert not written(database, rows.end_if_drained, queue.run_id, LATER)
    run = load(database, queue.run_id)
    assert (run.status, run.completed_at) == ("completed", SOON)


def test_a_run_whose_tasks_were_all_given_up_ends_too(database: Database) -> None:
    """SPEC D74."""
    queue = Queue(database, a_run(database, page(1)))
    queue.fail(queue.acquire()[0], final=True)
    assert written(database, rows.end_if_drained, queue.run_id, SOON)


def test_a_run_that_is_to_stop_is_never_completed(database: Database) -> None:
    """SPEC D95: although nothing was left to do."""
    run_id = a_run(database)
    join(database, run_id, "one")
    written(database, rows.request_stop, run_id, NOON)
    assert not written(database, rows.end_if_drained, run_id, SOON)
    assert written(database, rows.stop, run_id, "one", SOON)
    assert load(database, run_id).status == "stopped"


def test_one_of_several_workers_ends_the_run(on_postgresql: Database) -> None:
    """However many look at the same moment."""
    database = on_postgresql
    run_id = a_run(database)
    at_once = threading.Barrier(4)
    ended: list[bool] = []

    def look() -> None:
        at_once.wait()
        ended.append(written(database, rows.end_if_drained, run_id, NOON))

    workers = [threading.Thread(target=look) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(ended) == [False, False, False, True]


def test_a_run_does_not_end_while_somebody_adds_to_it(on_postgresql: Database) -> None:
    """Who would end it waits for who has the news, and then sees it."""
    database = on_postgresql
    run_id = a_run(database)
    said: list[bool] = []
    ender = threading.Thread(target=lambda: said.append(written(database, rows.end_if_drained, run_id, NOON)))
    with database.write() as db:
        tasks.add(db, run_id, [page(1)], NOON)
        ender.start()
        ender.join(0.3)
        assert ender.is_alive()
    ender.join()
    assert said == [False]
    assert load(database, run_id).status == "running"


# ── stopped, failed, gone on with ──


def test_the_last_worker_stops_the_run(database: Database) -> None:
    """SPEC D94, D97: with the time of its end; until then others go on."""
    run_id = a_run(database)
    join(database, run_id, "one", "two")
    join(database, run_id, "dead", until=SOON)
    assert not written(database, rows.stop, run_id, "one", SOON)
    assert load(database, run_id).status == "running"
    assert written(database, rows.stop, run_id, "two", SOON)
    run = load(database, run_id)
    assert (run.status, run.completed_at) == ("stopped", SOON)
    assert not written(database, rows.stop, run_id, "two", LATER)


def test_two_who_stop_at_once_stop_the_run(on_postgresql: Database) -> None:
    """Neither leaves it to the other."""
    database = on_postgresql
    for turn in range(10):
        run_id = a_run(database)
        join(database, run_id, "one", "two")
        at_once = threading.Barrier(2)
        said: list[bool] = []

        def leave(owner: str, run_id: int, at_once: threading.Barrier, said: list[bool]) -> None:
            at_once.wait()
            said.append(written(database, rows.stop, run_id, owner, NOON))

        workers = [threading.Thread(target=leave, args=(o, run_id, at_once, said)) for o in ("one", "two")]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(said) == [False, True], turn
        assert load(database, run_id).status == "stopped"


def test_workers_are_asked_to_stop(database: Database) -> None:
    """They see it, and the first time of asking is kept."""
    run_id = a_run(database)
    join(database, run_id, "one")
    with database.read() as db:
        assert not rows.is_stop_requested(db, run_id)
    assert written(database, rows.request_stop, run_id, NOON)
    assert written(database, rows.request_stop, run_id, SOON)
    with database.read() as db:
        assert rows.is_stop_requested(db, run_id)
        assert rows.status_of(db, run_id) == RunStatus.RUNNING
    assert load(database, run_id).stop_requested_at == NOON


@pytest.mark.parametrize("is_started", [False, True])
def test_a_run_that_nobody_is_at_stops_when_asked(database: Database, *, is_started: bool) -> None:
    """There is nobody who would see the wish."""
    run_id = a_run(database) if is_started else create(database)
    assert written(database, rows.request_stop, run_id, SOON)
    run = load(database, run_id)
    assert (run.status, run.completed_at) == ("stopped", SOON)
    assert not written(database, rows.request_stop, run_id, LATER)


def test_a_stop_gives_back_what_dead_workers_hold(database: Database) -> None:
    """SPEC D96: at once, not when their leases have run out; and the run's end is on record."""
    queue = Queue(database, a_run(database, page(1), page(2)))
    queue.acquire(owner="dead", limit=1)
    join(database, queue.run_id, "dead", until=SOON)
    assert written(database, rows.request_stop, queue.run_id, LATER)
    run = load(database, queue.run_id)
    assert (run.status, run.completed_at) == ("stopped", LATER)
    assert [(task.status, task.attempts) for task in queue.rows()] == [("pending", 0)] * 2
    [record] = run_records(database)
    assert (record.subject_id, record.status, record.timestamp) == (str(run.id), "stopped", LATER)
    assert record.details["tasks"] == {"pending": 2, "in_progress": 0, "finished": 0, "error": 0}


def test_a_stop_leaves_the_living_what_they_have(database: Database) -> None:
    """They give it back themselves, and end the run; the dead count no more."""
    queue = Queue(database, a_run(database, page(1), page(2)))
    queue.acquire(owner="dead", limit=1)
    queue.acquire(owner="alive", limit=1)
    join(database, queue.run_id, "dead", until=SOON)
    join(database, queue.run_id, "alive")
    assert written(database, rows.request_stop, queue.run_id, SOON)
    assert load(database, queue.run_id).status == "running"
    assert [task.status for task in queue.rows()] == ["pending", "in_progress"]
    assert not run_records(database)


def test_a_worker_whose_process_is_gone_is_dead_at_once(database: Database) -> None:
    """On its own machine that can be seen, however long it said that it would live."""
    queue = Queue(database, a_run(database, page(1)))
    queue.acquire(owner="killed")
    with database.write() as db:
        db.add(RunWorker(run_id=queue.run_id, owner="killed", alive_until=LATER, process=gone()))
    with database.read() as db:
        assert rows.living_workers(db, queue.run_id, NOON) == []
    assert written(database, rows.request_stop, queue.run_id, NOON)
    assert load(database, queue.run_id).status == "stopped"
    assert [task.status for task in queue.rows()] == ["pending"]


def gone() -> str:
    """The mark of a process of this machine that has ended."""
    show = "from crawler.access.process import this_process; print(this_process())"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def run_records(database: Database) -> list[ScrapeRecord]:
    """What is on record of runs."""
    with database.read() as db:
        return list(db.scalars(select(ScrapeRecord).where(ScrapeRecord.kind == "run")))


def test_a_failure_ends_the_run_of_the_last_worker(database: Database) -> None:
    """With its reason; while others are at it, it goes on."""
    run_id = a_run(database)
    join(database, run_id, "one", "two")
    assert not written(database, rows.fail, run_id, "one", SOON, error="disk full")
    assert written(database, rows.fail, run_id, "two", SOON, error="disk\0full")
    run = load(database, run_id)
    assert (run.status, run.completed_at) == ("failed", SOON)
    assert run.last_error == "disk\N{REPLACEMENT CHARACTER}full"


@pytest.mark.parametrize("end", ["stop", "fail"])
def test_an_ended_run_goes_on_where_it_was(database: Database, end: str) -> None:
    """As if it had not ended; its first start is kept."""
    run_id = a_run(database, page(1))
    join(database, run_id, "one")
    written(database, rows.request_stop, run_id, NOON)
    if end == "stop":
        written(database, rows.stop, run_id, "one", SOON)
    else:
        written(database, rows.fail, run_id, "one", SOON, error="disk full")
    assert written(database, rows.reopen, run_id, LATER)
    run = load(database, run_id)
    assert (run.status, run.started_at, run.completed_at) == ("running", NOON, None)
    assert (run.stop_requested_at, run.last_error) == (None, None)


def test_a_run_that_was_left_goes_on(database: Database) -> None:
    """SPEC D86: its workers died, perhaps after somebody had wished it to stop; what they held comes back."""
    queue = Queue(database, a_run(database, page(1)))
    join(database, queue.run_id, "dead", until=SOON)
    written(database, rows.request_stop, queue.run_id, NOON)
    [lost] = queue.acquire(owner="dead")
    assert written(database, rows.reopen, queue.run_id, LATER)
    join(database, queue.run_id, "one", until=LATER + SECOND)
    with database.read() as db:
        assert not rows.is_stop_requested(db, queue.run_id)
        assert rows.living_workers(db, queue.run_id, NOON) == ["one"]
    assert queue.acquire(LATER) == []
    [again] = queue.acquire(LATER + SECOND)
    assert again.id == lost.id


def test_a_run_at_work_is_joined_as_it_is(database: Database) -> None:
    """A wish to stop it is not lost by a second worker's coming."""
    run_id = a_run(database)
    join(database, run_id, "one")
    written(database, rows.request_stop, run_id, NOON)
    assert written(database, rows.reopen, run_id, SOON)
    with database.read() as db:
        assert rows.is_stop_requested(db, run_id)


def test_a_completed_run_is_over(database: Database) -> None:
    """It is neither reopened nor stopped; one that has not begun is started instead."""
    run_id = a_run(database)
    written(database, rows.end_if_drained, run_id, NOON)
    assert not written(database, rows.reopen, run_id, SOON)
    assert not written(database, rows.request_stop, run_id, SOON)
    assert load(database, run_id).status == "completed"
    assert not written(database, rows.reopen, create(database), SOON)
