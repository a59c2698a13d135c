"""Steps of jobs on loan to workers: a step and its job change together, and only for who has the lease.

All of it blocks. Times are the database's.
"""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import uuid4

from attrs import frozen
from sqlalchemy import bindparam, exists, insert, or_, select, update

from crawler import logs
from crawler.access.process import is_gone, this_process
from crawler.db.models import Job, JobStep, RegisteredSource, Run, ScrapeRecord, WarcFile
from crawler.errors import UsageError
from crawler.jobs.lifecycle import CRAWLABLE, JobStateError, JobStatus, after_failed_crawl, require_change
from crawler.leases.rows import Leases
from crawler.leases.rules import LeaseRules
from crawler.runs import tasks
from crawler.runs.rows import RunStatus
from crawler.storable import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, RowMapping, Table
    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction
    from crawler.engines.statistics import Statistics
    from crawler.leases.rows import Lease

MAX_LEASES = 1_000  # of one step; whatever kills its worker so often is given up
MAX_INFRA_ERRORS = 5
REST_SECONDS, MAX_REST_SECONDS = 600.0, 3600.0
MAX_HISTORY = 50
MAX_COUNT = 2**31 - 1  # that a column takes
_OF_THE_LAST_CRAWL = (
    "finished_at", "crawler_exit_code", "crawler_status", "crawler_stage", "combined_log_path",
)  # fmt: skip
WORKER_DIED = "its worker died"
_OF_JOB = JobStep.job_id == bindparam("of_job")
_IS_CRAWL = JobStep.kind == "crawl"
_HAS_SOURCE = JobStep.job_id.in_(select(Job.id).where(Job.source_id.is_not(None)))

Begun = TypeVar("Begun")
log = logs.get_logger(__name__)


class Came(StrEnum):
    """What an attempt at a crawl came to."""

    SUCCESS = "success"
    FAILED = "failed"
    USAGE = "infra_error_config"  # the tool does not take its arguments: never tried again
    INFRASTRUCTURE = "infra_error"  # what it stands on is broken
    NOT_BEGUN = "not_begun"  # its disk is too full to begin
    INTERRUPTED = "interrupted"  # its worker was told to stop


@frozen
class Archive:
    """What is to be crawled, and where to."""

    name: str
    folder: Path
    config: Mapping[str, Any]
    engine: str = "vitrine"
    job_id: int | None = None
    epoch: int = 1
    root_in_use: bool = False  # files of archives are stored in ARCHIVE_ROOT
    run_id: int | None = None  # the run of our own engine that goes on
    is_crawled: bool = False  # that run is completed already


@frozen
class Work:
    """A crawl to be done, and the right to write its outcome."""

    lease: Lease
    job_id: int
    archive: Archive


@frozen
class Result:
    """What an attempt came to, with what is to be known of it."""

    came: Came
    exit_code: int | None = None
    stage: str = ""
    error: str = ""
    cause: str | None = None
    facts: dict[str, Any] | None = None  # columns of the job: statistics, paths, sizes


