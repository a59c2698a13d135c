"""What a person is told to look at: which job is stuck, and why."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from crawler.access.process import this_process
from crawler.clock import utc_now
from crawler.db.models import Job, JobStep
from crawler.views.attention import attention, of_job
from crawler.views.operations import gauges

if TYPE_CHECKING:
    from crawler.db.engine import Database

GONE = "|".join((*this_process().split("|")[:3], "999999999", ""))


def a_job(database: Database, state: str, **step: Any) -> int:
    """A job of three hours ago, and its step."""
    now = utc_now()
    with database.write() as db:
        row = Job(
            name="j", status=state, output_dir=f"/nowhere/{uuid4()}",
            created_at=now - timedelta(hours=3), updated_at=now - timedelta(hours=3),
        )  # fmt: skip
        db.add(row)
        db.flush()
        known = {"status": "pending", "detail": {}, "created_at": now, "updated_at": now, "next_run_at": now}
        db.add(JobStep(job_id=row.id, **(known | step)))
        return row.id


def at_work(process: str) -> dict[str, Any]:
    """A step that is leased for another hour."""
    now = utc_now()
    return {
        "status": "in_progress", "lease_owner": "vm:1", "begun_at": now, "process": process,
        "lease_expires_at": now + timedelta(hours=1), "updated_at": now,
    }  # fmt: skip


def told(database: Database) -> dict[str, tuple[int, str, str]]:
    """Code, number, what and why."""
    with database.read() as db:
        return {each.code: (each.count, each.what, each.why) for each in attention(db)}


def test_a_job_whose_worker_is_gone_is_stuck(database: Database) -> None:
    """It is known at once on this machine, whatever the lease says; the figure beside it agrees."""
    job = a_job(database, "running", **at_work(GONE))
    a_job(database, "running", **at_work(this_process()))
    count, what, why = told(database)["job_stuck"]
    assert (count, what) == (1, f"Job {job} is stuck")
    assert "worker is gone" in why
    assert "vitrine worker" in why
    with database.read() as db:
        steps = next(each for each in gauges(db).queues if each.kind == "job_step")
        assert (steps.at_work, steps.expired) == (2, 1)
        assert [each.code for each in of_job(db, db.get_one(Job, job))] == ["job_stuck"]


def test_a_job_that_nobody_takes_up(database: Database) -> None:
    """Waits, and that is told after a while; not while a worker runs."""
    early = {"next_run_at": utc_now() - timedelta(minutes=30)}
    first, _ = a_job(database, "queued", **early), a_job(database, "completed", kind="index", **early)
    a_job(database, "queued")
    count, what, why = told(database)["job_waits"]
    assert (count, what) == (2, "2 jobs wait, and no worker runs")
    assert f"Job {first} could be crawled since" in why
    a_job(database, "running", **at_work(this_process()))
    assert told(database) == {}


def test_a_job_that_was_put_back(database: Database) -> None:
    """Says by what, in the words of its cause, and when it is tried again."""
    again = utc_now() + timedelta(minutes=9)
    job = a_job(database, "retryable", next_run_at=again, last_error="/mnt/x is full", cause="disk_full")
    a_job(database, "queued", next_run_at=again)  # a schedule of its own
    found = told(database)
    assert found.keys() == {"job_put_back"}
    assert found["job_put_back"][:2] == (1, f"Job {job} was put back")
    assert "disk full" in found["job_put_back"][2]
    assert f"{again:%H:%M} UTC" in found["job_put_back"][2]
    assert "/mnt" not in found["job_put_back"][2]
