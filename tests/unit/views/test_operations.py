"""How the whole is doing: what waits, since when, and how much is kept; in numbers that add up."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from crawler.views.operations import DAYS_SHOWN, Gauges, gauges, operations
from tests.unit.archive.written import a_file, index
from tests.unit.views.rows import HOUR, a_page, a_run, a_session, a_task, an_artifact

if TYPE_CHECKING:
    from crawler.db.engine import Database


def measured(database: Database) -> Gauges:
    """What the metrics say now."""
    with database.read() as db:
        return gauges(db)


def hours(seconds: float | None) -> int:
    """Whole hours."""
    assert seconds is not None
    return round(seconds / 3600)


def test_sessions_that_wait_work_and_are_missed_are_counted(database: Database) -> None:
    """With the age of the oldest; where there is none nothing waits, and no worker is silent."""
    empty = measured(database)
    assert not any(each.waiting or each.at_work or each.expired for each in empty.queues)
    assert (empty.worker_silence_seconds, empty.storage) == (None, [])
    with database.write() as db:
        now = db.now
        fresh = {"heartbeat_at": now, "alive_until": now + HOUR}
        silent = {"heartbeat_at": now - 9 * HOUR, "alive_until": now - 8 * HOUR}
        db.add(a_session(status="queued", created_at=now - 2 * HOUR, started_at=None, finished_at=None))
        db.add(a_session(status="queued", created_at=now - HOUR, started_at=None, finished_at=None))
        for more in (fresh, silent):
            db.add(a_session(status="running", started_at=now - 3 * HOUR, finished_at=None, **more))
    found = measured(database)
    queue = {each.kind: each for each in found.queues}["session"]
    assert (queue.waiting, queue.at_work, queue.expired) == (2, 2, 1)
    assert (hours(queue.oldest_wait_seconds), hours(queue.oldest_lease_seconds)) == (2, 3)
    assert hours(found.worker_silence_seconds) == 9


def test_the_tasks_of_running_runs_are_counted(database: Database) -> None:
    """What a stopped run has left waits for nobody; a task that is due later is not late."""
    with database.write() as db:
        now = db.now
        going, stopped = a_run(), a_run(status="stopped")
        db.add_all((going, stopped))
        db.flush()
        db.add(a_task(going.id, "a", next_run_at=now - HOUR))
        db.add(a_task(going.id, "b", next_run_at=now + 9 * HOUR))
        db.add(a_task(going.id, "c", status="in_progress", begun_at=now - HOUR, lease_expires_at=now - HOUR))
        db.add(a_task(stopped.id, "d", next_run_at=now - 9 * HOUR))
    queue = {each.kind: each for each in measured(database).queues}["task"]
    assert (queue.waiting, queue.at_work, queue.expired) == (2, 1, 1)
    assert hours(queue.oldest_wait_seconds) == 1


def test_what_is_kept_is_counted_by_type(database: Database) -> None:
    """What was deleted is not there."""
    with database.write() as db:
        session = a_session()
        db.add(session)
        db.flush()
        db.add(a_page(session.id))
        for size, gone in ((100, None), (50, None), (7, db.now)):
            db.add(an_artifact(session.id, size_bytes=size, deleted_at=gone))
        for state, size in (("sealed", 5), ("sealed", 6), ("open", 0)):
            a_file(db, state=state, size_bytes=size)
    found = measured(database)
    assert [(each.type, each.files, each.bytes) for each in found.storage] == [("html_gz", 2, 150)]
    warcs = {(each.state, each.files, each.bytes) for each in found.warc_files}
    assert warcs == {("sealed", 2, 11), ("open", 1, 0)}


def test_captures_are_counted_by_day(database: Database) -> None:
    """Today is the last; a day begins with its first moment."""
    with database.read() as db:
        today = db.now.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = (today, today - timedelta(microseconds=1), today - 24 * HOUR, today - DAYS_SHOWN * 24 * HOUR)
    index(database, *({"at": at} for at in moments))
    with database.read() as db:
        found = operations(db).captures_by_day
    assert (found[-1], found[-2], sum(found), len(found)) == (1, 2, 3, DAYS_SHOWN)