class StepLeases:
    """A worker's right to steps: a name that no other has, and the leases under it.

    Jobs count by themselves how often they are tried.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        rules = LeaseRules(
            lease_seconds=settings.job_lease_seconds, deadline_seconds=settings.job_max_seconds,
            max_attempts=MAX_LEASES, backoff_min_seconds=0, backoff_max_seconds=0, jitter_seconds=0,
        )  # fmt: skip
        self.database = database
        self.settings = settings
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:12]}"
        self.leases = Leases(JobStep, rules, _expired)

    def renew(self, leases: Sequence[Lease]) -> Collection[Lease]:
        """Those that are ours still."""
        with self.database.write() as db:
            ours = self.leases.renew(db, leases, db.now)
        return [lease for lease in leases if lease.id in ours]


class Steps(StepLeases):
    """Leases crawls to one worker, and writes what becomes of them."""

    def acquire(self, job_id: int | None = None) -> Work | None:
        """The next crawl that is due, or that of one job; None where there is none."""
        if job_id is None and not self._may_have_some():
            return None
        within = (_IS_CRAWL, _HAS_SOURCE) if job_id is None else (_IS_CRAWL,)
        with self.database.write() as db:
            return first_begun(db, self.leases, self.owner, self._begun, within=within, job_id=job_id)

    def _may_have_some(self) -> bool:
        """One look, which no other writer waits for: is anything due, or held by one who may be gone?"""
        with self.database.read() as db:
            rests = JobStep.status == "pending"
            due = or_(JobStep.status == "in_progress", rests & (JobStep.next_run_at <= db.now))
            return bool(db.scalar(select(exists().where(_IS_CRAWL, due))))

    def _begun(self, db: Transaction, row: RowMapping, lease: Lease) -> Work | None:
        """The job is running from here on; None for one whose state says otherwise."""
        job = db.get_one(Job, row["job_id"], with_for_update=True)
        if job.status not in CRAWLABLE:
            error = f"job {job.id} is {job.status}; nothing of it is to be crawled"
            self.leases.fail(db, lease, error, db.now, final=True)
            return None
        was, (run_id, captured) = job.status, _run_to_go_on_with(db, job)
        fresh = dict.fromkeys(_OF_THE_LAST_CRAWL)
        facts = {**fresh, "started_at": db.now, "run_id": run_id, **captured}
        move_job(db, job, JobStatus.RUNNING, now=db.now, facts=facts)
        note_begun(db, row, lease, self.owner, was=was)
        archive = Archive(
            job.name, Path(job.output_dir), dict(job.config or {}), job.engine, job.id, lease.epoch,
            self._root_in_use(db), run_id, is_crawled=bool(captured),
        )  # fmt: skip
        return Work(lease, job.id, archive)

    def _root_in_use(self, db: Transaction) -> bool:
        """Whether files were counted below ARCHIVE_ROOT: then it is there, or is not mounted."""
        inside = Job.output_dir.startswith(f"{self.settings.archives}/", autoescape=True)
        return bool(db.scalar(select(exists().where(inside, Job.warc_file_count > 0))))

    def progress(self, work: Work, said: Statistics) -> None:
        """Write down how far a crawl is, while it is ours."""
        with self.database.write() as db:
            if self.leases.renew(db, [work.lease], db.now):
                _write_job(db, work.job_id, db.now, **columns_of(said))

    def end(self, work: Work, result: Result) -> JobStatus | None:
        """Write what an attempt came to; the job's state then, or None where it is not ours to say."""
        with self.database.write() as db:
            job = db.get_one(Job, work.job_id, with_for_update=True)
            ending = _Ending(job, db.get_one(JobStep, work.lease.id), work.lease, result, db.now)
            if result.came is Came.SUCCESS:
                after = self._done(db, ending)
            elif result.came in {Came.INTERRUPTED, Came.NOT_BEGUN}:
                after = self._put_back(db, ending)
            else:
                after = self._failed(db, ending)
            if after is None:
                log.warning("job.not_ours", job=work.job_id, epoch=work.lease.epoch)
                return None
            _claim_files(db, job)
            close_attempt(db, ending.step, str(result.came), result, now=db.now)
            if after in {JobStatus.COMPLETED, JobStatus.FAILED}:
                _put_on_record(db, job, db.now)
            return after

    def _done(self, db: Session, ending: _Ending) -> JobStatus | None:
        if not self.leases.finish(db, ending.lease, ending.now, outcome=str(Came.SUCCESS)):
            return None
        facts = {**ending.facts, "infra_errors": 0, "emptied_at": None}
        move_job(db, ending.job, JobStatus.COMPLETED, now=ending.now, facts=facts)
        return JobStatus.COMPLETED

    def _put_back(self, db: Session, ending: _Ending) -> JobStatus | None:
        """As if it were untouched: the state that it had, no attempt counted."""
        result, now = ending.result, ending.now
        if not self.leases.release(db, [ending.lease], result.error, now):
            return None
        attempts = ending.step.detail.get("attempts") or [{}]
        was = JobStatus(attempts[-1].get("was", JobStatus.QUEUED))
        if result.came is Came.NOT_BEGUN:
            again = now + timedelta(seconds=REST_SECONDS)
            write_step(db, ending.step.id, next_run_at=again, cause=result.cause)
        move_job(db, ending.job, was, now=now, facts=dict(result.facts or {}))
        return was

    def _failed(self, db: Session, ending: _Ending) -> JobStatus | None:
        """Tried again at once, so often; after a rest that grows, where it was the machine; or never."""
        job, result, now = ending.job, ending.result, ending.now
        counted, rest = {"infra_errors": 0, "retry_count": job.retry_count}, timedelta()
        after = JobStatus.FAILED
        if result.came is Came.INFRASTRUCTURE:
            counted["infra_errors"] = errors = job.infra_errors + 1
            rest = timedelta(seconds=min(REST_SECONDS * 2 ** (errors - 1), MAX_REST_SECONDS))
            after = JobStatus.RETRYABLE if errors < MAX_INFRA_ERRORS else JobStatus.FAILED
        elif result.came is Came.FAILED:
            after = after_failed_crawl(job.retry_count, self.settings.max_crawl_retries)
            counted["retry_count"] += after is JobStatus.RETRYABLE
        is_final = after is JobStatus.FAILED
        failed = self.leases.fail(db, ending.lease, result.error, now, cause=result.cause, final=is_final)
        if failed is None:
            return None
        if not is_final:
            write_step(db, ending.step.id, next_run_at=now + rest)
        move_job(db, job, after, now=now, facts={**ending.facts, **counted})
        return after


