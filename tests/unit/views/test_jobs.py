"""Jobs as every list, count and page shows them, and what an operator has to look at."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from crawler.access.process import this_process
from crawler.clock import utc_now
from crawler.db.models import Job
from crawler.views import job_snapshots, jobs
from crawler.views.attention import attention, of_job
from crawler.views.operations import gauges
from crawler.views.paging import Wanted
from tests.unit.archive.written import NOON, SHOP, a_file, a_record, index
from tests.unit.views import rows
from tests.unit.views.rows import HOUR, NOW, THEN, a_step

if TYPE_CHECKING:
    from crawler.db.engine import Database

GONE = "|".join((*this_process().split("|")[:3], "999999999", ""))
AT_WORK = {"status": "in_progress", "lease_owner": "me", "lease_expires_at": NOW + HOUR}


def a_job(database: Database, status: str, step: dict[str, Any] | None = None, **columns: Any) -> int:
    """Store a job with a step, or without one."""
    with database.write() as db:
        job = rows.a_job(status=status, **columns)
        db.add(job)
        db.flush()
        if step is not None:
            db.add(a_step(job.id, **step))
        return job.id


def shown(database: Database, key: int) -> jobs.JobDocument:
    """Return the job's document."""
    with database.read() as db:
        return jobs.shown(db, db.get_one(Job, key), NOW)


@pytest.mark.parametrize(
    ("status", "step", "said", "worker"),
    [
        ("running", AT_WORK, "running", "me"),
        ("running", {**AT_WORK, "process": this_process()}, "running", "me"),
        ("running", {**AT_WORK, "process": GONE}, "retryable", None),
        ("running", {**AT_WORK, "lease_expires_at": NOW}, "retryable", None),
        ("running", {**AT_WORK, "lease_expires_at": None}, "retryable", None),
        ("indexing", {**AT_WORK, "lease_expires_at": THEN}, "completed", None),
        ("running", None, "retryable", None),
        ("queued", {}, "queued", None),
        ("indexed", {"status": "finished"}, "indexed", None),
    ],
)
def test_a_job_is_at_work_while_its_worker_lives_and_its_lease_lasts(
    database: Database, status: str, step: dict[str, Any] | None, said: str, worker: str | None
) -> None:
    """Whatever state its row has: a worker that is gone leaves a job that can be tried again."""
    found = shown(database, a_job(database, status, step))
    assert (found.status, found.worker) == (said, worker)


def test_a_waiting_step_says_when_it_is_due(database: Database) -> None:
    """With its attempts; a step at work is due no more."""
    waits = shown(database, a_job(database, "queued", {"detail": {"attempts": [{"epoch": 1}]}}))
    works = shown(database, a_job(database, "running", AT_WORK))
    assert (waits.steps[0].next_run_at, waits.steps[0].history) == (THEN, [{"epoch": 1}])
    assert works.steps[0].next_run_at is None


def test_lists_and_counts_have_the_states_that_are_shown(database: Database) -> None:
    """Jobs that lost their worker count as retryable, and cut no list of running ones short."""
    for _ in range(3):
        a_job(database, "running")
    at_work = a_job(database, "running", AT_WORK)
    a_job(database, "running")
    a_job(database, "indexing")
    with database.read() as db:
        assert {state: count for state, count in jobs.counts(db, NOW).items() if count} == {
            "running": 1, "retryable": 4, "completed": 1,
        }  # fmt: skip
        assert [each.id for each in jobs.newest(db, NOW, Wanted(limit=2), statuses=["running"])] == [at_work]
        assert len(jobs.newest(db, NOW, Wanted(limit=2), statuses=["retryable"])) == 2
        assert len(jobs.newest(db, NOW)) == 6


