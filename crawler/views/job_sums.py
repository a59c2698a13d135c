"""Figures of all archive jobs: what they came to together, and how many were cleaned up or counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import fields, frozen
from sqlalchemy import func, null, select

from crawler.db import lookup
from crawler.db.models import Job, RegisteredSource

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


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
