"""A step and its job change together, and only for who has the lease."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from crawler.db.models import Job, JobStep, Run, ScrapeRecord, Task, WarcFile
from crawler.engines.statistics import Statistics
from crawler.errors import UsageError
from crawler.jobs import steps
from crawler.jobs.lifecycle import JobStateError
from crawler.jobs.steps import (
    MAX_INFRA_ERRORS,
    REST_SECONDS,
    Came,
    Result,
    Steps,
    Work,
)
from crawler.runs import tasks
from crawler.runs.tasks import task_of

if TYPE_CHECKING:
    from tests.unit.jobs.conftest import Bench


def begun(bench: Bench, worker: Steps, job_id: int | None = None) -> Work:
    """The next crawl, which has to be there."""
    work = worker.acquire(job_id)
    assert work is not None
    return work


def job(bench: Bench) -> Job:
    """The only one."""
    with bench.database.read() as db:
        return db.scalars(select(Job)).one()


def step(bench: Bench) -> JobStep:
    """Its only step."""
    with bench.database.read() as db:
        return db.scalars(select(JobStep)).one()


@pytest.fixture
def worker(bench: Bench) -> Steps:
    """One that found a job."""
    bench.order()
    return Steps(bench.database, bench.settings)


def test_a_crawl_is_one_workers(bench: Bench, worker: Steps) -> None:
    """The job runs from here on; nobody else gets it, by its number either."""
    work = begun(bench, worker)
    assert (job(bench).status, step(bench).status) == ("running", "in_progress")
    other = Steps(bench.database, bench.settings)
    assert other.acquire() is None
    assert other.acquire(work.job_id) is None
    assert list(worker.renew([work.lease])) == [work.lease]


def test_who_lost_the_lease_says_nothing(bench: Bench, worker: Steps) -> None:
    """Neither how far it is, nor what came of it."""
    work = begun(bench, worker)
    with bench.database.write() as db:
        db.execute(update(JobStep).values(lease_epoch=JobStep.lease_epoch + 1))
    worker.progress(work, Statistics(5, 9, 0, 0, waiting=False, run=None, raw={}))
    for came in Came:
        assert worker.end(work, Result(came, error="x")) is None
    assert (job(bench).status, job(bench).pages_crawled) == ("running", 0)
    assert list(worker.renew([work.lease])) == []


@pytest.mark.parametrize(
    ("came", "after", "retries", "infra"),
    [
        (Came.SUCCESS, "completed", 0, 0), (Came.FAILED, "retryable", 1, 0), (Came.USAGE, "failed", 0, 0),
        (Came.INFRASTRUCTURE, "retryable", 0, 1), (Came.NOT_BEGUN, "queued", 0, 0),
        (Came.INTERRUPTED, "queued", 0, 0),
    ],
)  # fmt: skip
def test_what_an_attempt_comes_to(
    bench: Bench, worker: Steps, came: Came, after: str, retries: int, infra: int
) -> None:
    """Only what the crawl itself did counts as a try; the history has each attempt with its end."""
    work = begun(bench, worker)
    assert worker.end(work, Result(came, 3, "stage", "why", "cause")) == after
    row = job(bench)
    assert (row.status, row.retry_count, row.infra_errors) == (after, retries, infra)
    [attempt] = step(bench).detail["attempts"]
    assert (attempt["outcome"], attempt["exit_code"], attempt["error"]) == (str(came), 3, "why")


def test_jobs_are_crawled_in_the_order_of_their_queueing(bench: Bench, worker: Steps) -> None:
    """One without a source is nobody's; one that fails has two more tries, before the others."""
    first, second = bench.order(), bench.order()
    with bench.database.write() as db:
        db.execute(update(Job).where(Job.id < first).values(source_id=None))
    crawled = []
    while (work := worker.acquire()) is not None:
        crawled.append(work.job_id)
        worker.end(work, Result(Came.FAILED, 1))
    assert crawled == [first, first, first, second, second, second]
    with bench.database.read() as db:
        rows = db.execute(select(Job.status, Job.retry_count).where(Job.id >= first)).all()
    assert [tuple(row) for row in rows] == [("failed", 2)] * 2