@frozen
class _Ending:
    """The end of an attempt, as it is written."""

    job: Job
    step: JobStep
    lease: Lease
    result: Result
    now: datetime

    @property
    def facts(self) -> dict[str, Any]:
        """The job's columns that say what came of its crawl."""
        result = self.result
        return {
            **(result.facts or {}), "crawler_exit_code": result.exit_code,
            "crawler_status": str(result.came), "crawler_stage": result.stage or None,
            "finished_at": self.now,
        }  # fmt: skip


def columns_of(said: Statistics) -> dict[str, Any]:
    """Statistics as a job's columns."""
    counts = {"crawled": said.crawled, "total": said.total, "failed": said.failed}
    columns = {f"pages_{name}": min(count, MAX_COUNT) for name, count in counts.items()}
    run = {"run_id": said.run} if said.run else {}
    return {**columns, **run, "last_stats_json": as_json(said.raw, values=500, depth=6)}


def _run_to_go_on_with(db: Session, job: Job) -> tuple[int | None, dict[str, int]]:
    """Return the run that an earlier attempt began, and the counts of its pages if it is completed.

    One that was completed without any page is not gone on with: the next attempt begins anew.
    """
    run = db.get(Run, job.run_id) if job.run_id else None
    if run is None:
        return None, {}
    if run.status != RunStatus.COMPLETED:
        return run.id, {}
    ended = tasks.counts(db, run.id)
    if not ended["finished"]:
        return None, {}
    failed = ended["error"] - tasks.refused(db, run.id)
    total = ended["finished"] + failed
    return run.id, {"pages_crawled": ended["finished"], "pages_failed": failed, "pages_total": total}


def _expired(db: Session, rows: Sequence[RowMapping], now: datetime) -> None:
    """The jobs of steps whose lease ran out."""
    for row in rows:
        left_behind(db, row, JobStatus.FAILED if row["status"] == "error" else JobStatus.RETRYABLE, now)


def first_begun(
    db: Transaction, leases: Leases, owner: str,
    begin: Callable[[Transaction, RowMapping, Lease], Begun | None],
    *, within: tuple[ColumnElement[bool], ...], job_id: int | None = None,
) -> Begun | None:  # fmt: skip
    """The first step that is due and can be begun, of one job or of any; None where there is none."""
    take_back_dead(db, leases)
    which, values = (within, {}) if job_id is None else ((*within, _OF_JOB), {"of_job": job_id})
    while found := leases.acquire(db, owner=owner, now=db.now, limit=1, within=which, values=values):
        if (work := begin(db, *found[0])) is not None:
            return work
    return None


def note_begun(db: Transaction, row: RowMapping, lease: Lease, owner: str, **more: str) -> None:
    """Write a new attempt into the step's history."""
    begun = {"epoch": lease.epoch, "started_at": db.now.isoformat(), "worker": owner, **more}
    history = [*row["detail"].get("attempts", ()), begun][-MAX_HISTORY:]
    write_step(db, lease.id, process=this_process(), detail={"attempts": history})


def take_back_dead(db: Transaction, leases: Leases) -> int:
    """Put back what workers of this machine held that are gone; how many steps that were."""
    held = db.execute(
        select(JobStep.id, JobStep.lease_epoch, JobStep.process).where(JobStep.status == "in_progress")
    )
    taken = 0
    for step_id, epoch, process in held.all():
        if is_gone(process):
            within = (JobStep.id == bindparam("the_step"), JobStep.lease_epoch == bindparam("the_epoch"))
            values = {"the_step": step_id, "the_epoch": epoch}
            for row in leases.take_back(db, reason=WORKER_DIED, now=db.now, within=within, values=values):
                left_behind(db, row, JobStatus.RETRYABLE, db.now)
                taken += 1
    return taken


def tidy(db: Transaction) -> None:
    """Put back what the dead held, for a command that looks at states to change them."""
    take_back_dead(db, Leases(JobStep, LeaseRules(max_attempts=MAX_LEASES)))


