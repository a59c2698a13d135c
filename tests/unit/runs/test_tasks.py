"""A run's tasks: found once, limited, leased by domain, counted (SPEC D74-89)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from crawler.db.engine import Database
from crawler.db.models import Run, RunDomain, Task
from crawler.leases.rules import LeaseRules
from crawler.runs import tasks
from tests.unit.runs.queues import NOON, SECOND, Queue, a_run, page

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime

    from crawler.runs.tasks import LeasedTask, NewTask


@pytest.fixture
def on_postgresql(postgres_database: str) -> Generator[Database]:
    """Where several transactions write at once."""
    opened = Database(postgres_database)
    yield opened
    opened.close()


def add(database: Database, run_id: int, *pages: NewTask) -> int:
    """Add pages to a run."""
    with database.write() as db:
        return tasks.add(db, run_id, pages, NOON)


def lease(queue: Queue, domain: str, now: datetime = NOON, limit: int = 10) -> list[LeasedTask]:
    """Lease tasks of a domain."""
    with queue.database.write() as db:
        found, _ = tasks.lease(db, queue.leases, queue.run_id, domain, owner="one", now=now, limit=limit)
    return found


def waiting(queue: Queue, now: datetime = NOON, **which: Any) -> list[str]:
    """The domains with something to do."""
    with queue.database.read() as db:
        return tasks.waiting_domains(db, queue.run_id, now, **which)


def counts(queue: Queue) -> tuple[int, ...]:
    """Pending, in progress, finished, given up."""
    with queue.database.read() as db:
        found = tasks.counts(db, queue.run_id)
    return found["pending"], found["in_progress"], found["finished"], found["error"]


def planned(database: Database, run_id: int) -> int:
    """What the run itself counts."""
    with database.read() as db:
        return db.scalars(select(Run.planned).where(Run.id == run_id)).one()


def test_a_page_is_found_once(database: Database) -> None:
    """SPEC D88: a duplicate is ignored, within a call and between calls, whatever its URL looks like."""
    run_id = a_run(database)
    twin = tasks.NewTask("https://shop.example/1?twin", "shop.example", page(1).url_sha256)
    assert add(database, run_id, page(1), page(2), twin) == 2
    assert add(database, run_id, twin, page(2)) == 0
    assert add(database, run_id, page(2), page(3)) == 1
    rows = Queue(database, run_id).rows()
    assert [row.url for row in rows] == [page(number).url for number in (1, 2, 3)]
    assert planned(database, run_id) == 3


def test_a_run_takes_no_more_than_its_limit(database: Database) -> None:
    """In the order given; what it has already takes no room."""
    run_id = a_run(database, max_pages=4)
    assert add(database, run_id, page(1), page(2)) == 2
    assert add(database, run_id, page(2), page(3), page(1), page(4), page(5)) == 2
    assert add(database, run_id, page(6), page(7, "other.example")) == 0
    assert [row.url for row in Queue(database, run_id).rows()] == [page(n).url for n in (1, 2, 3, 4)]
    assert planned(database, run_id) == 4
    with database.read() as db:
        assert db.scalars(select(RunDomain.domain)).all() == ["shop.example"]


def test_processes_that_find_the_same_pages_do_not_block_each_other(on_postgresql: Database) -> None:
    """Each commits several pages at once, with links in another order; the limit holds over all of them."""
    database = on_postgresql
    run_id = a_run(database, max_pages=150)
    pages = [page(number) for number in range(200)]
    added: list[int] = []

    def find(turn: int) -> None:
        for begin in range(0, 200, 20):
            mine = [pages[(begin * turn + n * (2 * turn + 1)) % 200] for n in range(20)]
            with database.write() as db:
                added.append(sum(tasks.add(db, run_id, mine[n : n + 5], NOON) for n in range(0, 20, 5)))

    finders = [threading.Thread(target=find, args=(turn,)) for turn in range(4)]
    for finder in finders:
        finder.start()
    for finder in finders:
        finder.join()
    assert len(added) == 40
    assert sum(added) == planned(database, run_id) == len(Queue(database, run_id).rows()) == 150


def test_domains_wait_while_they_have_something_due(database: Database) -> None:
    """Something pending and due, or a lease that has expired; nothing else."""
    queue = Queue(database, a_run(database, *(page(1, f"{name}.example") for name in "abcd")))
    [finished], [resting], _ = (lease(queue, f"{name}.example") for name in "abc")
    queue.finish(finished.lease)
    assert queue.fail(resting.lease) == "pending"
    assert waiting(queue) == ["d.example"]
    assert waiting(queue, NOON + SECOND) == ["b.example", "d.example"]
    # What expired comes first: it has waited for longest.
    assert waiting(queue, NOON + LeaseRules().lease) == ["c.example", "b.example", "d.example"]


def test_the_next_time_is_that_of_a_rest_or_a_lease(database: Database) -> None:
    """So that who finds nothing to do in a domain knows when to look again."""
    pages = [page(1), page(2), page(3, "other.example")]
    queue = Queue(database, a_run(database, *pages), LeaseRules(backoff_min_seconds=7))

    def next_time(domain: str = "shop.example") -> datetime | None:
        with database.read() as db:
            return tasks.domain_due_at(db, queue.run_id, domain)

    assert next_time() == NOON
    first, second = (task.lease for task in lease(queue, "shop.example"))
    assert next_time() == NOON + LeaseRules().lease
    queue.fail(first)
    assert next_time() == NOON + 7 * SECOND
    queue.finish(second)
    [again] = lease(queue, "shop.example", NOON + 7 * SECOND)
    queue.finish(again.lease)
    assert next_time() is None
    assert next_time("other.example") == NOON


def test_a_run_is_drained_when_nothing_is_left_to_do(database: Database) -> None:
    """SPEC D77: what was given up does not keep it (SPEC D74); what rests, or is held, does."""
    queue = Queue(database, a_run(database, page(1), page(2)))

    def is_drained() -> bool:
        with database.read() as db:
            return tasks.is_drained(db, queue.run_id)

    assert not is_drained()
    first, second = queue.acquire()
    queue.fail(first, final=True)
    assert not is_drained()
    queue.fail(second)
    assert not is_drained()
    queue.finish(queue.acquire(NOON + SECOND)[0])
    assert is_drained()


def test_refusals_are_counted_apart(database: Database) -> None:
    """They are errors of tasks, and no failures."""
    queue = Queue(database, a_run(database, *map(page, range(3))))
    for lease, cause in zip(queue.acquire(limit=3), ("robots_refused", "filtered", "timeout"), strict=True):
        queue.fail(lease, final=True)
        with database.write() as db:
            db.connection().execute(update(Task).where(Task.id == lease.id).values(cause=cause))
    with database.read() as db:
        assert (tasks.counts(db, queue.run_id)["error"], tasks.refused(db, queue.run_id)) == (3, 2)


def test_a_url_is_one_page_however_it_is_written() -> None:
    """Its identity is its canonical form; the task keeps what was found."""
    one, other = (
        tasks.task_of("https://www.shop.example:443/a?b=1#c"),
        tasks.task_of("https://www.shop.example/a?b=1"),
    )
    assert one.url_sha256 == other.url_sha256
    assert one.domain == other.domain == "shop.example"
    assert tasks.task_of("https://shop.example/a?b=2").url_sha256 != one.url_sha256
