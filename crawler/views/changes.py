"""What changed: between any two captures of a page, from one capture to the next, and lately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import and_, exists, func, or_, select
from sqlalchemy.orm import aliased

from crawler.archive.asked import address, capture_date, timestamp_of, url_of
from crawler.archive.changes import (
    DIFF_VERSION,
    ERROR,
    SAYS_SOMETHING,
    UNCHANGED,
    UPDATED,
    is_comparable,
    job_of,
    previous,
    said_of_texts,
    side_of,
)
from crawler.archive.comparing import FieldChange, SectionChange, compared, field_changes
from crawler.archive.search import on_days
from crawler.db import lookup
from crawler.db.models import Job, Page, PageGroup, Record, RegisteredSource, Snapshot, SnapshotChange
from crawler.errors import CrawlerError, NotFoundError
from crawler.html.content import NORMALIZATION
from crawler.pdp import facts_in, verdict_in
from crawler.views.documents import document_of
from crawler.views.paging import ALL, Newest, Wanted, conditions, cut, total
from crawler.views.snapshots import captured_of
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from datetime import date, datetime

    from sqlalchemy import ColumnElement, Row, Select

    from crawler.config import Settings
    from crawler.db.engine import Transaction
    from crawler.pdp import Facts

MAX_PAGE_SIZE = 100
FEED_ENTRIES = 50


class NotComparableError(CrawlerError):
    """Those two captures cannot be compared."""

    code = "not_comparable"
    http_status = 400


@frozen(kw_only=True)
class ComparedSnapshot:
    """One side of a comparison."""

    id: int
    url: str
    captured_at: datetime
    date_precision: str | None  # year, month, day or minute, where no more is known
    title: str
    status_code: int | None
    source_code: str
    browse_url: str


@frozen(kw_only=True)
class DiffDocument:
    """What differs between two captures: `vitrine diff A B`."""

    from_snapshot: ComparedSnapshot
    to_snapshot: ComparedSnapshot
    change_type: str
    summary: str
    added_lines: int
    removed_lines: int
    added_sections: int
    removed_sections: int
    changed_sections: int
    change_ratio: float
    high_noise: bool
    is_coarse: bool
    is_cut: bool
    facts: tuple[FieldChange, ...]
    sections: tuple[SectionChange, ...]
    diff_version: str
    normalization_version: str


@frozen(kw_only=True)
class ChangeDocument:
    """What differs from one capture to the next, counted (SPEC 92, 158)."""

    change_id: int
    change_type: str
    summary: str
    high_noise: bool
    diff_available: bool
    source_code: str
    source_name: str
    normalized_url_group: str
    from_snapshot_id: int | None
    to_snapshot_id: int
    from_capture_timestamp: datetime | None
    to_capture_timestamp: datetime
    from_date_precision: str | None  # year, month, day or minute, where no more is known
    to_date_precision: str | None
    from_job_id: int | None
    to_job_id: int | None
    added_sections: int
    removed_sections: int
    changed_sections: int
    added_lines: int
    removed_lines: int
    change_ratio: float


@frozen(kw_only=True)
class Feed:
    """A page of changes, the newest first."""

    enabled: bool
    total: int
    page: int
    page_size: int
    results: list[ChangeDocument]


@frozen(kw_only=True)
class FeedOrder:
    """Which changes are wanted."""

    source: str | None = None
    job: int | None = None
    latest: bool | None = (
        None  # of each source those of its newest indexed job; None: where nothing else is said
    )
    with_unchanged: bool = False
    since: date | None = None
    until: date | None = None  # that day included
    wanted: Wanted = ALL  # besides, and which page


@frozen(kw_only=True)
class TimelineEntry:
    """One capture of a page."""

    snapshot_id: int
    capture_date: str
    capture_timestamp: datetime
    date_precision: str | None
    job_id: int | None
    job_name: str | None
    title: str
    status_code: int | None
    compare_from_snapshot_id: int | None
    browse_url: str


@frozen(kw_only=True)
class Timeline:
    """All captures of a page, the oldest first (SPEC 94)."""

    source_code: str
    source_name: str
    normalized_url_group: str
    snapshots: list[TimelineEntry]


# ── any two captures ──


def diff(db: Transaction, settings: Settings, before: str, after: str) -> DiffDocument:
    """What differs between two captures of one page; of different pages nothing is told."""
    old, new = lookup.find(db, Snapshot, before), lookup.find(db, Snapshot, after)
    if _page_of(db, old) != _page_of(db, new):
        raise NotComparableError(
            f"snapshots {old.id} and {new.id} are of different pages",
            hint="vitrine search URL lists those of one",
        )
    counted: dict[str, Any] = {
        "change_type": UNCHANGED,
        "summary": "No text changes detected (identical text).",
    }
    sections: tuple[SectionChange, ...] = ()
    if old.content_hash == new.content_hash:
        counted["summary"] = "No text changes detected (identical content hash)."
    elif old.text_id is None or new.text_id is None:
        raise NotComparableError(_no_text(old, new))
    elif old.text_id != new.text_id:
        sides = side_of(db, old.text_id), side_of(db, new.text_id)
        counted = said_of_texts(*sides)
        sections = compared(*sides).sections
    facts = field_changes(_facts(db, old), _facts(db, new), (old.title, new.title))
    if facts and counted["change_type"] == UNCHANGED:
        counted |= {"change_type": UPDATED, "summary": "Archived text updated"}
    sides_shown = (_side(db, settings, old), _side(db, settings, new))
    return _diff_document(sides_shown, counted, sections, facts)


def _diff_document(
    sides: tuple[ComparedSnapshot, ComparedSnapshot],
    counted: dict[str, Any],
    sections: tuple[SectionChange, ...],
    facts: tuple[FieldChange, ...],
) -> DiffDocument:
    names = ("added_lines", "removed_lines", "added_sections", "removed_sections", "changed_sections")
    numbers = {name: counted.get(name, 0) for name in names}
    return DiffDocument(
        from_snapshot=sides[0], to_snapshot=sides[1], change_type=counted["change_type"],
        summary=counted["summary"], **numbers, change_ratio=counted.get("change_ratio", 0.0),
        high_noise=counted.get("high_noise", False), is_coarse=counted.get("is_coarse", False),
        is_cut=counted.get("diff_truncated", False), facts=facts, sections=sections,
        diff_version=DIFF_VERSION, normalization_version=NORMALIZATION,
    )  # fmt: skip


def _page_of(db: Transaction, snapshot: Snapshot) -> str:
    key = db.scalar(select(PageGroup.group_key).where(PageGroup.id == snapshot.group_id))
    return key or snapshot.url


def _no_text(*snapshots: Snapshot) -> str:
    bare = [each for each in snapshots if each.text_id is None]
    said = " and ".join(f"snapshot {each.id} ({each.problem or 'gone'})" for each in bare)
    return f"the bytes differ, and there is no text of {said}"


def _facts(db: Transaction, snapshot: Snapshot) -> Facts | None:
    """What a page says of its product; names and prices of a list of products are nobody's facts."""
    page = db.get(Page, snapshot.page_id) if snapshot.page_id else None
    verdict = verdict_in(page.verdict) if page is not None else None
    if page is None or not page.facts or verdict is None or not verdict.is_pdp:
        return None
    return facts_in(page.facts)


