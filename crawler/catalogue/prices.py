"""Price history: a row when something changed, or when a day has passed since the last one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select

from crawler.db.models import Price

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy.orm import Session

    from crawler.catalogue.sighting import PriceTag

CONFIRMED_AFTER = timedelta(days=1)


@frozen
class Proof:
    """What shows that a price was asked for."""

    url: str
    content_sha256: str | None
    session_id: UUID


def note_price(db: Session, listing_id: UUID, tag: PriceTag, proof: Proof, *, now: datetime) -> bool:
    """Add a row to a listing's history if it says something new; the caller has locked the listing's row."""
    last = db.scalars(
        select(Price)
        .where(Price.listing_id == listing_id, Price.currency == tag.currency)
        .order_by(Price.seen_at.desc(), Price.id.desc())
        .limit(1)
    ).first()
    if last is not None and not is_news(last, tag, now):
        return False
    db.add(
        Price(
            listing_id=listing_id,
            currency=tag.currency,
            price=tag.price,
            list_price=tag.list_price,
            availability=tag.availability,
            seen_at=now,
            url=proof.url,
            content_sha256=proof.content_sha256,
            session_id=proof.session_id,
        )
    )
    return True


def is_news(last: Price, tag: PriceTag, now: datetime) -> bool:
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
