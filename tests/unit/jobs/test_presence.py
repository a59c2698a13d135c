"""Operators can see whether a worker of jobs runs, also while it has nothing to do."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from crawler.db.models import JobStep, JobWorker
from crawler.jobs import presence
from crawler.jobs.presence import Presence, running, workers_at
from crawler.jobs.worker import Worker

if TYPE_CHECKING:
    import pytest

    from crawler.db.engine import Database
    from tests.unit.jobs.conftest import Bench


def workers(database: Database) -> int:
    """How many run."""
    with database.read() as db:
        return workers_at(db, db.now)


def test_an_idle_worker_is_seen_until_it_ends(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks for a job, however far these are apart; not those that look once."""
    worker, seen = Worker(bench.database, bench.settings), []

    def looks() -> bool:
        seen.append(workers(bench.database))
        worker.stopping.set()
        return False

    monkeypatch.setattr(worker, "work_once", looks)
    worker.run(poll_interval=3600, once=False)
    worker.stopping.clear()
    worker.run(poll_interval=3600, once=True)
    assert (seen, workers(bench.database)) == ([1, 0], 0)


def test_a_worker_at_a_job_counts_once(bench: Bench) -> None:
    """By its lease and by its row; without either there is none."""
    bench.order()
    work = Worker(bench.database, bench.settings).steps.acquire()
    assert work is not None
    assert workers(bench.database) == 1
    Presence(bench.database, 30).tell()
    assert workers(bench.database) == 1
    with bench.database.write() as db:
        db.execute(update(JobStep).values(process="elsewhere|||7|"))
    assert workers(bench.database) == 2


def test_who_was_killed_is_not_there(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here at once, elsewhere when its time is over; the next worker forgets it."""
    Presence(bench.database, 30).tell()
    with bench.database.write() as db:
        db.execute(update(JobWorker).values(process="killed"))
        assert len(running(db, db.now)) == 1
        assert running(db, db.now + timedelta(minutes=5)) == []
    monkeypatch.setattr(presence, "is_gone", lambda process: process == "killed")
    assert workers(bench.database) == 0
    Presence(bench.database, 30).tell()
    with bench.database.read() as db:
        assert "killed" not in set(db.scalars(select(JobWorker.process)))
