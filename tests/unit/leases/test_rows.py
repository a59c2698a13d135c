"""Leases on SQLite and PostgreSQL: who may write for a thing, how long, how often (SPEC D72-88)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar
from uuid import UUID

import pytest
from attrs import evolve
from sqlalchemy import select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from crawler.db.engine import Database
from crawler.db.models.leased import Leased
from crawler.db.types import UtcTime
from crawler.leases.rows import Leases
from crawler.leases.rules import LeaseRules
from tests.unit.runs.queues import NOON, SECOND, Queue, a_run, page, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from crawler.db.models import Task
    from crawler.leases.rows import Lease

LEASE, DEADLINE = 30 * SECOND, 600 * SECOND
MOMENT = SECOND / 1_000_000


@pytest.fixture
def queue(database: Database) -> Queue:
    """A run of three tasks."""
    return Queue(database, a_run(database, page(1), page(2), page(3)))


@pytest.fixture
def on_postgresql(postgres_database: str) -> Generator[Queue]:
    """The same where several transactions write at once."""
    database = Database(postgres_database)
    yield Queue(database, a_run(database, page(1), page(2), page(3)))
    database.close()


def stand(task: Task) -> tuple[object, ...]:
    """What a task says of itself, its times of writing apart."""
    return task.status, task.attempts, task.lease_epoch, task.lease_owner, task.last_error


def test_a_lease_has_an_owner_an_end_and_a_number(queue: Queue) -> None:
    """SPEC D81; the attempt is counted when it is begun, not when it is leased, and once."""
    [lease] = queue.acquire(limit=1)
    task = queue.rows()[0]
    assert stand(task) == ("in_progress", 0, 1, "one", None)
    assert [queue.begin([lease]), queue.begin([lease])] == [{lease.id}] * 2
    assert queue.rows()[0].attempts == 1
    assert (task.lease_expires_at, task.lease_deadline_at) == (NOON + LEASE, NOON + DEADLINE)
    assert (lease.id, lease.owner, lease.epoch, lease.attempts) == (task.id, "one", 1, 1)


def test_clauses_narrow_what_is_leased_and_what_is_freed(queue: Queue) -> None:
    """Another run's tasks are neither taken nor put back."""
    other = Queue(queue.database, a_run(queue.database, page(1)))
    assert len(other.acquire()) == 1
    assert len(queue.acquire(NOON + LEASE)) == 3
    assert other.rows()[0].status == "in_progress"


class Jobs(DeclarativeBase):
    """Tables that are no part of the program."""

    type_annotation_map: ClassVar = {datetime: UtcTime}


class Job(Leased, Jobs):
    """Something else that goes out on loan."""

    __tablename__ = "lease_test_jobs"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


def test_any_table_can_be_leased_from(database: Database) -> None:
    """One discipline, whatever is on loan."""
    Jobs.metadata.create_all(database.engine)
    with database.write() as db:
        db.add_all(Job(name=name, next_run_at=NOON, updated_at=NOON) for name in ("first", "second"))
    leases = Leases(Job, LeaseRules())
    with database.write() as db:
        [(row, lease)] = leases.acquire(db, owner="one", now=NOON, limit=1)
        assert (row["name"], row["attempts"], row["last_error"]) == ("first", 1, None)
        assert leases.renew(db, [lease], NOON) == {lease.id}
        assert leases.fail(db, lease, "no answer", NOON) == "pending"
        assert [row["name"] for row, _ in leases.acquire(db, owner="one", now=NOON, limit=9)] == ["second"]
        [(row, again)] = leases.acquire(db, owner="one", now=NOON + 2 * SECOND, limit=9)
        assert (row["name"], row["attempts"], row["last_error"]) == ("first", 2, "no answer")
        assert leases.finish(db, again, NOON)
        # Not leased ahead: a lease is an attempt, and who dies has died of it.
        for attempts in (1, 2):
            leases.reclaim(db, now=NOON + 9 * attempts * LEASE)
            [(row, _)] = leases.acquire(db, owner="one", now=NOON + 9 * attempts * LEASE + SECOND, limit=9)
            assert (row["name"], row["attempts"]) == ("second", attempts + 1)
        leases.reclaim(db, now=NOON + 99 * LEASE)
    with database.read() as db:
        assert [job.status for job in db.scalars(select(Job).order_by(Job.id))] == ["finished", "error"]


def test_a_lease_ends_at_the_moment_it_expires(queue: Queue) -> None:
    """SPEC D82: equality counts."""
    queue.acquire()
    queue.acquire(NOON + LEASE - MOMENT, owner="two", limit=0)
    assert {task.status for task in queue.rows()} == {"in_progress"}
    queue.acquire(NOON + LEASE, owner="two", limit=0)
    assert {task.status for task in queue.rows()} == {"pending"}


