"""Products and their prices: what a page says of them is written with it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4

from attrs import asdict, evolve, fields_dict, frozen
from sqlalchemy import bindparam, case, func, insert, select, update

from crawler.catalogue.product_facts import PriceTag, sighting_of
from crawler.db.models import Listing, Page, Price
from crawler.db.upsert import for_both

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Row, Table
    from sqlalchemy.orm import Session
    from sqlalchemy.sql.dml import ReturningInsert

    from crawler.capture.items import PageCapture
    from crawler.catalogue.product_facts import Sighting
    from crawler.db.upsert import Insert

FACTS = ("name", "brand", "sku", "gtin", "mpn", "image")
CONFIRMED_AFTER = timedelta(days=1)


@frozen
class Product:
    """A product as it is known once a page was read; what the page does not state is as it was last."""

    listing_id: UUID
    known: Sighting  # with its newest price
    page_url: str
    policy: str  # by which the page was judged
    is_new: bool  # nothing can refer to its listing yet


def _seeing(adding: Insert, *, is_alias: bool) -> ReturningInsert[Any]:
    new = adding.excluded
    is_variant = (Listing.last_session_id == new.last_session_id) & (Listing.sku != new.sku)
    kept: dict[str, Any] = {name: func.coalesce(new[name], getattr(Listing, name)) for name in FACTS}
    if is_alias:
        kept = {name: case((is_variant, getattr(Listing, name)), else_=value) for name, value in kept.items()}
    latest = {name: new[name] for name in ("last_seen_at", "last_session_id")}
    statement = adding.on_conflict_do_update(
        index_elements=[Listing.domain, Listing.url_sha256], set_={**kept, **latest}
    )
    return statement.returning(Listing.id, *(getattr(Listing, name) for name in FACTS))


_SEE = for_both(Listing, partial(_seeing, is_alias=False))
_SEE_ALIAS = for_both(Listing, partial(_seeing, is_alias=True))
_PAGES, _PRICES = (cast("Table", table.__table__) for table in (Page, Price))
_SHOWS = update(_PAGES).where(_PAGES.c.id == bindparam("its_id")).values(listing_id=bindparam("its_listing"))
_NEWEST = (
    select(_PRICES)
    .where(_PRICES.c.listing_id == bindparam("its_listing"))
    .order_by(_PRICES.c.seen_at.desc(), _PRICES.c.id.desc())
    .limit(1)
)
_NEWEST_IN = _NEWEST.where(_PRICES.c.currency == bindparam("its_currency"))
_ADD = insert(_PRICES)


def see(db: Session, page: Page, capture: PageCapture, digest: str | None) -> Product:
    """Write that a page shows a product, and what it costs if that is news.

    A fact that the page no longer states keeps its last value. Pages of a product's variants often declare
    one URL: of those of one visit the first one speaks for the product, and whichever has that URL itself.
    Otherwise each would be a change of the one before. `digest` is that of the page's HTML. The listing's row
    is ours until the transaction ends.
    """
    verdict, facts = capture.verdict, capture.facts
    assert verdict is not None  # ruff: ignore[assert] - there is no product without
    assert facts is not None  # ruff: ignore[assert]
    said = sighting_of(page.url, capture.canonical_url, facts)
    identity, new_id = said.identity, uuid4()
    row = {
        "id": new_id, "domain": identity.domain, "url": identity.url, "url_sha256": identity.url_sha256,
        "first_seen_at": page.created_at, "last_seen_at": page.created_at,
        "last_session_id": page.session_id, **{name: getattr(said, name) for name in FACTS},
    }  # fmt: skip
    connection = db.connection()
    statement = _SEE if identity.is_own else _SEE_ALIAS
    listing = connection.execute(statement[connection.dialect.name], row).one()
    page.listing_id = listing.id
    connection.execute(_SHOWS, {"its_id": page.id, "its_listing": listing.id})
    is_variant = not identity.is_own and said.sku is not None and said.sku != listing.sku
    tag = _note_price(connection, page, None if is_variant else said.tag, digest)
    known = evolve(said, tag=tag, **{name: getattr(listing, name) for name in FACTS})
    return Product(listing.id, known, page.url, verdict.policy, is_new=listing.id == new_id)


def _note_price(
    connection: Connection, page: Page, tag: PriceTag | None, digest: str | None
) -> PriceTag | None:
    """Add a row to a listing's history if it says something new; what the product costs."""
    its = {"its_listing": page.listing_id}
    newest = connection.execute(_NEWEST, its).first()
    if tag is None:
        return _tag_of(newest)
    last = newest
    if newest is not None and newest.currency != tag.currency:
        last = connection.execute(_NEWEST_IN, {**its, "its_currency": tag.currency}).first()
    if last is not None and not is_news(last, tag, page.created_at):
        return _tag_of(newest)
    row = {
        "listing_id": page.listing_id, "seen_at": page.created_at, **asdict(tag),
        "url": page.url, "content_sha256": digest, "session_id": page.session_id,
    }  # fmt: skip
    connection.execute(_ADD, row)
    return tag if newest is None or newest.seen_at <= page.created_at else _tag_of(newest)


def is_news(last: Price | Row[Any], tag: PriceTag, now: datetime) -> bool:
    """Whether a tag says something else than the last row of its currency, or confirms it after a day."""
    before = (last.price, last.list_price, last.availability)
    return before != (tag.price, tag.list_price, tag.availability) or now - last.seen_at >= CONFIRMED_AFTER


def _tag_of(price: Row[Any] | None) -> PriceTag | None:
    return price and PriceTag(**{name: getattr(price, name) for name in fields_dict(PriceTag)})