def test_the_machines_rests_grow_and_end(bench: Bench, worker: Steps) -> None:
    """After so many the job has failed, and that is on record; a success between them forgets them."""
    rests = []
    for _ in range(MAX_INFRA_ERRORS):
        with bench.database.write() as db:
            db.execute(update(JobStep).values(next_run_at=db.now))
        work = begun(bench, worker)
        worker.end(work, Result(Came.INFRASTRUCTURE, error="no disk"))
        with bench.database.read() as db:
            rests.append(round((step(bench).next_run_at - db.now) / timedelta(seconds=REST_SECONDS)))
    assert rests[:4] == [1, 2, 4, 6]
    assert job(bench).status == "failed"
    with bench.database.read() as db:
        assert db.scalars(select(ScrapeRecord.status)).all() == ["failed"]


def test_files_in_its_folder_become_the_jobs(bench: Bench, worker: Steps) -> None:
    """Those that have no job yet."""
    work = begun(bench, worker)
    with bench.database.write() as db:
        for folder, owner in (
            (f"{work.archive.folder}", None),
            (f"{work.archive.folder}/warcs", None),
            (f"{work.archive.folder}", 99),
            ("/x", None),
        ):
            name = f"{folder}-{owner}.warc.gz".replace("/", "-")
            db.add(WarcFile(folder=folder, path=name, state="sealed", job_id=owner, created_at=db.now))
    worker.end(work, Result(Came.SUCCESS, 0))
    with bench.database.read() as db:
        assert list(db.scalars(select(WarcFile.job_id).order_by(WarcFile.id))) == [
            work.job_id,
            work.job_id,
            99,
            None,
        ]


def test_what_the_dead_held_is_put_back_at_once(
    bench: Bench, worker: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anybody looks at its state to change it; an attempt that no one ended is ended."""
    work = begun(bench, worker)
    with bench.database.write() as db:
        assert steps.take_back_dead(db, worker.leases) == 0
    monkeypatch.setattr(steps, "is_gone", lambda _process: True)
    with bench.database.write() as db:
        steps.tidy(db)
    assert (job(bench).status, step(bench).status, step(bench).process) == ("retryable", "pending", None)
    assert step(bench).detail["attempts"][-1]["outcome"] == "worker_died"
    assert begun(bench, worker).job_id == work.job_id


@pytest.mark.parametrize("status", ["completed", "failed", "indexed"])
def test_only_what_waits_can_be_asked_for(bench: Bench, worker: Steps, status: str) -> None:
    """And is due at once then; one without seeds never is."""
    with bench.database.write() as db:
        db.execute(update(JobStep).values(next_run_at=db.now + timedelta(days=1)))
        steps.make_due(db, db.scalars(select(Job)).one(), worker.leases)
    assert worker.acquire() is not None
    with bench.database.write() as db:
        db.execute(update(JobStep).values(status="pending", lease_owner=None))
        db.execute(update(Job).values(status=status))
        with pytest.raises(JobStateError, match=f"is {status}"):
            steps.make_due(db, db.scalars(select(Job)).one(), worker.leases)
        db.execute(update(Job).values(status="queued", config={}))
        with pytest.raises(UsageError, match="has no seeds"):
            steps.make_due(db, db.scalars(select(Job)).one(), worker.leases)


@pytest.mark.parametrize(
    ("status", "ended", "run", "is_crawled"),
    [
        ("running", ["pending"], 1, False),
        ("stopped", ["finished", "pending"], 1, False),
        ("completed", ["error"], None, False),
        ("completed", ["finished", "finished", "error"], 1, True),
    ],
)
def test_a_crawl_goes_on_with_the_run_that_was_begun(
    bench: Bench, worker: Steps, status: str, ended: list[str], run: int | None, *, is_crawled: bool
) -> None:
    """Its number is written with the first progress; a run without any page is not gone on with."""
    work = begun(bench, worker)
    assert (work.archive.run_id, work.archive.is_crawled) == (None, False)
    with bench.database.write() as db:
        db.add(Run(id=1, source="shop", status="running", plan={}, planned=len(ended), created_at=db.now))
        db.flush()
        tasks.add(db, 1, [task_of(f"https://shop.example/{number}") for number in range(len(ended))], db.now)
        for number, each in enumerate(ended, 1):
            db.execute(update(Task).where(Task.id == number).values(status=each))
        db.execute(update(Run).values(status=status, planned=len(ended)))
    worker.progress(work, Statistics(0, 9, 0, 9, waiting=False, run=1, raw={}))
    worker.end(work, Result(Came.INTERRUPTED))
    again = begun(bench, worker).archive
    assert (again.run_id, again.is_crawled) == (run, is_crawled)
    found = job(bench)
    assert found.run_id == run
    if is_crawled:
        assert (found.pages_crawled, found.pages_failed, found.pages_total) == (2, 1, 3)
