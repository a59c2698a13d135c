"""Reads along as the book is written: listings, prices and records come into being with their pages."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4

from attrs import frozen
from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.orm import aliased

from crawler.capture.artifact_types import HTML
from crawler.catalogue.endings import note_endings
from crawler.catalogue.product_facts import identity_of, quality_of, sighting_of, traces_of
from crawler.db.models import Diagnostic, Listing, Page, Price
from crawler.db.upsert import dialect_of, insert_for
from crawler.errors import BadUrlError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Row, Table
    from sqlalchemy.orm import Session
    from sqlalchemy.sql.dml import ReturningInsert

    from crawler.capture.items import PageCapture
    from crawler.catalogue.product_facts import Identity, PriceTag, Sighting
    from crawler.evidence.files import KeptFile


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


# ── price history: a row when something changed, or when a day has passed since the last one ──


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


# ── reads along as the book is written: listings, prices and records come into being with their pages ──


# Built once: building a statement costs more than running it.
_PAGES = cast("Table", Page.__table__)
_JUDGED = insert(cast("Table", Diagnostic.__table__))
_SHOWS = update(_PAGES).where(_PAGES.c.id == bindparam("its_id")).values(listing_id=bindparam("its_listing"))


class CatalogueHooks:
    """Writes in the transaction of the page, or of the session's end: both stay or neither."""

    def page_kept(self, db: Session, capture: PageCapture, page: Page, files: Sequence[KeptFile]) -> None:
        """Note how a page was judged; of a valid product page, its product and price as well."""
        if page.verdict is None:
            return
        facts = page.facts or {}
        db.connection().execute(_JUDGED, _diagnostic(page, page.verdict, facts))
        if page.verdict.get("is_pdp"):
            _note_product(db, page, capture.canonical_url, files)

    def sessions_ended(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """Note the ends of sessions."""
        note_endings(db, session_ids, now)


def _note_product(db: Session, page: Page, declared: str | None, files: Sequence[KeptFile]) -> None:
    sighting = sighting_of(page.facts or {})
    identity = identity_of(page.url, declared)
    page.listing_id = see(db, identity, sighting, session_id=page.session_id, now=page.created_at)
    db.connection().execute(_SHOWS, {"its_id": page.id, "its_listing": page.listing_id})
    if sighting.tag:
        proof = Proof(page.url, _digest(files), page.session_id)
        note_price(db, page.listing_id, sighting.tag, proof, now=page.created_at)


def _diagnostic(page: Page, verdict: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "timestamp": page.created_at,
        "session_id": page.session_id,
        "page_id": page.id,
        "url": page.url,
        "policy": str(verdict.get("policy")),
        "is_pdp": bool(verdict.get("is_pdp")),
        "quality": quality_of(facts),
        "traces": traces_of(verdict, facts),
    }


def _digest(files: Sequence[KeptFile]) -> str | None:
    return next((file.packed.content_sha256 for file in files if file.type is HTML), None)
