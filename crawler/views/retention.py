"""Retention: how long everything is kept, what goes next, and what holds keep from going."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import or_, select

from crawler.capture.artifact_types import EXPIRING
from crawler.db import lookup
from crawler.db.models import Artifact, CrawlSession, Hold, Listing, RetentionResult
from crawler.evidence.bodies import is_readable
from crawler.retention import holds
from crawler.retention.policies import EXEMPT, load
from crawler.retention.sweep import COLLECTIONS, SESSIONS, RetainedTable
from crawler.views.documents import document_of
from crawler.views.paging import Resource

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session


@frozen(kw_only=True)
class PassDocument:
    """What came of a pass over the collections."""

    timestamp: datetime
    dry_run: bool
    collections_processed: int  # those that could be looked after
    total_deleted: int
    duration_ms: int
    details: list[dict[str, Any]]


@frozen
class PoliciesDocument:
    """Everything that is kept, and the last time that somebody cleaned up."""

    policies: tuple[Forecast, ...]
    last_cleanup: PassDocument | None


@frozen(kw_only=True)
class HoldDocument:
    """Somebody's word that evidence of one target stays."""

    id: UUID
    session_id: UUID | None
    listing_id: UUID | None
    domain: str | None
    who: str
    why: str
    created_at: datetime
    until: datetime | None

    @property
    def target(self) -> str:
        """What it is about."""
        return str(holds.Target(self.session_id, self.listing_id, self.domain))


def policies(db: Session, now: datetime, html_days: int) -> PoliciesDocument:
    """How long each kind is kept, how much there is of it, and what goes next."""
    kinds, last = tuple(forecast(db, html_days, now)), last_result(db)
    if last is None:
        return PoliciesDocument(kinds, None)
    processed = sum(not each.get("error") for each in last.details)
    return PoliciesDocument(kinds, document_of(PassDocument, last, collections_processed=processed))


def _is_of(domain: str) -> ColumnElement[bool]:
    sessions = select(CrawlSession.id).where(CrawlSession.domain == domain)
    listings = select(Listing.id).where(Listing.domain == domain)
    return or_(Hold.domain == domain, Hold.session_id.in_(sessions), Hold.listing_id.in_(listings))


HOLDS = Resource(
    table=Hold,
    by=(Hold.created_at, Hold.id),
    time=Hold.created_at,
    domain=_is_of,  # of a domain also those on its sessions and products
    query=select(Hold),
    document=HoldDocument,
    filters={"standing_at": lambda _, now: holds.is_standing(now)},
)


# ── what is kept, how much of it there is, and what goes next ──


HORIZONS = {"due_now": timedelta(0), "due_in_7_days": timedelta(7), "due_in_30_days": timedelta(30)}
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
    days, listings = load(db), RetainedTable(Listing, Listing.last_seen_at)
    rows, size = lookup.count(db, Listing), _bytes(db, listings)
    return [
        _html(db, html_days, now),
        _other_files(db, days["scrape_metadata"], now),
        *(_collection(db, name, days[name], now) for name in COLLECTIONS),
        Forecast(EXEMPT, None, rows, size, 0, **dict.fromkeys(HORIZONS, 0)),
    ]


def _html(db: Session, days: int, now: datetime) -> Forecast:
    """The HTML of pages, and whatever else has the date of its session's HTML."""
    is_dated = is_readable(now) & Artifact.type.in_(EXPIRING)
    rows, size = lookup.files(db, is_dated)
    held = lookup.count(db, Artifact, is_dated & Artifact.legal_hold)
    due = {
        name: lookup.count(
            db, Artifact, is_dated, ~Artifact.legal_hold, Artifact.retention_until < now + ahead
        )
        for name, ahead in HORIZONS.items()
    }
    return Forecast("html", days, rows, size, held, **due)


def _other_files(db: Session, days: int, now: datetime) -> Forecast:
    """What goes with the row of its session."""
    is_other = is_readable(now) & (Artifact.type.not_in(EXPIRING))
    rows, size = lookup.files(db, is_other)
    held = lookup.count(db, Artifact, is_other & Artifact.legal_hold)
    cutoff, standing = now - timedelta(days=days), holds.standing_at(db, now)
    due = {}
    for name, ahead in HORIZONS.items():
        going = select(CrawlSession.id).where(SESSIONS.is_expired(cutoff + ahead, standing))
        due[name] = lookup.count(db, Artifact, is_other, Artifact.session_id.in_(going))
    return Forecast("other_files", days, rows, size, held, **due)


def _collection(db: Session, name: str, days: int, now: datetime) -> Forecast:
    tables = COLLECTIONS[name]
    cutoff, held = now - timedelta(days=days), holds.standing_at(db, now)
    due = {
        horizon: sum(lookup.count(db, each.table, each.is_expired(cutoff + ahead, held)) for each in tables)
        for horizon, ahead in HORIZONS.items()
    }
    old = sum(lookup.count(db, each.table, each.time < cutoff) for each in tables)
    return Forecast(
        name, days,
        rows=sum(lookup.count(db, each.table) for each in tables),
        bytes=sum(_bytes(db, each) for each in tables),
        held=old - due["due_now"],
        **due,
    )  # fmt: skip


def _bytes(db: Session, retained: RetainedTable) -> int:
    """About how many bytes the rows of a table are: their number times the size of the newest ones."""
    columns = retained.table.__table__.c
    rows = db.execute(select(*columns).order_by(retained.time.desc()).limit(_SAMPLE_ROWS)).all()
    lengths = [
        8 if isinstance(value, int | float | datetime) else len(str(value or ""))
        for row in rows
        for value in row
    ]
    return round(sum(lengths) / len(rows) * lookup.count(db, retained.table)) if rows else 0


def last_result(db: Session) -> RetentionResult | None:
    """What came of the newest cleanup of the collections."""
    return db.scalars(select(RetentionResult).order_by(RetentionResult.id.desc()).limit(1)).first()