def _side(db: Transaction, settings: Settings, snapshot: Snapshot) -> ComparedSnapshot:
    code = db.scalars(select(RegisteredSource.code).where(RegisteredSource.id == snapshot.source_id)).one()
    return ComparedSnapshot(
        id=snapshot.id, url=snapshot.url, captured_at=snapshot.captured_at,
        date_precision=snapshot.date_precision, title=snapshot.title,
        status_code=snapshot.status_code, source_code=code, browse_url=browse_url(settings, snapshot),
    )  # fmt: skip


def browse_url(settings: Settings, snapshot: Snapshot) -> str:
    """Where a person sees a capture: here, or in the replay that is set (SPEC 8)."""
    return browse_address(settings, snapshot.url, timestamp_of(snapshot.captured_at))


def browse_address(settings: Settings, url: str, timestamp: str) -> str:
    """The same of a URL and a time."""
    if settings.foreign_replay:
        return f"{settings.foreign_replay}/{timestamp}/{url}"
    return address(url, timestamp)


def side(db: Transaction, settings: Settings, given: str) -> ComparedSnapshot:
    """A snapshot, as one side of a comparison."""
    return _side(db, settings, lookup.find(db, Snapshot, given))


# ── from one capture to the next ──


_BEFORE, _AFTER = aliased(Snapshot), aliased(Snapshot)
NEWEST = Newest(
    table=SnapshotChange,
    by=(SnapshotChange.to_captured_at, SnapshotChange.id),
    time=SnapshotChange.to_captured_at,
    domain=captured_of(_AFTER),
)


