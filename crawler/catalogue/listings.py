"""Listings in the database: seen again, or for the first time."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from sqlalchemy import func, select
from sqlalchemy.orm import aliased

from crawler.catalogue.identity import identity_of
from crawler.db.models import Listing, Price
from crawler.db.upsert import dialect_of, insert_for
from crawler.errors import BadUrlError, NotFoundError

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session
    from sqlalchemy.sql.dml import ReturningInsert

    from crawler.catalogue.identity import Identity
    from crawler.catalogue.sighting import Sighting

FACTS = ("name", "brand", "sku", "gtin", "image")
_HINT = "`vitrine listings list` shows them"


def see(db: Session, identity: Identity, sighting: Sighting, *, session_id: UUID, now: datetime) -> UUID:
    """Write that a product was seen; a fact that its page no longer states keeps its last value."""
    row = {
        "id": uuid4(), "domain": identity.domain, "url": identity.url, "url_sha256": identity.url_sha256,
        "first_seen_at": now, "last_seen_at": now, "last_session_id": session_id,
        **{name: getattr(sighting, name) for name in FACTS},
    }  # fmt: skip
    found: UUID = db.connection().execute(_seen(dialect_of(db)), row).scalar_one()
    return found


@cache
def _seen(dialect: str) -> ReturningInsert[Any]:
    """The statement behind `see`, built once for each database."""
    adding = insert_for(dialect, Listing)
    kept = {name: func.coalesce(adding.excluded[name], getattr(Listing, name)) for name in FACTS}
    latest = {name: adding.excluded[name] for name in ("last_seen_at", "last_session_id")}
    statement = adding.on_conflict_do_update(
        index_elements=[Listing.domain, Listing.url_sha256], set_={**kept, **latest}
    )
    return statement.returning(Listing.id)


def newest(db: Session, *, domain: str | None, limit: int) -> list[tuple[Listing, Price | None]]:
    """The listings seen last, each with its newest price."""
    other = aliased(Price)
    newest_price = (
        select(other.id)
        .where(other.listing_id == Listing.id)
        .order_by(other.seen_at.desc(), other.id.desc())
        .limit(1)
        .correlate(Listing)
        .scalar_subquery()
    )
    query = (
        select(Listing, Price)
        .outerjoin(Price, Price.id == newest_price)
        .order_by(Listing.last_seen_at.desc(), Listing.id)
        .limit(limit)
    )
    query = query.where(Listing.domain == domain) if domain else query
    return [(listing, price) for listing, price in db.execute(query)]


def seen_before(db: Session, moment: datetime, *, domain: str | None, limit: int) -> list[Listing]:
    """The listings that were not seen since, those that waited longest first."""
    query = select(Listing).where(Listing.last_seen_at <= moment)
    query = query.where(Listing.domain == domain) if domain else query
    return list(db.scalars(query.order_by(Listing.last_seen_at, Listing.id).limit(limit)))


def find(db: Session, word: str) -> Listing:
    """The listing with this id, with an id that begins so, or with this URL."""
    found = _by_url(db, word) if "/" in word else _by_id(db, word)
    if len(found) == 1:
        return found[0]
    how = "several listings are" if found else "there is no listing"
    raise NotFoundError(f"{how} {word!r}", hint=_HINT)


def _by_url(db: Session, url: str) -> list[Listing]:
    try:
        identity = identity_of(url, None)
    except BadUrlError as error:
        raise NotFoundError(str(error), hint=_HINT) from None
    query = select(Listing).where(
        Listing.domain == identity.domain, Listing.url_sha256 == identity.url_sha256
    )
    return list(db.scalars(query))


def _by_id(db: Session, prefix: str) -> list[Listing]:
    digits = prefix.replace("-", "").lower()
    if not digits or len(digits) > 32 or set(digits) - set("0123456789abcdef"):  # ruff: ignore[magic-value-comparison] - a UUID's
        return []
    first, last = (UUID(digits.ljust(32, fill)) for fill in "0f")
    return list(db.scalars(select(Listing).where(Listing.id.between(first, last)).limit(2)))
