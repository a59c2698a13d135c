"""What is kept, how much of it there is, and what goes next."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import func, select

from crawler.capture.artifact_types import HTML
from crawler.db.models import Artifact, CrawlSession, Listing, RetentionResult
from crawler.evidence.bodies import is_readable
from crawler.retention import holds, policies
from crawler.retention.policies import EXEMPT
from crawler.retention.sweep import COLLECTIONS, SESSIONS, RetainedTable

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

WEEK, MONTH = timedelta(days=7), timedelta(days=30)
_SAMPLE_ROWS = 100  # the newest; a row's size is theirs on average


@frozen
class Forecast:
    """One kind of thing that is kept; the field names are a contract with scripts."""

    name: str
    days: int | None  # None: it has no end
    rows: int
    bytes: int  # of files exactly, of rows about
    held: int  # past their date, or to come to it, and under a hold
    due_now: int
    due_in_7_days: int
    due_in_30_days: int


def forecast(db: Session, html_days: int, now: datetime) -> list[Forecast]:
    """The evidence, then the collections in their order, then what is exempt."""
    days = policies.load(db)
    return [
        _html(db, html_days, now),
        _other_files(db, days["scrape_metadata"], now),
        *(_collection(db, name, days[name], now) for name in COLLECTIONS),
        _listings(db, now),
    ]


def _html(db: Session, days: int, now: datetime) -> Forecast:
    is_html = is_readable(now) & (Artifact.type == HTML.name)
    rows, size = _files(db, is_html)
    held, _ = _files(db, is_html & Artifact.legal_hold)
    due = {
        name: _files(db, is_html & ~Artifact.legal_hold & (Artifact.retention_until < now + ahead))[0]
        for name, ahead in _horizons().items()
    }
    return Forecast("html", days, rows, size, held, **due)


def _other_files(db: Session, days: int, now: datetime) -> Forecast:
    """What goes with the row of its session."""
    is_other = is_readable(now) & (Artifact.type != HTML.name)
    rows, size = _files(db, is_other)
    held, _ = _files(db, is_other & Artifact.legal_hold)
    cutoff, standing = now - timedelta(days=days), holds.standing_at(db, now)
    due = {}
    for name, ahead in _horizons().items():
        going = select(CrawlSession.id).where(SESSIONS.is_expired(cutoff + ahead, standing))
        due[name], _ = _files(db, is_other & Artifact.session_id.in_(going))
    return Forecast("other_files", days, rows, size, held, **due)


def _collection(db: Session, name: str, days: int, now: datetime) -> Forecast:
    tables = COLLECTIONS[name]
    cutoff, held = now - timedelta(days=days), holds.standing_at(db, now)
    due = {
        horizon: sum(_number(db, each, each.is_expired(cutoff + ahead, held)) for each in tables)
        for horizon, ahead in _horizons().items()
    }
    old = sum(_number(db, each, each.time < cutoff) for each in tables)
    return Forecast(
        name, days,
        rows=sum(db.execute(each.total()).scalar_one() for each in tables),
        bytes=sum(_bytes(db, each) for each in tables),
        held=old - due["due_now"],
        **due,
    )  # fmt: skip


def _listings(db: Session, _now: datetime) -> Forecast:
    retained = RetainedTable(Listing, Listing.last_seen_at)
    total = db.execute(retained.total()).scalar_one()
    return Forecast(EXEMPT, None, total, _bytes(db, retained), 0, **dict.fromkeys(_horizons(), 0))


def _horizons() -> dict[str, timedelta]:
    return {"due_now": timedelta(0), "due_in_7_days": WEEK, "due_in_30_days": MONTH}


def _files(db: Session, which: ColumnElement[bool]) -> tuple[int, int]:
    query = select(func.count(), func.coalesce(func.sum(Artifact.size_bytes), 0)).where(which)
    rows, size = db.execute(query).one()
    return rows, int(size)


def _number(db: Session, retained: RetainedTable, which: ColumnElement[bool]) -> int:
    number: int = db.execute(select(func.count()).select_from(retained.table).where(which)).scalar_one()
    return number


def _bytes(db: Session, retained: RetainedTable) -> int:
    """About how many bytes the rows of a table are: their number times the size of the newest ones."""
    columns = retained.table.__table__.c
    rows = db.execute(select(*columns).order_by(retained.time.desc()).limit(_SAMPLE_ROWS)).all()
    if not rows:
        return 0
    average = sum(_length(value) for row in rows for value in row) / len(rows)
    total: int = db.execute(retained.total()).scalar_one()
    return round(average * total)


def _length(value: Any) -> int:
    return 8 if isinstance(value, int | float | datetime) else len(str(value or ""))


def last_result(db: Session) -> RetentionResult | None:
    """What came of the newest cleanup of the collections."""
    return db.scalars(select(RetentionResult).order_by(RetentionResult.id.desc()).limit(1)).first()