def make_due(db: Transaction, job: Job, leases: Leases) -> None:
    """Let a job's crawl begin now that somebody asks for it, wherever its rest would end."""
    take_back_dead(db, leases)
    db.refresh(job)
    if job.status not in CRAWLABLE:
        allowed = " or ".join(CRAWLABLE)
        raise JobStateError(f"job {job.id} is {job.status}; only one that is {allowed} can be crawled")
    if not (job.config or {}).get("seeds"):
        raise UsageError(f"job {job.id} has no seeds", hint="make another one of its source")
    waits = update(JobStep).where(JobStep.job_id == job.id, JobStep.status == "pending", _IS_CRAWL)
    db.execute(waits.values(next_run_at=db.now), execution_options={"synchronize_session": False})


def left_behind(db: Session, row: RowMapping, after: JobStatus, now: datetime) -> None:
    """Write what becomes of the job of a step that nobody works on any more."""
    job = db.get_one(Job, row["job_id"], with_for_update=True)
    step = db.get_one(JobStep, row["id"], populate_existing=True)
    is_last = after is JobStatus.FAILED
    if step.kind == "changes":  # the job's state has no part in it
        write_step(db, row["id"], next_run_at=now)
    elif job.status == JobStatus.INDEXING:
        move_job(db, job, JobStatus.INDEX_FAILED if is_last else JobStatus.COMPLETED, now=now, facts={})
        write_step(db, row["id"], next_run_at=now)
    elif job.status == JobStatus.RUNNING:
        move_job(db, job, after, now=now, facts={"finished_at": now} if is_last else {})
        write_step(db, row["id"], next_run_at=now)  # due at once
    db.refresh(step)
    close_attempt(db, step, "worker_died", Result(Came.INTERRUPTED, error=WORKER_DIED), now=now)


def close_attempt(db: Session, step: JobStep, outcome: str, result: Result, *, now: datetime) -> None:
    """Write the end of the newest attempt into the step's history."""
    *before, last = step.detail.get("attempts") or [{}]
    ended = {
        **last, "ended_at": now.isoformat(), "outcome": str(outcome), "exit_code": result.exit_code,
        "stage": result.stage, "error": result.error[:1000],
    }  # fmt: skip
    write_step(db, step.id, detail={"attempts": [*before, ended]}, outcome=str(outcome), process=None)


def _claim_files(db: Session, job: Job) -> None:
    """The WARC files that the crawl wrote into its folder are the job's."""
    folders = (job.output_dir, f"{job.output_dir}/warcs")
    theirs = update(WarcFile).where(WarcFile.folder.in_(folders), WarcFile.job_id.is_(None))
    db.execute(theirs.values(job_id=job.id), execution_options={"synchronize_session": False})


def _put_on_record(db: Session, job: Job, now: datetime) -> None:
    """Write down what is to be known when the job's own row is gone."""
    db.flush()
    source = db.get(RegisteredSource, job.source_id) if job.source_id else None
    took = now - job.started_at if job.started_at else None
    details = {
        "name": job.name, "engine": job.engine, "retry_count": job.retry_count, "stage": job.crawler_stage,
        "exit_code": job.crawler_exit_code, "pages": job.pages_crawled, "warc_files": job.warc_file_count,
    }  # fmt: skip
    record = {
        "timestamp": now, "kind": "job", "subject_id": str(job.id), "domain": source.code if source else "",
        "url": "", "status": job.status, "cause": job.crawler_status, "details": details,
        "duration_ms": round(took.total_seconds() * 1000) if took else None,
    }  # fmt: skip
    db.connection().execute(insert(cast("Table", ScrapeRecord.__table__)), record)


def move_job(db: Session, job: Job, after: JobStatus, *, now: datetime, facts: Mapping[str, Any]) -> None:
    """Change a job's state and whatever comes with it; no way that a job does not have."""
    require_change(job.id, job.status, after)
    _write_job(db, job.id, now, status=str(after), **facts)
    db.refresh(job)


def _write_job(db: Session, job_id: int, now: datetime, **values: Any) -> None:
    statement = update(Job).where(Job.id == job_id).values(updated_at=now, **values)
    db.execute(statement, execution_options={"synchronize_session": False})


def write_step(db: Session, step_id: int, **values: Any) -> None:
    """Write columns of a step."""
    statement = update(JobStep).where(JobStep.id == step_id).values(**values)
    db.execute(statement, execution_options={"synchronize_session": False})
