"""Archive jobs: how each stands, what its steps came to, and how many there are of each state."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import fields, frozen
from sqlalchemy import exists, func, null, or_, select

from crawler.access.process import is_gone
from crawler.db import lookup
from crawler.db.models import Job, JobStep, RegisteredSource
from crawler.jobs.lifecycle import JobStatus
from crawler.jobs.registry import find_registered
from crawler.views.documents import document_of
from crawler.views.paging import ALL, Newest, of_url, page

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.views.paging import Wanted

# What a job is whose worker is gone: what the next worker finds.
LEFT_BEHIND = {JobStatus.RUNNING: JobStatus.RETRYABLE, JobStatus.INDEXING: JobStatus.COMPLETED}
AT_WORK = "in_progress"


def _is_of_source(domain: str) -> ColumnElement[bool]:
    """A job whose source is named by the domain, or begins there."""
    begins = or_(RegisteredSource.code == domain, of_url(RegisteredSource.base_url)(domain))
    return exists().where(RegisteredSource.id == Job.source_id, begins)


def _had_step(cause: str) -> ColumnElement[bool]:
    """A job of which a step was kept by it."""
    return exists().where(JobStep.job_id == Job.id, JobStep.cause == cause)


NEWEST = Newest(
    table=Job,
    by=(Job.id,),
    time=Job.created_at,
    domain=_is_of_source,
    cause=_had_step,
)


@frozen(kw_only=True)
class StepDocument:
    """A part of a job, and its attempts, the newest last."""

    id: int
    kind: str
    status: str
    outcome: str | None
    attempts: int
    worker: str | None  # who is at it
    last_error: str | None
    cause: str | None
    next_run_at: datetime | None  # while it waits
    finished_at: datetime | None
    history: list[dict[str, Any]]


@frozen(kw_only=True)
class JobDocument:
    """A job, as its row says it; of one whose worker is gone the state is what the next worker finds."""

    id: int
    source: str | None
    name: str
    status: str
    engine: str
    run: int | None
    worker: str | None  # who is at it
    retry_count: int
    infra_errors: int
    output_dir: str
    crawler_exit_code: int | None
    crawler_status: str | None
    crawler_stage: str | None
    pages_crawled: int
    pages_total: int
    pages_failed: int
    warc_file_count: int
    indexed_page_count: int
    records_bad: int
    final_zim_path: str | None
    combined_log_path: str | None
    state_file_path: str | None
    cleanup_status: str
    cleaned_at: datetime | None
    emptied_at: datetime | None
    warc_bytes_total: int
    output_bytes_total: int
    tmp_bytes_total: int
    tmp_non_warc_bytes_total: int
    storage_scanned_at: datetime | None
    created_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    config: dict[str, Any] | None
    last_stats: dict[str, Any] | None
    steps: list[StepDocument]


def newest(
    db: Session,
    now: datetime,
    wanted: Wanted = ALL,
    *,
    source: str | None = None,
    statuses: Collection[str] = (),
) -> list[JobDocument]:
    """The newest jobs first; states are looked for as they are shown."""
    query = select(Job)
    if source is not None:
        query = query.where(Job.source_id == find_registered(db, source).id)
    if statuses:
        left = [before for before, after in LEFT_BEHIND.items() if after in statuses]
        query = query.where(Job.status.in_([*statuses, *left]))
    cut = page(db, query, NEWEST, wanted)
    found = (shown(db, row, now) for row in db.scalars(cut.limit(None) if statuses else cut))
    return list(islice((each for each in found if not statuses or each.status in statuses), wanted.limit))


def shown(db: Session, job: Job, now: datetime) -> JobDocument:
    """Everything that is known of a job."""
    source = db.get(RegisteredSource, job.source_id) if job.source_id else None
    rows = db.scalars(select(JobStep).where(JobStep.job_id == job.id).order_by(JobStep.id))
    steps = [_step(row, now) for row in rows]
    worker = next((step.worker for step in steps if step.worker), None)
    status = job.status if worker else LEFT_BEHIND.get(JobStatus(job.status), job.status)
    return document_of(
        JobDocument, job, source=source.code if source else None, run=job.run_id, worker=worker,
        status=str(status), last_stats=job.last_stats_json, steps=steps,
    )  # fmt: skip


def counts(db: Session, now: datetime) -> dict[str, int]:
    """How many jobs there are of each state, as they are shown."""
    found: dict[str, int] = {}
    for status, count in db.execute(select(Job.status, func.count()).group_by(Job.status)):
        found[status] = found.get(status, 0) + count
    for job in db.scalars(select(Job).where(Job.status.in_(LEFT_BEHIND))):
        if (status := shown(db, job, now).status) != job.status:
            found[job.status] -= 1
            found[status] = found.get(status, 0) + 1
    return {str(status): found.get(status, 0) for status in JobStatus}


@frozen(kw_only=True)
class StorageDocument:
    """What a job's archive takes on the disk, as it was counted last."""

    id: int
    name: str
    output_dir: str
    warc_file_count: int
    warc_bytes_total: int
    output_bytes_total: int
    tmp_bytes_total: int
    tmp_non_warc_bytes_total: int
    storage_scanned_at: datetime | None


