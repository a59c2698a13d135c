"""Price history: a row when something changed, or when a day has passed since the last one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen
from sqlalchemy import bindparam, insert, select

from crawler.db.models import Price

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import Row, Table
    from sqlalchemy.orm import Session

    from crawler.catalogue.sighting import PriceTag

CONFIRMED_AFTER = timedelta(days=1)
_PRICES = cast("Table", Price.__table__)
_LAST = (
    select(_PRICES)
    .where(_PRICES.c.listing_id == bindparam("its_listing"), _PRICES.c.currency == bindparam("its_currency"))
    .order_by(_PRICES.c.seen_at.desc(), _PRICES.c.id.desc())
    .limit(1)
)
_ADD = insert(_PRICES)


@frozen
class Proof:
    """What shows that a price was asked for."""

    url: str
    content_sha256: str | None
    session_id: UUID


def note_price(db: Session, listing_id: UUID, tag: PriceTag, proof: Proof, *, now: datetime) -> bool:
    """Add a row to a listing's history if it says something new; the caller has locked the listing's row."""
    connection = db.connection()
    last = connection.execute(_LAST, {"its_listing": listing_id, "its_currency": tag.currency}).first()
    if last is not None and not is_news(last, tag, now):
        return False
    row = {
        "listing_id": listing_id,
        "currency": tag.currency,
        "price": tag.price,
        "list_price": tag.list_price,
        "availability": tag.availability,
        "seen_at": now,
        "url": proof.url,
        "content_sha256": proof.content_sha256,
        "session_id": proof.session_id,
    }
    connection.execute(_ADD, row)
    return True


def is_news(last: Price | Row[Any], tag: PriceTag, now: datetime) -> bool:
    """Whether a tag says something else than the last row, or confirms it after a day."""
    before = (last.price, last.list_price, last.availability)
    return before != (tag.price, tag.list_price, tag.availability) or now - last.seen_at >= CONFIRMED_AFTER


def history(db: Session, listing_id: UUID, limit: int) -> Sequence[Price]:
    """The newest rows of a listing, the oldest of them first."""
    newest = db.scalars(
        select(Price)
        .where(Price.listing_id == listing_id)
        .order_by(Price.seen_at.desc(), Price.id.desc())
        .limit(limit)
    ).all()
    return newest[::-1]
