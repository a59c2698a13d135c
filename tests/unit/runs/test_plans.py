"""What a crawl asks all the time is answered by an index: what it costs does not grow with the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, text

from crawler.runs import store, tasks
from tests.unit.runs.queues import DOMAIN, NOON, Queue, a_run, page

if TYPE_CHECKING:
    from crawler.db.engine import Database

PENDING = 5_000  # enough that a planner who knows them would rather not read them all
TO_LEASE = 10
GROWS = ("SCAN tasks", "TEMP B-TREE FOR ORDER BY", "Seq Scan on tasks", "Sort Key: tasks", "Semi Join")


def plans_of(database: Database, statement: str, parameters: Any, cursor: Any) -> list[str]:
    """How the database goes about a statement."""
    how = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
    cursor.execute(how + statement, parameters)
    return [str(row[-1]) for row in cursor.fetchall()]


@pytest.fixture
def queue(database: Database) -> Queue:
    """A run of many tasks."""
    return Queue(database, a_run(database, *map(page, range(PENDING))))


def tidied(database: Database) -> None:
    """The database knows the sizes of its tables, as it does after a while."""
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


@pytest.mark.parametrize("is_tidied", [False, True], ids=["new", "analysed"])
def test_nothing_reads_or_sorts_the_whole_run(queue: Queue, *, is_tidied: bool) -> None:
    """Neither before a database has counted its rows, nor after."""
    database, run_id, leases = queue.database, queue.run_id, queue.leases
    if is_tidied:
        tidied(database)
    found: list[str] = []

    def explain(connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if " tasks" in statement:
            plan = plans_of(database, statement, parameters, connection.connection.cursor())
            found.extend(line.strip() for line in plan if any(sign in line for sign in GROWS))

    event.listen(database.engine, "before_cursor_execute", explain)
    with database.write() as db:
        taken, _ = tasks.lease(db, leases, run_id, DOMAIN, owner="one", now=NOON, limit=TO_LEASE)
        first, *rest = [task.lease for task in taken]
        leases.renew(db, [first, *rest], NOON)
        leases.release(db, rest, "stopped", NOON)
        leases.finish(db, first, NOON)
        tasks.waiting_domains(db, run_id, NOON)
        tasks.domain_due_at(db, run_id, DOMAIN)
        tasks.known(db, run_id, "digest")
        store.end_if_drained(db, run_id, NOON)
    event.remove(database.engine, "before_cursor_execute", explain)
    assert found == []
