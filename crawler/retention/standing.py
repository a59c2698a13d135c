"""Which rows a standing hold covers, as conditions of queries. Pure: the time comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, or_, select, text, union

from crawler.db.models import CrawlSession, Hold, Listing, Page, Price
from crawler.db.models.retention import IS_STANDING

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, CompoundSelect, Select
    from sqlalchemy.orm import InstrumentedAttribute


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
