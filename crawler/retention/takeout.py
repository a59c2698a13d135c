"""What hangs on sessions and domains, counted and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen
from sqlalchemy import delete, func, or_, select, update

from crawler.db.models import (
    Artifact,
    Base,
    CrawlLog,
    CrawlSession,
    DomainDay,
    HaulMember,
    Listing,
    Page,
    Price,
    ScrapeRecord,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.orm import Session


@frozen
class Figures:
    """How much was, or would be, taken out."""

    sessions: int = 0
    pages: int = 0
    log_lines: int = 0
    files: int = 0
    bytes: int = 0
    prices: int = 0
    listings: int = 0


def count(db: Session, sessions: Select[Any], domain: str | None, *, with_prices: bool) -> Figures:
    """What the sessions have, and what else is the domain's."""
    live = (Artifact.session_id.in_(sessions), Artifact.deleted_at.is_(None))
    files, size = db.execute(
        select(func.count(), func.coalesce(func.sum(Artifact.size_bytes), 0)).where(*live)
    ).one()
    prices = or_(Price.session_id.in_(sessions), Price.listing_id.in_(_listings_of(domain)))
    return Figures(
        sessions=_number(db, CrawlSession, CrawlSession.id.in_(sessions)),
        pages=_number(db, Page, Page.session_id.in_(sessions)),
        log_lines=_number(db, CrawlLog, CrawlLog.session_id.in_(sessions)),
        files=files,
        bytes=int(size),
        prices=_number(db, Price, prices) if with_prices else 0,
        listings=_number(db, Listing, Listing.domain == domain) if with_prices and domain else 0,
    )


def gone_since(db: Session, sessions: Any, since: datetime) -> Figures:
    """The files of sessions that were removed since then."""
    files, size = db.execute(
        select(func.count(), func.coalesce(func.sum(Artifact.size_bytes), 0)).where(
            Artifact.session_id.in_(sessions), Artifact.deleted_at >= since
        )
    ).one()
    return Figures(files=files, bytes=int(size))


def remove_sessions(db: Session, keys: Sequence[UUID], *, since: datetime, with_prices: bool) -> Figures:
    """Delete sessions whose files are gone, with everything that names them; prices only on request."""
    files = gone_since(db, keys, since)
    pages = _number(db, Page, Page.session_id.in_(keys))
    lines = _number(db, CrawlLog, CrawlLog.session_id.in_(keys))
    prices = _delete(db, Price, Price.session_id.in_(keys)) if with_prices else 0
    _delete(db, ScrapeRecord, ScrapeRecord.subject_id.in_([str(key) for key in keys]))
    db.execute(_quiet(update(HaulMember).where(HaulMember.session_id.in_(keys)).values(session_id=None)))
    _delete(db, Artifact, Artifact.session_id.in_(keys))
    # Pages, logs and diagnostics follow by their foreign keys.
    sessions = _delete(db, CrawlSession, CrawlSession.id.in_(keys))
    return evolve(files, sessions=sessions, pages=pages, log_lines=lines, prices=prices)


def remove_domain(db: Session, domain: str, *, with_prices: bool) -> Figures:
    """Delete what is left of a domain: its days, and on request its products and their prices."""
    _delete(db, DomainDay, DomainDay.domain == domain)
    if not with_prices:
        return Figures()
    prices = _delete(db, Price, Price.listing_id.in_(_listings_of(domain)))
    return Figures(prices=prices, listings=_delete(db, Listing, Listing.domain == domain))


def _listings_of(domain: str | None) -> Select[Any]:
    return select(Listing.id).where(Listing.domain == domain)


def _number(db: Session, table: type[Base], which: ColumnElement[bool]) -> int:
    return db.execute(select(func.count()).select_from(table).where(which)).scalar_one()


def _delete(db: Session, table: type[Base], which: ColumnElement[bool]) -> int:
    key = table.__mapper__.primary_key[0]
    return len(db.execute(_quiet(delete(table).where(which).returning(key))).all())


def _quiet(statement: Any) -> Any:
    # No objects of these rows are loaded that would have to be kept in step.
    return statement.execution_options(synchronize_session=False)
