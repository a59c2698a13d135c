"""Archive jobs: lists of them, one with its steps, and how many there are of each state."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import and_, case, exists, func, or_, select
from sqlalchemy.orm import aliased

from crawler.access.process import is_gone
from crawler.db import lookup
from crawler.db.models import Job, JobStep, RegisteredSource
from crawler.jobs.lifecycle import JobStatus
from crawler.jobs.registry import find_registered
from crawler.views.documents import document_of, in_groups
from crawler.views.paging import ALL, Newest, of_url, page, total

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.orm import Session

    from crawler.db.engine import Transaction
    from crawler.views.paging import Wanted

# What a job is whose worker is gone: what the next worker finds.
LEFT_BEHIND = {JobStatus.RUNNING: JobStatus.RETRYABLE, JobStatus.INDEXING: JobStatus.COMPLETED}
AT_WORK = "in_progress"


def _is_of_source(domain: str) -> ColumnElement[bool]:
    """A job whose source is named by the domain, or begins there."""
    source = aliased(RegisteredSource)  # the list has joined the table itself
    begins = or_(source.code == domain, of_url(source.base_url)(domain))
    return exists().where(source.id == Job.source_id, begins)


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
class JobSummary:
    """A job in short; of one whose worker is gone the status is what the next worker finds."""

    id: int
    name: str
    status: str
    retry_count: int
    created_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    crawler_exit_code: int | None
    crawler_status: str | None
    warc_file_count: int
    warc_bytes_total: int
    indexed_page_count: int
    storage_scanned_at: datetime | None
    cleanup_status: str
    cleaned_at: datetime | None
    emptied_at: datetime | None  # by a purge
    pages_crawled: int
    pages_failed: int


@frozen(kw_only=True)
class JobItem(JobSummary):
    """A job in a list of the API."""

    source_code: str
    source_name: str


@frozen(kw_only=True)
class JobPage:
    """A page of jobs, and how many there are."""

    items: list[JobItem]
    total: int
    limit: int
    offset: int


@frozen(kw_only=True)
class _WholeJob(JobSummary):
    """What the API and the command both print of one job."""

    engine: str
    worker: str | None  # who is at it
    output_dir: str
    crawler_stage: str | None
    pages_total: int
    records_bad: int
    final_zim_path: str | None
    combined_log_path: str | None
    state_file_path: str | None
    config: dict[str, Any] | None
    last_stats: dict[str, Any] | None


@frozen(kw_only=True)
class JobDetails(_WholeJob):
    """A job as the API and the workshop print it."""

    source_code: str
    source_name: str
    run_id: int | None


@frozen(kw_only=True)
class JobDocument(_WholeJob):
    """A job as commands print it, with its steps."""

    source: str | None
    run: int | None
    infra_errors: int
    output_bytes_total: int
    tmp_bytes_total: int
    tmp_non_warc_bytes_total: int
    steps: list[StepDocument]


def newest(
    db: Session,
    now: datetime,
    wanted: Wanted = ALL,
    *,
    source: str | None = None,
    statuses: Collection[str] = (),
) -> list[JobDocument]:
    """Return jobs with their steps, the newest first."""
    query = _jobs(db, now, statuses)
    if source is not None:
        query = query.where(Job.source_id == find_registered(db, source).id)
    return _documents(db, now, page(db, query, NEWEST, wanted))


def listed(
    db: Transaction, wanted: Wanted = ALL, *, source: str | None = None, status: str | None = None
) -> JobPage:
    """Return a page of jobs, the newest first; jobs without a source are among them."""
    query = _jobs(db, db.now, () if status is None else (status,))
    if source is not None:
        query = query.where(lookup.of_source(source))
    items = [
        document_of(JobItem, job, **_names(of), status=shown_status)
        for job, of, shown_status in db.execute(page(db, query, NEWEST, wanted))
    ]
    return JobPage(items=items, total=total(db, query), limit=wanted.limit, offset=wanted.offset)


def shown(db: Session, job: Job, now: datetime) -> JobDocument:
    """Return everything that is known of a job."""
    [document] = _documents(db, now, _jobs(db, now).where(Job.id == job.id))
    return document


def details(db: Transaction, given: str) -> tuple[JobDetails, list[StepDocument]]:
    """Return a job as the API prints it, and its steps."""
    job = lookup.find(db, Job, given)
    found = shown(db, job, db.now)
    names = _names(db.get(RegisteredSource, job.source_id) if job.source_id else None)
    return document_of(JobDetails, found, **names, run_id=found.run), found.steps


def counts(db: Session, now: datetime) -> dict[str, int]:
    """Return how many jobs are shown in each state."""
    states = select(_status(db, now).label("status")).select_from(Job).subquery()
    found: dict[str, int] = dict(
        db.execute(select(states.c.status, func.count()).group_by(states.c.status)).all()
    )
    return {str(status): found.get(status, 0) for status in JobStatus}


def _jobs(
    db: Session, now: datetime, statuses: Collection[str] = ()
) -> Select[*tuple[Job, RegisteredSource | None, str]]:
    """Return the query of jobs, their sources and the states that are shown, of these states or of any."""
    status = _status(db, now)
    query = select(Job, RegisteredSource, status.label("status"))
    query = query.outerjoin(RegisteredSource, RegisteredSource.id == Job.source_id)
    if not statuses:
        return query
    stored = [before for before, after in LEFT_BEHIND.items() if after in statuses]
    # The first condition is for the index; the second one decides.
    return query.where(Job.status.in_([*statuses, *stored]), status.in_(statuses))


def _status(db: Session, now: datetime) -> ColumnElement[str]:
    """Return the state of a job as it is shown.

    Only this machine can tell whether a worker's process has ended, so the few steps at work are read first.
    """
    at_work = db.scalars(select(JobStep).where(JobStep.status == AT_WORK))
    is_left = Job.id.not_in([step.job_id for step in at_work if _is_alive(step, now)])
    changed = [(and_(Job.status == before, is_left), after.value) for before, after in LEFT_BEHIND.items()]
    return case(*changed, else_=Job.status)


def _documents(db: Session, now: datetime, query: Select[*tuple[Any, ...]]) -> list[JobDocument]:
    rows = db.execute(query).all()
    steps: defaultdict[int, list[StepDocument]] = defaultdict(list)
    for ids in in_groups([job.id for job, *_ in rows]):
        of_these = select(JobStep).where(JobStep.job_id.in_(ids)).order_by(JobStep.id)
        for step in db.scalars(of_these):
            steps[step.job_id].append(_step(step, now))
    return [
        document_of(
            JobDocument, job, source=source.code if source else None, run=job.run_id, status=status,
            worker=next((step.worker for step in steps[job.id] if step.worker), None),
            last_stats=job.last_stats_json, steps=steps[job.id],
        )
        for job, source, status in rows
    ]  # fmt: skip


def _names(source: RegisteredSource | None) -> dict[str, str]:
    return {"source_code": source.code if source else "", "source_name": source.name if source else ""}


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