def all_jobs(db: Session) -> list[Job]:
    """Every job, the newest first."""
    return list(db.scalars(select(Job).order_by(Job.id.desc())))


def left_behind(db: Session, now: datetime) -> list[JobStep]:
    """The steps whose worker is gone, the one of the oldest job first."""
    rows = db.scalars(select(JobStep).where(JobStep.status == AT_WORK).order_by(JobStep.job_id))
    return [row for row in rows if is_left_behind(row, now)]


def is_left_behind(row: JobStep, now: datetime) -> bool:
    """Whether somebody was at a step, and is gone."""
    return row.status == AT_WORK and not _is_alive(row, now)


def _is_alive(row: JobStep, now: datetime) -> bool:
    return (
        row.status == AT_WORK
        and row.lease_expires_at is not None
        and row.lease_expires_at > now
        and not is_gone(row.process)
    )


def _step(row: JobStep, now: datetime) -> StepDocument:
    is_alive = _is_alive(row, now)
    waits = row.status == "pending"
    return document_of(
        StepDocument, row, worker=row.lease_owner if is_alive else None,
        next_run_at=row.next_run_at if waits else None, history=list(row.detail.get("attempts", ())),
    )  # fmt: skip


# ── how much there is of all of them ──


@frozen(kw_only=True)
class JobSums:
    """What jobs came to, together; of one source, or of all."""

    source: str | None
    pages_crawled: int
    pages_failed: int
    warc_bytes_total: int
    output_bytes_total: int
    tmp_bytes_total: int
    tmp_non_warc_bytes_total: int


def sums(db: Session) -> list[JobSums]:
    """Of all jobs, those without a source among them; then of each source that has any."""
    names = [field.name for field in fields(JobSums) if field.name != "source"]
    columns = [func.coalesce(func.sum(getattr(Job, name)), 0).label(name) for name in names]
    of_sources = (
        select(RegisteredSource.code.label("source"), *columns)
        .join(Job, Job.source_id == RegisteredSource.id)
        .group_by(RegisteredSource.code)
        .order_by(RegisteredSource.code)
    )
    rows = [db.execute(select(null().label("source"), *columns)).one(), *db.execute(of_sources)]
    return [JobSums(source=row.source, **{name: int(getattr(row, name)) for name in names}) for row in rows]


def cleaned(db: Session) -> dict[str, int]:
    """How many jobs there are by what was cleaned up of them."""
    found: dict[str, int] = dict(
        db.execute(select(Job.cleanup_status, func.count()).group_by(Job.cleanup_status)).all()
    )
    return found


def storage_counted(db: Session) -> int:
    """Of how many jobs the storage was counted."""
    return lookup.count(db, Job, Job.storage_scanned_at.is_not(None))