def feed(db: Transaction, settings: Settings, order: FeedOrder) -> Feed:
    """Return a page of the changes that were found, the newest first."""
    page = {"page": order.wanted.number, "page_size": order.wanted.limit}
    if not settings.change_tracking_enabled:
        return Feed(enabled=False, total=0, results=[], **page)
    query = _changes().where(*_wanted(db, order))
    results = [_change(row) for row in db.execute(cut(db, query, NEWEST, order.wanted))]
    return Feed(enabled=True, total=total(db, query), results=results, **page)


def _changes() -> Select[*tuple[Any, ...]]:
    change = SnapshotChange
    has_texts = and_(_BEFORE.text_id.is_not(None), _AFTER.text_id.is_not(None))
    return (
        select(
            change, RegisteredSource.code, RegisteredSource.name, PageGroup.group_key, has_texts,
            _BEFORE.date_precision.label("from_precision"), _AFTER.date_precision.label("to_precision"),
        )
        .join(RegisteredSource, RegisteredSource.id == change.source_id)
        .join(PageGroup, PageGroup.id == change.group_id)
        .join(_AFTER, _AFTER.id == change.to_snapshot_id)
        .outerjoin(_BEFORE, _BEFORE.id == change.from_snapshot_id)
    )  # fmt: skip


def _change(found: Row[*tuple[Any, ...]]) -> ChangeDocument:
    row, code, name, group, has_texts, before, after = found
    return document_of(
        ChangeDocument, row, change_id=row.id, source_code=code, source_name=name, normalized_url_group=group,
        from_capture_timestamp=row.from_captured_at, to_capture_timestamp=row.to_captured_at,
        from_date_precision=before, to_date_precision=after,
        diff_available=bool(has_texts) and row.change_type != ERROR,
    )  # fmt: skip


def _wanted(db: Transaction, order: FeedOrder) -> list[ColumnElement[bool]]:
    change = SnapshotChange
    which = conditions(order.wanted, NEWEST)
    if order.source is not None:
        which.append(change.source_id.in_(_source_ids(db, order.source)))
    if order.job is not None:
        which.append(change.to_job_id == order.job)
    if not order.with_unchanged:
        which.append(change.change_type != UNCHANGED)
    which += on_days(change.to_captured_at, order.since, order.until)
    has_filter = (order.source, order.job, order.since, order.until) != (None,) * 4
    if order.latest or (order.latest is None and not has_filter):
        which.append(_is_of_newest_job())
    return which


def _is_of_newest_job() -> ColumnElement[bool]:
    """Of what jobs captured of a source what its newest indexed job found, and all that visits found."""
    change = SnapshotChange
    newest = (
        select(func.max(Job.id))
        .where(Job.source_id == change.source_id, Job.status == "indexed")
        .scalar_subquery()
    )
    indexed = exists().where(Job.source_id == change.source_id, Job.status == "indexed")
    return or_(change.to_job_id == newest, change.to_job_id.is_(None), ~indexed)


def _source_ids(db: Transaction, named: str) -> list[int]:
    found = list(db.scalars(select(RegisteredSource.id).where(lookup.of_source(named))))
    if not found:
        raise NotFoundError("Source not found")
    return found


