"""Compares captures of a page with the ones before them, a batch at a time, and writes down what differs.

Captures that say nothing of a page, such as a server's failure, are nobody's neighbours. What is written
already is left alone, unless a capture came in between or a text is another one now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen
from sqlalchemy import BigInteger, and_, bindparam, func, or_, select

from crawler.archive.comparing import NOISE_LINES, Comparison, Side, compared
from crawler.db import lookup
from crawler.db.models import RegisteredSource, Snapshot, SnapshotChange, Text
from crawler.db.types import UtcTime
from crawler.db.upsert import for_both
from crawler.errors import NotFoundError
from crawler.html.content import NORMALIZATION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select

    from crawler.db.engine import Database, Transaction
    from crawler.db.upsert import Insert

BATCH = 100  # in one transaction: other writers wait for it
DIFF_VERSION = "v1"
NEW_PAGE, UNCHANGED, UPDATED, ERROR = "new_page", "unchanged", "updated", "error"
SAYS_SOMETHING = (0, 2)  # classes of statuses: unknown, and what a search shows
_COUNTED = (
    "added_sections", "removed_sections", "changed_sections", "added_lines", "removed_lines", "change_ratio",
    "is_coarse",
)  # fmt: skip


@frozen
class ChangesOrder:
    """Which snapshots are looked at."""

    source: str | None = None
    job: int | None = None
    since: datetime | None = None
    again: bool = False  # those, too, that were compared already
    most: int | None = None


@frozen
class ChangesResult:
    """What came of a pass."""

    computed: int = 0
    new_page: int = 0
    unchanged: int = 0
    updated: int = 0
    error: int = 0
    dry_run: bool = False


@frozen
class _Neighbours:
    """A snapshot and the one before it."""

    after: Snapshot
    before: Snapshot | None


def compute_changes(
    database: Database,
    order: ChangesOrder,
    *,
    computed_by: str = "cli",
    dry_run: bool = False,
    on_progress: Callable[[ChangesResult], None] = lambda _: None,
    keep_on: Callable[[], bool] = lambda: True,
) -> ChangesResult:
    """Compare what was not compared; where it is interrupted, the next pass goes on."""
    result = ChangesResult(dry_run=dry_run)
    last = 0
    with database.read() as db:
        which = _which(db, order)
    while keep_on() and (order.most is None or result.computed < order.most):
        size = BATCH if order.most is None else min(BATCH, order.most - result.computed)
        with database.read() as db:
            batch = _some(db, which, last, size)
            if not batch:
                break
            last = batch[-1].after.id
            events = [_event(db, pair, computed_by) for pair in (*batch, *_following(db, batch))]
        written = events if dry_run else _write(database, events)
        result = _counted(result, written)
        on_progress(result)
    return result


def _counted(result: ChangesResult, events: Sequence[dict[str, Any]]) -> ChangesResult:
    kinds = [event["change_type"] for event in events]
    more = {kind: getattr(result, kind) + kinds.count(kind) for kind in (NEW_PAGE, UNCHANGED, UPDATED, ERROR)}
    return evolve(result, computed=result.computed + len(events), **more)


# ── whose turn it is ──


def is_comparable() -> ColumnElement[bool]:
    """Whether a snapshot says something of its page."""
    return and_(Snapshot.group_id.is_not(None), Snapshot.status_class.in_(SAYS_SOMETHING))


def _which(db: Transaction, order: ChangesOrder) -> list[ColumnElement[bool]]:
    which = [is_comparable()]
    if order.source is not None:
        sources = list(db.scalars(select(RegisteredSource.id).where(lookup.of_source(order.source))))
        if not sources:
            raise NotFoundError(f"there is no source {order.source[:80]!r}")
        which.append(Snapshot.source_id.in_(sources))
    if order.job is not None:
        which.append(Snapshot.job_id == order.job)
    if order.since is not None:
        which.append(Snapshot.captured_at >= order.since)
    if not order.again:
        known = (SnapshotChange.id.is_not(None), _is_same(SnapshotChange.to_text_id, Snapshot.text_id))
        which.append(~and_(*known))
    return which


def _is_same(one: Any, other: Any) -> ColumnElement[bool]:
    return func.coalesce(one, 0) == func.coalesce(other, 0)


def _some(db: Transaction, which: Sequence[ColumnElement[bool]], last: int, size: int) -> list[_Neighbours]:
    query = (
        select(Snapshot)
        .outerjoin(SnapshotChange, SnapshotChange.to_snapshot_id == Snapshot.id)
        .where(*which, Snapshot.id > last)
        .order_by(Snapshot.id)
        .limit(size)
    )
    return _with_neighbours(db, list(db.scalars(query)))


def _with_neighbours(db: Transaction, snapshots: Sequence[Snapshot]) -> list[_Neighbours]:
    return [_Neighbours(each, previous(db, each)) for each in snapshots]


def job_of(snapshot: Snapshot) -> int | None:
    """The job that captured it."""
    return snapshot.job_id


def previous(db: Transaction, snapshot: Snapshot) -> Snapshot | None:
    """The capture of the same page that came before one, as far as it says something."""
    return db.scalar(_PREVIOUS, _place_of(snapshot))


def _next(db: Transaction, snapshot: Snapshot) -> Snapshot | None:
    return db.scalar(_NEXT, _place_of(snapshot))


def _place_of(snapshot: Snapshot) -> dict[str, Any]:
    return {"group": snapshot.group_id, "at": snapshot.captured_at, "key": snapshot.id}


def _neighbour(place: ColumnElement[bool]) -> Select[Snapshot]:
    return select(Snapshot).where(is_comparable(), Snapshot.group_id == bindparam("group"), place).limit(1)


def _neighbours() -> tuple[Select[Snapshot], Select[Snapshot]]:
    """The one before a place, and the one behind it."""
    at, key = Snapshot.captured_at, Snapshot.id
    then, mine = bindparam("at", type_=UtcTime()), bindparam("key", type_=BigInteger())
    before = or_(at < then, and_(at == then, key < mine))
    behind = or_(at > then, and_(at == then, key > mine))
    return _neighbour(before).order_by(at.desc(), key.desc()), _neighbour(behind).order_by(at, key)


# Built once: building a statement costs more than running it.
_PREVIOUS, _NEXT = _neighbours()


def _following(db: Transaction, batch: Sequence[_Neighbours]) -> list[_Neighbours]:
    """What was compared with another capture, or another text, than is before it now."""
    mine = {pair.after.id for pair in batch}
    found = {each.id: pair.after for pair in batch if (each := _next(db, pair.after)) and each.id not in mine}
    columns = (SnapshotChange.to_snapshot_id, SnapshotChange.from_snapshot_id, SnapshotChange.from_text_id)
    rows = db.execute(select(*columns).where(SnapshotChange.to_snapshot_id.in_(found)))
    stale = [key for key, *said in rows if said != [found[key].id, found[key].text_id]]
    return _with_neighbours(db, [db.get_one(Snapshot, key) for key in sorted(stale)])


# ── what is said of two ──


def _event(db: Transaction, pair: _Neighbours, computed_by: str) -> dict[str, Any]:
    after, before = pair.after, pair.before
    return {
        "source_id": after.source_id, "group_id": after.group_id, "to_snapshot_id": after.id,
        "from_snapshot_id": before and before.id, "to_job_id": job_of(after),
        "from_job_id": before and job_of(before), "to_captured_at": after.captured_at,
        "from_captured_at": before and before.captured_at, "to_text_id": after.text_id,
        "from_text_id": before and before.text_id, "diff_version": DIFF_VERSION,
        "normalization_version": NORMALIZATION, "computed_by": computed_by,
        **dict.fromkeys(_COUNTED, 0), "is_coarse": False, "high_noise": False, "diff_truncated": False,
        "error_message": None, **_said_of(db, before, after),
    }  # fmt: skip


def _said_of(db: Transaction, before: Snapshot | None, after: Snapshot) -> dict[str, Any]:
    if before is None:
        return {"change_type": NEW_PAGE, "summary": "First archived capture for this page."}
    if before.content_hash == after.content_hash:
        said = "No text changes detected (identical content hash)."
        return {"change_type": UNCHANGED, "summary": said}
    if before.text_id is not None and before.text_id == after.text_id:
        return {"change_type": UNCHANGED, "summary": "No text changes detected (identical text)."}
    if before.text_id is None or after.text_id is None:
        said = "Content updated (diff unavailable for non-HTML capture)."
        return {"change_type": UPDATED, "summary": said, "high_noise": True}
    try:
        return said_of_texts(side_of(db, before.text_id), side_of(db, after.text_id))
    except Exception as error:  # ruff: ignore[blind-except] - one pair of texts is not worth a pass
        name = type(error).__name__  # its words may be the page's
        said = "Diff unavailable due to a processing error."
        return {"change_type": ERROR, "summary": said, "error_message": name}


def side_of(db: Transaction, text_id: int) -> Side:
    """A stored text, to be compared."""
    title, body, headings = db.execute(
        select(Text.title, Text.body, Text.headings).where(Text.id == text_id)
    ).one()
    return Side.of(title, body, headings or ())


def said_of_texts(before: Side, after: Side) -> dict[str, Any]:
    """A comparison as it is counted."""
    found = compared(before, after)
    if not found.sections and before.title == after.title:
        return {"change_type": UNCHANGED, "summary": "No text changes detected (identical text)."}
    return {
        **{name: getattr(found, name) for name in _COUNTED}, "change_type": UPDATED, "summary": found.summary,
        "high_noise": found.is_noisy or _lines_are_noisy(found, before, after),
        "diff_truncated": found.is_cut,
    }  # fmt: skip


def _lines_are_noisy(found: Comparison, before: Side, after: Side) -> bool:
    most = max(len(before.lines), len(after.lines))
    return bool(most) and max(found.added_lines, found.removed_lines) / most > NOISE_LINES


# ── what is written ──


def _upsert(into: Insert) -> Insert:
    values = {name: into.excluded[name] for name in _COLUMNS}
    return into.on_conflict_do_update(index_elements=["to_snapshot_id"], set_=values)


_COLUMNS = [column.name for column in SnapshotChange.__table__.columns if column.name != "id"]
_UPSERT = for_both(SnapshotChange, _upsert)


def _write(database: Database, events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Write events whose snapshots are still there; a purge may have been faster."""
    with database.write() as db:
        keys = {
            key for event in events for key in (event["from_snapshot_id"], event["to_snapshot_id"]) if key
        }
        there = set(db.scalars(select(Snapshot.id).where(Snapshot.id.in_(keys)).with_for_update(read=True)))
        there.add(0)
        kept = [
            event for event in events
            if event["to_snapshot_id"] in there and (event["from_snapshot_id"] or 0) in there
        ]  # fmt: skip
        if kept:
            rows = [{**event, "computed_at": db.now} for event in kept]
            db.connection().execute(_UPSERT[db.get_bind().dialect.name], rows)
    return kept
