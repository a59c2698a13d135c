"""Which artifacts a cleanup may take, as conditions of queries (SPEC B44). Pure: the time comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, or_, select, text, union

from crawler.db.models import CrawlSession, Hold, Listing, Page, Price
from crawler.db.models.evidence import HAS_FAILED, IS_UNTRIED, Artifact
from crawler.db.models.retention import IS_STANDING

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, CompoundSelect, Select
    from sqlalchemy.orm import InstrumentedAttribute


def is_due_untried(now: datetime) -> ColumnElement[bool]:
    """Past its date, strictly, and no cleanup has failed on it; a row under legal hold never is."""
    return and_(text(IS_UNTRIED), Artifact.retention_until < now)


def is_due_failed(now: datetime) -> ColumnElement[bool]:
    """The same, for a row on which a cleanup has failed before."""
    return and_(text(HAS_FAILED), Artifact.retention_until < now)


def is_still_due(now: datetime) -> ColumnElement[bool]:
    """Asked once more of rows that were selected by one of the above.

    It says less than their indexes do, so that no planner takes one of those to find again what it has.
    """
    return and_(
        Artifact.retention_until < now,
        Artifact.deleted_at.is_(None),
        Artifact.legal_hold.is_(False),
        is_unclaimed(now),
    )


def is_rested(now: datetime) -> ColumnElement[bool]:
    """The pause after its last failure is over."""
    return Artifact.cleanup_next <= now


def is_unclaimed(now: datetime) -> ColumnElement[bool]:
    """No cleaner is at it, or one that took longer than its lease."""
    return or_(Artifact.cleanup_claim.is_(None), Artifact.cleanup_claimed_until < now)


# ── which rows a standing hold covers, as conditions of queries. Pure: the time comes in ──


def is_standing(now: datetime) -> ColumnElement[bool]:
    """Neither lifted nor past its date."""
    return and_(text(f"holds.{IS_STANDING}"), or_(Hold.until.is_(None), Hold.until > now))


def is_held(session_id: InstrumentedAttribute[Any], now: datetime) -> ColumnElement[bool]:
    """Whether a hold covers the session: by its id, by its domain, or by a product that it captured.

    One list of sessions, made once a query: asked row by row, it would cost more than the rest together.
    """
    return session_id.in_(sessions_under(is_standing(now)))


def is_held_price(now: datetime) -> ColumnElement[bool]:
    """Whether a hold covers a price: by its session, by its listing, or by the listing's domain."""
    of_domain = select(Listing.id).where(
        Listing.id == Price.listing_id, Listing.domain.in_(_targets(Hold.domain, now))
    )
    return or_(
        is_held(Price.session_id, now),
        Price.listing_id.in_(_targets(Hold.listing_id, now)),
        of_domain.exists(),
    )


def sessions_under(which: ColumnElement[bool]) -> CompoundSelect[Any]:
    """The ids of the sessions that certain holds cover."""
    return union(
        select(CrawlSession.id).where(CrawlSession.id.in_(_of(Hold.session_id, which))),
        select(CrawlSession.id).where(CrawlSession.domain.in_(_of(Hold.domain, which))),
        select(Page.session_id).where(Page.listing_id.in_(_of(Hold.listing_id, which))),
    )


def _targets(column: InstrumentedAttribute[Any], now: datetime) -> Select[Any]:
    return _of(column, is_standing(now))


def _of(column: InstrumentedAttribute[Any], which: ColumnElement[bool]) -> Select[Any]:
    return select(column).where(which, column.is_not(None))
