"""The archive as a whole: how much there is, of which sources, in which editions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import exists, func, select, true

from crawler.capture.artifact_types import SCREENSHOT
from crawler.db import lookup
from crawler.db.models import Artifact, Job, PageGroup, RegisteredSource, Snapshot
from crawler.errors import NotFoundError
from crawler.evidence.bodies import is_readable
from crawler.jobs.registry import find_registered
from crawler.views.changes import browse_url

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Select

    from crawler.config import Settings
    from crawler.db.engine import Transaction

HIDDEN_SOURCE = "test"  # never shown to the public (SPEC 73)
MOST_EDITIONS = 500
MAX_PREVIEW_BYTES = 8 * 1024 * 1024  # it is held whole
SAYS_YES = 2  # the class of an answer with 2xx


@frozen(kw_only=True)
class ArchiveStats:
    """How much there is (SPEC 72); of an empty archive zeros, and no date."""

    snapshots_total: int
    pages_total: int
    sources_total: int
    latest_capture_date: str | None
    latest_capture_age_days: int | None


@frozen(kw_only=True)
class SourceSummary:
    """A source of which something was captured (SPEC 73); dates are days, in UTC."""

    source_code: str
    source_name: str
    base_url: str | None
    description: str | None
    record_count: int
    first_capture: str
    last_capture: str
    latest_record_id: int | None


@frozen(kw_only=True)
class SourceEdition:
    """What one job captured of a source (SPEC 95); dates are days, in UTC."""

    job_id: int
    job_name: str
    record_count: int
    first_capture: str
    last_capture: str
    entry_browse_url: str | None  # the first page that was answered well


@frozen(kw_only=True)
class SourceName:
    """A source as it is chosen from a list."""

    source_code: str
    source_name: str


_HAS_SNAPSHOTS = exists().where(Snapshot.source_id == RegisteredSource.id)


def stats(db: Transaction) -> ArchiveStats:
    """Count what there is."""
    latest = db.scalar(select(func.max(Snapshot.captured_at)))
    return ArchiveStats(
        snapshots_total=_count(db, Snapshot),
        pages_total=page_count(db),
        sources_total=db.scalar(select(func.count()).select_from(RegisteredSource).where(_HAS_SNAPSHOTS))
        or 0,
        latest_capture_date=_day(latest) if latest else None,
        latest_capture_age_days=max((db.now - latest).days, 0) if latest else None,
    )


def page_count(db: Transaction) -> int:
    """Pages of which there are snapshots."""
    return _count(db, PageGroup)


def names(db: Transaction) -> list[SourceName]:
    """The sources that have snapshots, by name; asked for without counting them."""
    shown = select(RegisteredSource.code, RegisteredSource.name).where(
        _HAS_SNAPSHOTS, RegisteredSource.code != HIDDEN_SOURCE
    )
    rows = db.execute(shown.order_by(RegisteredSource.name, RegisteredSource.id))
    return [SourceName(source_code=code, source_name=name) for code, name in rows]


def record_counts(db: Transaction) -> dict[str, int]:
    """How many snapshots each source has, by its code."""
    counted = select(Snapshot.source_id, func.count().label("count")).group_by(Snapshot.source_id).subquery()
    query = select(RegisteredSource.code, counted.c.count).join(
        counted, counted.c.source_id == RegisteredSource.id
    )
    return {row[0]: row[1] for row in db.execute(query.order_by(RegisteredSource.code))}


def sources(db: Transaction, code: str | None = None) -> list[SourceSummary]:
    """Those that have snapshots, by name; or the one with that code."""
    mine = true() if code is None else Snapshot.source_id.in_(_coded(code))
    counted = (
        select(
            Snapshot.source_id,
            func.count().label("count"),
            func.min(Snapshot.captured_at).label("first"),
            func.max(Snapshot.captured_at).label("last"),
        )
        .where(mine)
        .group_by(Snapshot.source_id)
        .subquery()
    )
    query = (
        select(RegisteredSource, counted.c.count, counted.c.first, counted.c.last)
        .join(counted, counted.c.source_id == RegisteredSource.id)
        .where(RegisteredSource.code != HIDDEN_SOURCE)
        .order_by(RegisteredSource.name, RegisteredSource.id)
    )
    return [
        SourceSummary(
            source_code=row.code, source_name=row.name, base_url=row.base_url, description=row.description,
            record_count=count, first_capture=_day(first), last_capture=_day(last),
            latest_record_id=_newest_of(db, row.id),
        )
        for row, count, first, last in db.execute(query)
    ]  # fmt: skip


def preview(db: Transaction, code: str) -> Artifact:
    """The newest picture of a source's pages, where a browser took one of them."""
    newest = (
        select(Artifact)
        .join(Snapshot, Snapshot.page_id == Artifact.page_id)
        .where(
            Snapshot.source_id == _public(db, code).id, Artifact.type == SCREENSHOT.name,
            Artifact.size_bytes <= MAX_PREVIEW_BYTES, is_readable(db.now),
        )
        .order_by(Artifact.created_at.desc(), Artifact.id)
        .limit(1)
    )  # fmt: skip
    found = db.scalars(newest).first()
    if found is None:
        raise NotFoundError("No preview", hint="visits with -a render=1 take pictures")
    return found


def editions(db: Transaction, settings: Settings, code: str) -> list[SourceEdition]:
    """The jobs that captured something of a source, the latest first; what visits captured is of none."""
    source = _public(db, code)
    counted = (
        select(
            Job.id, Job.name, func.count(), func.min(Snapshot.captured_at), func.max(Snapshot.captured_at),
            func.min(Snapshot.id).filter(Snapshot.status_class == SAYS_YES),
        )
        .join(Snapshot, Snapshot.job_id == Job.id)
        .where(Snapshot.source_id == source.id)
        .group_by(Job.id, Job.name)
        .order_by(func.max(Snapshot.captured_at).desc(), Job.id.desc())
        .limit(MOST_EDITIONS)
    )  # fmt: skip
    rows = db.execute(counted).all()
    ids = [row[-1] for row in rows if row[-1]]
    entries = {each.id: each for each in db.scalars(select(Snapshot).where(Snapshot.id.in_(ids)))}
    return [
        SourceEdition(
            job_id=job_id, job_name=name, record_count=count, first_capture=_day(first),
            last_capture=_day(last), entry_browse_url=browse_url(settings, entries[entry]) if entry else None,
        )
        for job_id, name, count, first, last, entry in rows
    ]  # fmt: skip


def _public(db: Transaction, code: str) -> RegisteredSource:
    source = find_registered(db, code)
    if source.code == HIDDEN_SOURCE:
        raise NotFoundError("Source not found")
    return source


def _coded(code: str) -> Select[Any]:
    return select(RegisteredSource.id).where(lookup.of_source(code))


def _newest_of(db: Transaction, source_id: int) -> int | None:
    mine = select(Snapshot.id).where(Snapshot.source_id == source_id)
    return db.scalar(mine.order_by(Snapshot.captured_at.desc(), Snapshot.id.desc()).limit(1))


def _count(db: Transaction, table: type[Snapshot | PageGroup]) -> int:
    return db.scalar(select(func.count()).select_from(table)) or 0


def _day(at: datetime) -> str:
    return at.date().isoformat()