def event_of(db: Transaction, to_snapshot: int) -> ChangeDocument | None:
    """What was written of a capture and the one before it."""
    row = db.execute(_changes().where(SnapshotChange.to_snapshot_id == to_snapshot)).one_or_none()
    return None if row is None else _change(row)


# ── all captures of a page ──


def timeline(db: Transaction, settings: Settings, given: str) -> Timeline:
    """All captures of a snapshot's page in its source."""
    row = lookup.find(db, Snapshot, given)
    if row.group_id is None:
        raise NotFoundError("Snapshot not grouped")
    source = db.get_one(RegisteredSource, row.source_id)
    mine = (
        select(Snapshot).where(Snapshot.group_id == row.group_id).order_by(Snapshot.captured_at, Snapshot.id)
    )
    key = db.scalars(select(PageGroup.group_key).where(PageGroup.id == row.group_id)).one()
    return Timeline(
        source_code=source.code, source_name=source.name, normalized_url_group=key,
        snapshots=_entries(db, settings, list(db.scalars(mine))),
    )  # fmt: skip


def _entries(db: Transaction, settings: Settings, snapshots: list[Snapshot]) -> list[TimelineEntry]:
    jobs = {job for each in snapshots if (job := job_of(each))}
    names: dict[int, str] = {}
    if jobs:
        rows = db.execute(select(Job.id, Job.name).where(Job.id.in_(jobs)))
        names = {key: name for key, name in rows}  # ruff: ignore[unnecessary-comprehension] - to the checker a row is no pair
    entries: list[TimelineEntry] = []
    last: int | None = None
    for each in snapshots:
        at, job = each.captured_at, job_of(each)
        entry = TimelineEntry(
            snapshot_id=each.id, capture_date=capture_date(at, each.date_precision), capture_timestamp=at,
            date_precision=each.date_precision, job_id=job,
            job_name=names.get(job or 0), title=each.title, status_code=each.status_code,
            compare_from_snapshot_id=last, browse_url=browse_url(settings, each),
        )  # fmt: skip
        entries.append(entry)
        last = each.id if each.status_class in SAYS_SOMETHING else last
    return entries


def latest(db: Transaction, given: str, *, require_html: bool = True) -> Snapshot:
    """The newest capture of a snapshot's page that says something of it."""
    row = lookup.find(db, Snapshot, given)
    if row.group_id is None:
        raise NotFoundError("Snapshot not grouped")
    mine = select(Snapshot).where(is_comparable(), Snapshot.group_id == row.group_id)
    if require_html:
        mine = mine.where(Snapshot.text_id.is_not(None))
    found = db.scalar(mine.order_by(Snapshot.captured_at.desc(), Snapshot.id.desc()).limit(1))
    if found is None:
        raise NotFoundError("No capture of this page can be shown")
    return found


def snapshot_of(db: Transaction, record_id: int) -> int | None:
    """The number of the snapshot that was made of a record."""
    return db.scalar(select(Snapshot.id).where(Snapshot.record_id == record_id))


def nearest_of_job(db: Transaction, url: str, at: datetime, job: int) -> Snapshot | None:
    """A job's capture of a URL that is nearest to a time."""
    mine = (
        select(Snapshot)
        .join(Record, Record.id == Snapshot.record_id)
        .where(Snapshot.job_id == job, Record.url_key == stored_key(url_of(url)))
    )
    earlier = mine.where(Snapshot.captured_at < at).order_by(Snapshot.captured_at.desc()).limit(1)
    later = mine.where(Snapshot.captured_at >= at).order_by(Snapshot.captured_at).limit(1)
    found = [each for query in (later, earlier) if (each := db.scalar(query)) is not None]
    return min(found, key=lambda each: abs(each.captured_at - at), default=None)


def before(db: Transaction, given: str) -> int | None:
    """The number of the capture that a snapshot is compared with unless another one is named."""
    found = previous(db, lookup.find(db, Snapshot, given))
    return None if found is None else found.id
