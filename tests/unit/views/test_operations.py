"""How the whole is doing: what waits, since when, and how much is kept; in numbers that add up."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from crawler.views.operations import DAYS_SHOWN, Queue, gauges, operations
from tests.unit.archive.written import a_file, index
from tests.unit.views.rows import a_job, a_page, a_run, a_session, a_step, a_task, an_artifact

if TYPE_CHECKING:
    from crawler.db.engine import Database

HOUR = timedelta(hours=1)


def queues(database: Database) -> dict[str, Queue]:
    """By their kinds."""
    with database.read() as db:
        return {each.kind: each for each in gauges(db).queues}


def test_where_nothing_is_nothing_waits(database: Database) -> None:
    """Zeros, and no worker that could be silent."""
    with database.read() as db:
        found = operations(db)
    assert all(not (each.waiting or each.at_work or each.expired) for each in found.queues)
    assert (found.worker_silence_seconds, found.storage, found.attention) == (None, [], [])
    assert found.captures_by_day == [0] * DAYS_SHOWN


def test_sessions_wait_and_work_and_are_missed(database: Database) -> None:
    """The oldest says how long."""
    with database.write() as db:
        now = db.now
        fresh = {"heartbeat_at": now, "alive_until": now + HOUR}
        silent = {"heartbeat_at": now - 9 * HOUR, "alive_until": now - 8 * HOUR}
        db.add(a_session(status="queued", created_at=now - 2 * HOUR, started_at=None, finished_at=None))
        db.add(a_session(status="queued", created_at=now - HOUR, started_at=None, finished_at=None))
        for more in (fresh, silent):
            db.add(a_session(status="running", started_at=now - 3 * HOUR, finished_at=None, **more))
    found = queues(database)["session"]
    assert (found.waiting, found.at_work, found.expired) == (2, 2, 1)
    assert round(found.oldest_wait_seconds / 3600) == 2
    assert round(found.oldest_lease_seconds / 3600) == 3
    with database.read() as db:
        silence = gauges(db).worker_silence_seconds
    assert silence is not None
    assert round(silence / 3600) == 9


def test_tasks_of_runs_that_go_on(database: Database) -> None:
    """What a stopped one has left waits for nobody; what rests is not late."""
    with database.write() as db:
        now = db.now
        going, stopped = a_run(), a_run(status="stopped")
        db.add_all((going, stopped))
        db.flush()
        db.add(a_task(going.id, "a", next_run_at=now - HOUR))
        db.add(a_task(going.id, "b", next_run_at=now + 9 * HOUR))
        db.add(a_task(going.id, "c", status="in_progress", begun_at=now - HOUR, lease_expires_at=now - HOUR))
        db.add(a_task(stopped.id, "d", next_run_at=now - 9 * HOUR))
    found = queues(database)["task"]
    assert (found.waiting, found.at_work, found.expired) == (2, 1, 1)
    assert round(found.oldest_wait_seconds / 3600) == 1


def test_a_job_whose_worker_is_gone_is_missed(database: Database) -> None:
    """Whatever its row says."""
    with database.write() as db:
        job = a_job(status="running")
        db.add(job)
        db.flush()
        db.add(a_step(job.id, status="in_progress", lease_owner="x", lease_expires_at=db.now - HOUR))
    found = queues(database)["job_step"]
    assert (found.at_work, found.expired) == (1, 1)


def test_what_is_kept(database: Database) -> None:
    """By type; what was deleted is not there."""
    with database.write() as db:
        session = a_session()
        db.add(session)
        db.flush()
        page = a_page(session.id)
        db.add(page)
        for size, gone in ((100, None), (50, None), (7, db.now)):
            db.add(an_artifact(session.id, size_bytes=size, deleted_at=gone))
        for state, size in (("sealed", 5), ("sealed", 6), ("open", 0)):
            a_file(db, state=state, size_bytes=size)
    with database.read() as db:
        found = gauges(db)
    assert [(each.type, each.files, each.bytes) for each in found.storage] == [("html_gz", 2, 150)]
    assert {(each.state, each.files, each.bytes) for each in found.warc_files} == {
        ("sealed", 2, 11),
        ("open", 1, 0),
    }


def test_captures_of_the_last_days(database: Database) -> None:
    """Today is the last; a day begins with its first moment."""
    with database.read() as db:
        today = db.now.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = (
        today,
        today - timedelta(microseconds=1),
        today - timedelta(days=1),
        today - DAYS_SHOWN * 24 * HOUR,
    )
    index(database, *({"at": at} for at in moments))
    with database.read() as db:
        found = operations(db).captures_by_day
    assert (found[-1], found[-2], sum(found), len(found)) == (1, 2, 3, DAYS_SHOWN)