def test_what_was_only_leased_when_its_worker_died_costs_nothing(queue: Queue) -> None:
    """SPEC D83, D85, D86: the next one who asks frees it, without anybody's help, and has it, as if new."""
    [lease] = queue.acquire(limit=1)
    for round_ in range(1, 9):
        now = NOON + round_ * LEASE
        queue.acquire(now, owner="two", limit=0)
        task = queue.rows()[0]
        assert stand(task) == ("pending", 0, round_, None, "lease expired")
        assert (task.lease_expires_at, task.lease_deadline_at) == (None, None)
        [again] = queue.acquire(now, owner="two", limit=1)
        assert (again.id, again.owner, again.epoch) == (lease.id, "two", round_ + 1)
        assert (again.attempts, again.is_suspect) == (1, False)


def test_what_was_out_with_others_when_its_worker_died_is_a_suspect(queue: Queue) -> None:
    """SPEC D85: which of them it was nobody knows, so none is charged; each is known for the next time."""
    leases = queue.acquire()
    queue.begin(leases[:2])
    queue.acquire(NOON + LEASE, owner="two", limit=0)
    assert [(task.status, task.attempts, task.deaths) for task in queue.rows()] == [
        ("pending", 0, 1), ("pending", 0, 1), ("pending", 0, 0),
    ]  # fmt: skip
    again = queue.acquire(NOON + LEASE)
    assert [(lease.attempts, lease.is_suspect) for lease in again] == [(1, True), (1, True), (1, False)]
    queue.begin(again[:1])
    assert queue.fail(again[0], NOON + LEASE) == "pending"  # said by a worker that lives
    assert queue.release(again[1:], NOON + LEASE) == 2
    assert [(task.attempts, task.deaths) for task in queue.rows()] == [(1, 0), (0, 1), (0, 0)]


def test_what_kills_its_workers_alone_is_given_up(queue: Queue) -> None:
    """SPEC D87: each such attempt counts although nobody lived to say that it failed; then it rests."""
    now, stood = NOON + SECOND / 2, []  # a fraction shows how a time is stored
    for _ in range(4):
        [lease] = queue.acquire(now, limit=1)
        queue.begin([lease])
        now += LEASE
        queue.acquire(now, limit=0)
        stood.append(stand(queue.rows()[0])[:2])
        assert queue.rows()[0].next_run_at == now + (SECOND if queue.rows()[0].attempts else 0 * SECOND)
        now += SECOND
    assert stood == [("pending", 0), ("pending", 1), ("pending", 2), ("error", 3)]
    assert queue.rows()[0].finished_at == now - SECOND
    assert [lease.id for lease in queue.acquire(now + 999 * SECOND)] == [row.id for row in queue.rows()[1:]]


def test_no_renewal_passes_the_deadline(queue: Queue) -> None:
    """A worker that hangs, and whose process goes on renewing, loses the task all the same."""
    leases = queue.acquire()
    queue.renew(leases, NOON + DEADLINE - SECOND)
    assert queue.rows()[0].lease_expires_at == NOON + DEADLINE
    assert queue.renew(leases, NOON + DEADLINE) == set()
    assert queue.renew(leases, NOON + DEADLINE + SECOND) == set()
    queue.acquire(NOON + DEADLINE, owner="two", limit=0)
    assert queue.rows()[0].status == "pending"


def test_many_leases_of_several_owners_are_renewed_at_once(database: Database) -> None:
    """More than fit into one statement."""
    queue = Queue(database, a_run(database, *map(page, range(1_200))))
    leases = queue.acquire(limit=700) + queue.acquire(owner="two", limit=700)
    assert queue.renew(leases, NOON + SECOND) == {lease.id for lease in leases}
    assert {task.lease_expires_at for task in queue.rows()} == {NOON + SECOND + LEASE}
    assert queue.release(leases) == 1_200


def test_a_finished_task_says_what_came_of_it(queue: Queue) -> None:
    """And nothing of its lease."""
    [lease] = queue.acquire(limit=1)
    page_id = UUID(int=7)
    assert queue.finish(lease, NOON + SECOND, outcome="stored", page_id=page_id)
    task = queue.rows()[0]
    assert stand(task) == ("finished", 1, 1, None, None)
    assert (task.outcome, task.page_id, task.finished_at) == ("stored", page_id, NOON + SECOND)
    assert (task.lease_expires_at, task.lease_deadline_at) == (None, None)


def test_a_task_that_keeps_failing_is_given_up(database: Database) -> None:
    """SPEC D72-74: after so many attempts, each after a longer rest, with a message that helps."""
    queue = Queue(database, a_run(database, page(1)), LeaseRules(max_attempts=4))
    now, rests, ends = NOON, [], []
    for _ in range(4):
        [lease] = queue.acquire(now)
        ends.append(queue.fail(lease, now))
        rests.append((queue.rows()[0].next_run_at - now) / SECOND)
        now = queue.rows()[0].next_run_at
    assert ends == ["pending", "pending", "pending", "error"]
    assert rests[:3] == [1, 2, 4]
    assert stand(queue.rows()[0]) == ("error", 4, 4, None, "no answer")
    assert queue.acquire(now + 999 * SECOND) == []


