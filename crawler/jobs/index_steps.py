"""The step `index` on loan to workers: due once a job is crawled, and written with its job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen
from sqlalchemy import exists, func, or_, select, update

from crawler import logs
from crawler.db.models import Job, JobStep, RegisteredSource, Snapshot
from crawler.db.upsert import insert_into
from crawler.errors import ConfigError, LockedError
from crawler.html.content import NOTHING_IGNORED, Ignored
from crawler.jobs.lifecycle import INDEXABLE, JobStateError, JobStatus
from crawler.jobs.steps import (
    Came,
    Result,
    StepLeases,
    close_attempt,
    first_begun,
    move_job,
    note_begun,
    take_back_dead,
)
from crawler.runs.sources import ignored_by_source, known_sources

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import RowMapping
    from sqlalchemy.orm import Session

    from crawler.archive.warc_indexing import JobResult
    from crawler.db.engine import Transaction
    from crawler.leases.rows import Lease

KIND = "index"
_IS_INDEX = JobStep.kind == KIND
_IS_DUE = (Job.status == JobStatus.COMPLETED, Job.source_id.is_not(None))
_UNDER_WAY = exists().where(
    JobStep.job_id == Job.id, _IS_INDEX, JobStep.status.in_(("pending", "in_progress"))
)

log = logs.get_logger(__name__)


class NotOursError(LockedError):
    """The step is not ours any more."""

    code = "step_lost"


@frozen
class IndexWork:
    """A job to be indexed, and the right to say what came of it."""

    lease: Lease
    job_id: int
    source_id: int
    output_dir: Path
    group_by: str
    ignored: Ignored = NOTHING_IGNORED  # what of its pages is no part of their texts
    emptied_at: datetime | None = None  # when a purge took all that it had


class IndexSteps(StepLeases):
    """Leases index steps to one worker, and writes what becomes of them."""

    def acquire(self, job_id: int | None = None) -> IndexWork | None:
        """The next job that is crawled and not indexed, or that one."""
        if job_id is None and not self._may_have_some():
            return None
        with self.database.write() as db:
            for due in db.scalars(select(Job.id).where(*_IS_DUE, ~_UNDER_WAY).order_by(Job.id)):
                _make_due(db, due, db.now)
            return first_begun(db, self.leases, self.owner, self._begun, within=(_IS_INDEX,), job_id=job_id)

    def make_due(self, db: Transaction, job: Job) -> None:
        """Let a job be indexed now that somebody asks for it; refuses one in another state."""
        take_back_dead(db, self.leases)
        db.refresh(job)
        if job.status not in INDEXABLE:
            allowed = " or ".join(INDEXABLE)
            raise JobStateError(f"job {job.id} is {job.status}; only one that is {allowed} can be indexed")
        if job.source_id is None:
            raise JobStateError(
                f"job {job.id} has no source", hint="`vitrine sources seed` registers sources"
            )
        _make_due(db, job.id, db.now)

    def check(self, db: Session, lease: Lease) -> None:
        """Refuse to write for a job that is somebody else's."""
        if lease.id not in self.leases.renew(db, [lease], cast("Transaction", db).now):
            raise NotOursError("somebody else indexes that job")

    def done(self, work: IndexWork, came: JobResult) -> bool:
        """Write that a job is indexed; False where it is not ours to say."""
        with self.database.write() as db:
            if not self.leases.finish(db, work.lease, db.now, outcome=str(Came.SUCCESS)):
                return False
            count = select(func.count()).select_from(Snapshot).where(Snapshot.job_id == work.job_id)
            facts: dict[str, Any] = {"indexed_page_count": db.scalar(count), "records_bad": came.bad}
            self._ended(db, work, JobStatus.INDEXED, Result(Came.SUCCESS, stage=KIND), **facts)
            if self.settings.change_tracking_enabled:
                _make_due(db, work.job_id, db.now, "changes")
        return True

    def failed(self, work: IndexWork, error: str, cause: str, came: JobResult | None) -> bool:
        """Write that a job could not be indexed; nothing of what was found before is lost."""
        with self.database.write() as db:
            if self.leases.fail(db, work.lease, error, db.now, cause=cause, final=True) is None:
                return False
            facts: dict[str, Any] = {} if came is None else {"records_bad": came.bad}
            self._ended(
                db, work, JobStatus.INDEX_FAILED, Result(Came.FAILED, error=error, stage=KIND), **facts
            )
        return True

    def put_back(self, work: IndexWork, why: str) -> None:
        """Give a step back as if it were untouched."""
        with self.database.write() as db:
            if self.leases.release(db, [work.lease], why, db.now):
                self._ended(db, work, JobStatus.COMPLETED, Result(Came.INTERRUPTED, error=why))

    def progress(self, work: IndexWork, files: int, pages: int) -> None:
        """Write down how far it is, while it is ours."""
        with self.database.write() as db:
            self.check(db, work.lease)
            counts = {"warc_file_count": files, "indexed_page_count": pages, "updated_at": db.now}
            db.execute(update(Job).where(Job.id == work.job_id).values(**counts))

    def _may_have_some(self) -> bool:
        with self.database.read() as db:
            held = exists().where(_IS_INDEX, JobStep.status.in_(("pending", "in_progress")))
            return bool(db.scalar(select(or_(held, exists().where(*_IS_DUE)))))

    def _begun(self, db: Transaction, row: RowMapping, lease: Lease) -> IndexWork | None:
        job = db.get_one(Job, row["job_id"], with_for_update=True, populate_existing=True)
        if job.status not in INDEXABLE or job.source_id is None:
            error = f"job {job.id} is {job.status}; nothing of it is to be indexed"
            self.leases.fail(db, lease, error, db.now, final=True)
            return None
        move_job(db, job, JobStatus.INDEXING, now=db.now, facts={"indexed_page_count": 0})
        note_begun(db, row, lease, self.owner)
        folder = Path(job.output_dir)
        return IndexWork(
            lease, job.id, job.source_id, folder, self._group_by(db, job), self._ignored(db, job),
            job.emptied_at,
        )  # fmt: skip

    def _group_by(self, db: Session, job: Job) -> str:
        """Which URLs are one page: as the job was ordered, or as the source of a registered one says."""
        said = (job.config or {}).get("source")
        if isinstance(said, dict):
            return str(said.get("group_by", "query"))
        code = db.scalar(select(RegisteredSource.code).where(RegisteredSource.id == job.source_id))
        known = known_sources(self.settings.sources_file).get(code or "")
        return known.group_by if known else "query"

    def _ignored(self, db: Session, job: Job) -> Ignored:
        """What its source says now, so that a rule that changed holds when a job is indexed again."""
        code = db.scalar(select(RegisteredSource.code).where(RegisteredSource.id == job.source_id))
        try:
            return ignored_by_source(self.settings.sources_file).get(code or "", NOTHING_IGNORED)
        except ConfigError as error:  # a mistake in the file holds nobody up: then as it was ordered
            log.warning("index.rules_unreadable", job=job.id, error=str(error))
            said = (job.config or {}).get("source") or {}
            return Ignored(*(tuple(said.get(name, ())) for name in ("ignore_selectors", "ignore_text")))

    def _ended(
        self, db: Transaction, work: IndexWork, after: JobStatus, result: Result, **facts: Any
    ) -> None:
        job = db.get_one(Job, work.job_id, with_for_update=True)
        step = db.get_one(JobStep, work.lease.id, populate_existing=True)
        move_job(db, job, after, now=db.now, facts=facts)
        close_attempt(db, step, str(result.came), result, now=db.now)


def _make_due(db: Session, job_id: int, now: datetime, kind: str = KIND) -> None:
    """Have the step wait for a worker, unless one is at it."""
    due = {"status": "pending", "next_run_at": now, "attempts": 0, "finished_at": None, "updated_at": now}
    new = insert_into(db, JobStep).values(
        job_id=job_id, kind=kind, detail={}, created_at=now, priority=0, deaths=0, lease_epoch=0, **due
    )
    db.execute(
        new.on_conflict_do_update(
            index_elements=["job_id", "kind"], set_=due, where=JobStep.status != "in_progress"
        )
    )
