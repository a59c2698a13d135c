"""What is kept, how much of it there is, and what goes next."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import func, select

from crawler.capture.artifact_types import HTML
from crawler.db.models import Artifact, Listing
from crawler.evidence.bodies import is_readable
from crawler.retention import policies
from crawler.retention.policies import EXEMPT
from crawler.retention.tables import COLLECTIONS, RetainedTable, holds_at

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

WEEK, MONTH = timedelta(days=7), timedelta(days=30)
_SAMPLE_ROWS = 100  # the newest; a row's size is theirs on average


@frozen
class Outlook:
    """One kind of thing that is kept; the field names are a contract with scripts."""

    name: str
    days: int | None  # None: it has no end
    rows: int
    bytes: int  # of files exactly, of rows about
    held: int  # past their date, or to come to it, and under a hold
    due_now: int
    due_in_7_days: int
    due_in_30_days: int


def outlook(db: Session, html_days: int, now: datetime) -> list[Outlook]:
    """The evidence, then the collections in their order, then what is exempt."""
    days = policies.load(db)
    return [
        _html(db, html_days, now),
        _other_files(db, now),
        *(_collection(db, name, days[name], now) for name in COLLECTIONS),
        _listings(db, now),
    ]


def _html(db: Session, days: int, now: datetime) -> Outlook:
    is_html = is_readable(now) & (Artifact.type == HTML.name)
    rows, size = _files(db, is_html)
    held, _ = _files(db, is_html & Artifact.legal_hold)
    due = {
        name: _files(db, is_html & ~Artifact.legal_hold & (Artifact.retention_until < now + ahead))[0]
        for name, ahead in _horizons().items()
    }
    return Outlook("html", days, rows, size, held, **due)


def _other_files(db: Session, now: datetime) -> Outlook:
    rows, size = _files(db, is_readable(now) & (Artifact.type != HTML.name))
    return Outlook("other_files", None, rows, size, 0, **dict.fromkeys(_horizons(), 0))


def _collection(db: Session, name: str, days: int, now: datetime) -> Outlook:
    shelves = COLLECTIONS[name]
    cutoff, held = now - timedelta(days=days), holds_at(db, now)
    due = {
        horizon: sum(_number(db, shelf, shelf.is_expired(cutoff + ahead, held)) for shelf in shelves)
        for horizon, ahead in _horizons().items()
    }
    old = sum(_number(db, shelf, shelf.time < cutoff) for shelf in shelves)
    return Outlook(
        name, days,
        rows=sum(db.execute(shelf.total()).scalar_one() for shelf in shelves),
        bytes=sum(_bytes(db, shelf) for shelf in shelves),
        held=old - due["due_now"],
        **due,
    )  # fmt: skip


def _listings(db: Session, _now: datetime) -> Outlook:
    shelf = RetainedTable(Listing, Listing.last_seen_at)
    total = db.execute(shelf.total()).scalar_one()
    return Outlook(EXEMPT, None, total, _bytes(db, shelf), 0, **dict.fromkeys(_horizons(), 0))


def _horizons() -> dict[str, timedelta]:
    return {"due_now": timedelta(0), "due_in_7_days": WEEK, "due_in_30_days": MONTH}


def _files(db: Session, which: ColumnElement[bool]) -> tuple[int, int]:
    query = select(func.count(), func.coalesce(func.sum(Artifact.size_bytes), 0)).where(which)
    rows, size = db.execute(query).one()
    return rows, int(size)


def _number(db: Session, shelf: RetainedTable, which: ColumnElement[bool]) -> int:
    number: int = db.execute(select(func.count()).select_from(shelf.table).where(which)).scalar_one()
    return number


def _bytes(db: Session, shelf: RetainedTable) -> int:
    """About how many bytes the rows of a table are: their number times the size of the newest ones."""
    columns = shelf.table.__table__.c
    rows = db.execute(select(*columns).order_by(shelf.time.desc()).limit(_SAMPLE_ROWS)).all()
    if not rows:
        return 0
    average = sum(_length(value) for row in rows for value in row) / len(rows)
    total: int = db.execute(shelf.total()).scalar_one()
    return round(average * total)


def _length(value: Any) -> int:
    return 8 if isinstance(value, int | float | datetime) else len(str(value or ""))
