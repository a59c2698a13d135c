"""The snapshots that came of an archive job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select

from crawler.db.models import Snapshot, WarcFile
from crawler.db.models.evidence import Record
from crawler.urls import redact
from crawler.views.documents import document_of
from crawler.views.paging import ALL, page, total
from crawler.views.snapshots import SNAPSHOTS

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.views.paging import Wanted


@frozen(kw_only=True)
class JobSnapshot:
    """A snapshot that came of a job."""

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


def snapshots_of(db: Session, job_id: int, wanted: Wanted = ALL) -> JobSnapshots:
    """Return a page of a job's snapshots, the newest first; of an unknown job none."""
    query = (
        select(Snapshot)
        .join(Record, Record.id == Snapshot.record_id)
        .join(WarcFile, WarcFile.id == Record.warc_file_id)
        .where(WarcFile.job_id == job_id)
    )
    items = [
        document_of(JobSnapshot, row, url=redact(row.url), capture_timestamp=row.captured_at)
        for row in db.scalars(page(db, query, SNAPSHOTS, wanted))
    ]
    return JobSnapshots(items=items, total=total(db, query), limit=wanted.limit, offset=wanted.offset)