def test_any_message_can_be_stored(queue: Queue) -> None:
    """A site writes part of it, with bytes that PostgreSQL does not take."""
    [lease] = queue.acquire(limit=1)
    with queue.database.write() as db:
        queue.leases.fail(db, lease, "\0\ud800" + 9_999 * "é", NOON)
    stored = queue.rows()[0].last_error
    assert stored
    assert stored.startswith("\N{REPLACEMENT CHARACTER}?éé")
    assert len(stored) == 1_000


def test_what_is_put_back_is_due_at_once_and_costs_no_attempt(queue: Queue) -> None:
    """SPEC D88, D96: somebody else takes it now; who had it may not write for it any more."""
    leases = queue.acquire()
    queue.begin(leases[:1])
    assert queue.release(leases[:2], NOON + SECOND) == 2
    assert [stand(task) for task in queue.rows()[:2]] == [("pending", 0, 1, None, "stopped")] * 2
    again = queue.acquire(NOON + SECOND, owner="two")
    assert [(lease.epoch, lease.attempts) for lease in again] == [(2, 1), (2, 1)]
    assert queue.release(leases, NOON + SECOND) == 1
    assert not queue.finish(leases[0])


WRITES: dict[str, Callable[[Queue, Lease], object]] = {
    "finish": lambda queue, lease: queue.finish(lease, outcome="stored"),
    "fail": lambda queue, lease: queue.fail(lease),
    "give up": lambda queue, lease: queue.fail(lease, final=True),
    "renew": lambda queue, lease: queue.renew([lease], NOON + SECOND),
    "release": lambda queue, lease: queue.release([lease]),
}


@pytest.mark.parametrize(("owner", "epoch"), [("two", 1), ("one", 0), ("one", 2)])
def test_a_write_without_the_right_changes_nothing(queue: Queue, owner: str, epoch: int) -> None:
    """Neither another owner's nor another epoch's."""
    [lease] = queue.acquire(limit=1)
    before = queue.rows()[0]
    for name, write in WRITES.items():
        assert not write(queue, evolve(lease, owner=owner, epoch=epoch)), name
    after = queue.rows()[0]
    assert stand(after) == stand(before)
    assert (after.updated_at, after.lease_expires_at) == (before.updated_at, before.lease_expires_at)


@pytest.mark.parametrize("owner", ["one", "two"])
def test_a_process_that_was_only_slow_changes_nothing(queue: Queue, owner: str) -> None:
    """Its task is somebody's again: another's, or its own under a new number."""
    [slow] = queue.acquire(limit=1)
    now = NOON + LEASE
    queue.acquire(now, limit=0)
    [quick] = queue.acquire(now + SECOND, owner=owner, limit=1)
    assert quick.id == slow.id
    for name, write in WRITES.items():
        assert not write(queue, slow), name
    assert queue.finish(quick, now + SECOND)


@pytest.mark.parametrize("end", ["finish", "fail", "give up", "release"])
def test_a_lease_that_ended_stays_ended(queue: Queue, end: str) -> None:
    """A second word about the same lease is not heard."""
    [lease] = queue.acquire(limit=1)
    assert WRITES[end](queue, lease)
    before = stand(queue.rows()[0])
    for name, write in WRITES.items():
        assert not write(queue, lease), name
    assert stand(queue.rows()[0]) == before


def test_no_task_is_handed_out_twice(database: Database) -> None:
    """Three empty a queue side by side; each task was leased once and finished once."""
    run_id = a_run(database, *map(page, range(300)))

    def work(owner: str) -> int:
        own = Database(database.url.render_as_string(hide_password=False))
        queue, done = Queue(own, run_id), 0
        while leases := queue.acquire(owner=owner, limit=7):
            assert all(queue.finish(lease) for lease in leases)
            done += len(leases)
        own.close()
        return done

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(work, ("one", "two", "three"))) == 300
    rows = rows_of(database, run_id)
    assert {(row.status, row.attempts, row.lease_epoch) for row in rows} == {("finished", 1, 1)}


def test_renewing_waits_for_nobody(on_postgresql: Queue) -> None:
    """What is being finished counts as ours until it is: so the two never block each other."""
    queue = on_postgresql
    leases = queue.acquire()
    with queue.database.write() as db:
        assert queue.leases.finish(db, leases[1], NOON)
        assert queue.renew(leases, NOON + SECOND) == {lease.id for lease in leases}
    assert queue.renew(leases, NOON + SECOND) == {leases[0].id, leases[2].id}


def test_leasing_passes_over_what_is_being_written(on_postgresql: Queue) -> None:
    """Neither what another one leases just now, nor what its owner finishes at the last moment."""
    queue = on_postgresql
    [late] = queue.acquire(limit=1)
    now = NOON + LEASE
    with queue.database.write() as db:
        assert queue.leases.finish(db, late, now)
        assert len(queue.leases.acquire(db, owner="one", now=now, limit=1)) == 1
        assert len(queue.acquire(now, owner="two")) == 1
    assert [task.status for task in queue.rows()] == ["finished", "in_progress", "in_progress"]
