"""Archive jobs in lists: a page of them, and what became of one; states are those that are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import func, or_, select

from crawler.db import lookup
from crawler.db.models import Job, RegisteredSource, Snapshot, WarcFile
from crawler.db.models.evidence import Record
from crawler.urls import redact
from crawler.views import jobs
from crawler.views.documents import document_of

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.db.engine import Transaction
    from crawler.views.jobs import StepDocument


@frozen(kw_only=True)
class JobItem:
    """A job in a list (SPEC 102)."""

    id: int
    source_code: str
    source_name: str
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
class JobDetails(JobItem):
    """A job with everything that operators ask of it (SPEC 103)."""

    engine: str
    run_id: int | None
    worker: str | None
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
class JobPage:
    """A page of jobs, and how many there are."""

    items: list[JobItem]
    total: int
    limit: int
    offset: int


@frozen(kw_only=True)
class JobSnapshot:
    """A snapshot that came of a job (SPEC 105)."""

    id: int
    url: str
    capture_timestamp: datetime
    date_precision: str | None  # year, month, day or minute, where no more is known
    status_code: int | None
    language: str
    title: str


@frozen(kw_only=True)
class JobSnapshots:
    """A page of them."""

    items: list[JobSnapshot]
    total: int
    limit: int
    offset: int


def page(
    db: Transaction, *, source: str | None = None, status: str | None = None, limit: int, offset: int
) -> JobPage:
    """Jobs, the newest first; one without a source is among them."""
    query = select(Job, RegisteredSource).outerjoin(RegisteredSource, RegisteredSource.id == Job.source_id)
    if source is not None:
        query = query.where(lookup.of_source(source))
    left = _left_behind(db)
    if status is not None:
        now_so = [key for key, shown in left.items() if shown == status]
        as_stored = (Job.status == status) & Job.id.not_in(list(left))
        query = query.where(or_(as_stored, Job.id.in_(now_so)))
    rows = db.execute(query.order_by(Job.created_at.desc(), Job.id.desc()).limit(limit).offset(offset))
    items = [_item(job, of, left.get(job.id, job.status)) for job, of in rows]
    return JobPage(items=items, total=_total(db, query), limit=limit, offset=offset)


def details(db: Transaction, given: str) -> tuple[JobDetails, list[StepDocument]]:
    """A job, and its steps."""
    job = lookup.find(db, Job, given)
    source = db.get(RegisteredSource, job.source_id) if job.source_id else None
    found = jobs.shown(db, job, db.now)
    document = document_of(
        JobDetails, job, **_names(source), status=found.status, worker=found.worker,
        last_stats=job.last_stats_json,
    )  # fmt: skip
    return document, found.steps


def snapshots(db: Transaction, job_id: int, *, limit: int, offset: int) -> JobSnapshots:
    """What came of a job, the newest first; of an unknown one nothing."""
    query = (
        select(Snapshot)
        .join(Record, Record.id == Snapshot.record_id)
        .join(WarcFile, WarcFile.id == Record.warc_file_id)
        .where(WarcFile.job_id == job_id)
    )
    newest = query.order_by(Snapshot.captured_at.desc(), Snapshot.id.desc()).limit(limit).offset(offset)
    items = [
        JobSnapshot(
            id=row.id, url=redact(row.url), capture_timestamp=row.captured_at,
            date_precision=row.date_precision, status_code=row.status_code, language=row.language,
            title=row.title,
        )
        for row in db.scalars(newest)
    ]  # fmt: skip
    return JobSnapshots(items=items, total=_total(db, query), limit=limit, offset=offset)


def _left_behind(db: Transaction) -> dict[int, str]:
    """Jobs whose worker is gone, and the state that the next one finds."""
    open_jobs = db.scalars(select(Job).where(Job.status.in_(jobs.LEFT_BEHIND)))
    found = {job.id: (job.status, jobs.shown(db, job, db.now).status) for job in open_jobs}
    return {key: after for key, (before, after) in found.items() if before != after}


def _item(job: Job, source: RegisteredSource | None, status: str) -> JobItem:
    return document_of(JobItem, job, **_names(source), status=str(status))


def _names(source: RegisteredSource | None) -> dict[str, str]:
    return {"source_code": source.code if source else "", "source_name": source.name if source else ""}


def _total(db: Transaction, query: Any) -> int:
    return db.scalar(select(func.count()).select_from(query.subquery())) or 0
