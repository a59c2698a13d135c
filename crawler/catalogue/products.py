"""Reads along as the book is written: listings, prices and records come into being with their pages."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4

from attrs import frozen
from sqlalchemy import bindparam, func, insert, select, update

from crawler.catalogue.endings import note_endings
from crawler.catalogue.product_facts import identity_of, quality_of, sighting_of, traces_of
from crawler.db import lookup
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


def find(db: Session, given: str) -> Listing:
    """The listing with this URL, or whose id begins so."""
    if "/" not in given:
        return lookup.find(db, Listing, given)
    found = _by_url(db, given)
    if found is None:
        raise NotFoundError(f"there is no listing {given!r}", hint=_HINT)
    return found


def _by_url(db: Session, url: str) -> Listing | None:
    try:
        identity = identity_of(url, None)
    except BadUrlError as error:
        raise NotFoundError(str(error), hint=_HINT) from None
    query = select(Listing).where(
        Listing.domain == identity.domain, Listing.url_sha256 == identity.url_sha256
    )
    return db.scalars(query).one_or_none()


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
    return next((file.packed.content_sha256 for file in files if file.type == "html_gz"), None)