def test_no_list_of_jobs_asks_once_a_row(database: Database) -> None:
    """Of one state too: the database cuts the rows, and no job is asked for by itself."""
    asked: list[str] = []

    def statements(which: str) -> int:
        asked.clear()
        with database.read() as db:
            assert jobs.newest(db, NOW, Wanted(limit=5), statuses=[which])
            jobs.listed(db, Wanted(limit=5), status=which)
            jobs.counts(db, NOW)
        return len(asked)

    a_job(database, "running", AT_WORK)
    a_job(database, "running")
    event.listen(database.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    few = statements("running"), statements("retryable")
    for _ in range(4):
        a_job(database, "running", AT_WORK)
        a_job(database, "running")
    assert (statements("running"), statements("retryable")) == few


def test_the_captures_of_a_job_are_its_own(database: Database) -> None:
    """The newest first, a page of them; no address shows a password."""
    with database.write() as db:
        file = a_file(db, job_id=7)
        mine = [a_record(db, warc_file_id=file.id).id for _ in range(3)]
    index(
        database,
        *({"record_id": key, "url": f"https://u:geheim@shop.example/{n}", "at": NOON + n * HOUR}
          for n, key in enumerate(mine)),
        {"url": f"{SHOP}other"},
    )  # fmt: skip
    with database.read() as db:
        found = job_snapshots.snapshots_of(db, 7, Wanted(limit=2))
        assert job_snapshots.snapshots_of(db, 8, Wanted(limit=2)).total == 0
    assert (found.total, [each.url[-2:] for each in found.items]) == (3, ["/2", "/1"])
    assert "geheim" not in str(found)


def leased(process: str) -> dict[str, Any]:
    """A step that is leased for another hour from now."""
    now = utc_now()
    return {**AT_WORK, "begun_at": now, "process": process, "lease_expires_at": now + HOUR, "updated_at": now}


def raised(database: Database) -> dict[str, tuple[int, str, str]]:
    """What needs attention: count, what and why by its code."""
    with database.read() as db:
        return {each.code: (each.count, each.what, each.why) for each in attention(db)}


def test_a_job_whose_worker_is_gone_is_stuck(database: Database) -> None:
    """At once on this machine, whatever the lease says; the metrics agree."""
    job = a_job(database, "running", leased(GONE))
    a_job(database, "running", leased(this_process()))
    count, what, why = raised(database)["job_stuck"]
    assert (count, what) == (1, f"Job {job} is stuck")
    assert "worker is gone" in why
    with database.read() as db:
        steps = next(each for each in gauges(db).queues if each.kind == "job_step")
        assert (steps.at_work, steps.expired) == (2, 1)
        assert [each.code for each in of_job(db, db.get_one(Job, job))] == ["job_stuck"]


def test_a_job_that_waits_for_a_worker_is_raised_after_a_while(database: Database) -> None:
    """Not at once, and not while a worker runs."""
    early = {"next_run_at": utc_now() - timedelta(minutes=30)}
    first, _ = a_job(database, "queued", early), a_job(database, "completed", {"kind": "index", **early})
    a_job(database, "queued", {"next_run_at": utc_now()})
    count, what, why = raised(database)["job_waits"]
    assert (count, what) == (2, "2 jobs wait, and no worker runs")
    assert f"Job {first} could be crawled since" in why
    a_job(database, "running", leased(this_process()))
    assert raised(database) == {}


def test_a_job_that_was_put_back_says_why_and_until_when(database: Database) -> None:
    """In the words of its cause, without a place of this machine; a schedule is no trouble."""
    again = utc_now() + timedelta(minutes=9)
    put_back = {"next_run_at": again, "last_error": "/mnt/x is full", "cause": "disk_full"}
    job = a_job(database, "retryable", put_back)
    a_job(database, "queued", {"next_run_at": again})
    found = raised(database)
    assert found.keys() == {"job_put_back"}
    count, what, why = found["job_put_back"]
    assert (count, what) == (1, f"Job {job} was put back")
    assert "disk full" in why
    assert f"{again:%H:%M} UTC" in why
    assert "/mnt" not in why
