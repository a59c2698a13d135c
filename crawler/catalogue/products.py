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
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Row, Table
    from sqlalchemy.orm import Session
    from sqlalchemy.sql.dml import ReturningInsert

    from crawler.capture.items import PageCapture
    from crawler.catalogue.product_facts import Sighting
    from crawler.db.upsert import Insert
    from crawler.sessions.page_rows import KeptPage

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
    key = (Listing.domain, Listing.url_sha256)
    return statement.returning(Listing.id, *key, *(getattr(Listing, name) for name in FACTS))


_SEE = for_both(Listing, partial(_seeing, is_alias=False))
_SEE_ALIAS = for_both(Listing, partial(_seeing, is_alias=True))
_PAGES, _PRICES, _LISTINGS = (cast("Table", table.__table__) for table in (Page, Price, Listing))
_SHOWS = update(_PAGES).where(_PAGES.c.id == bindparam("its_id")).values(listing_id=bindparam("its_listing"))
_BY_AGE = (_PRICES.c.seen_at.desc(), _PRICES.c.id.desc())
_ID_OF_NEWEST = select(_PRICES.c.id).where(_PRICES.c.listing_id == _LISTINGS.c.id).order_by(*_BY_AGE).limit(1)
_NEWEST = (
    select(_PRICES)
    .join(_LISTINGS, _PRICES.c.id == _ID_OF_NEWEST.correlate(_LISTINGS).scalar_subquery())
    .where(_LISTINGS.c.id.in_(bindparam("known", expanding=True)))
)
_NEWEST_IN = (
    select(_PRICES)
    .where(_PRICES.c.listing_id == bindparam("its_listing"), _PRICES.c.currency == bindparam("its_currency"))
    .order_by(*_BY_AGE)
    .limit(1)
)
_ADD = insert(_PRICES)


@frozen
class _Shown:
    """A page of a product, what it says, and the row that its listing gets or is changed by."""

    page: Page
    policy: str
    said: Sighting
    row: dict[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """What the listing is known by."""
        return self.said.identity.domain, self.said.identity.url_sha256


def see(db: Session, kept: Sequence[KeptPage]) -> dict[UUID, Product]:
    """Write that pages show products, and what these cost if that is news; the products by page.

    A fact that the page no longer states keeps its last value. Pages of a product's variants often declare
    one URL: of those of one visit the first one speaks for the product, and whichever has that URL itself.
    Otherwise each would be a change of the one before. The rows of the listings are ours until the
    transaction ends.
    """
    left = [_shown_by(each.page, each.capture) for each in kept]
    products: dict[UUID, Product] = {}
    while left:
        # No statement may touch a row twice; of two pages of one product the later sees what the first wrote.
        first = {shown.key: shown for shown in reversed(left)}
        products |= _see(db.connection(), [first[key] for key in sorted(first)])
        left = [shown for shown in left if shown.page.id not in products]
    return products


def _shown_by(page: Page, capture: PageCapture) -> _Shown:
    verdict, facts = capture.verdict, capture.facts
    assert verdict is not None  # ruff: ignore[assert] - there is no product without
    assert facts is not None  # ruff: ignore[assert]
    said = sighting_of(page.url, capture.canonical_url, facts)
    identity = said.identity
    row = {
        "id": uuid4(), "domain": identity.domain, "url": identity.url, "url_sha256": identity.url_sha256,
        "first_seen_at": page.created_at, "last_seen_at": page.created_at,
        "last_session_id": page.session_id, **{name: getattr(said, name) for name in FACTS},
    }  # fmt: skip
    return _Shown(page, verdict.policy, said, row)


def _see(connection: Connection, shown: Sequence[_Shown]) -> dict[UUID, Product]:
    """Write listings that are each shown by one page only, in the order of their keys."""
    listings: dict[tuple[str, str], Row[Any]] = {}
    for statement, is_own in ((_SEE, True), (_SEE_ALIAS, False)):
        if rows := [each.row for each in shown if each.said.identity.is_own == is_own]:
            found = connection.execute(statement[connection.dialect.name], rows)
            listings |= {(listing.domain, listing.url_sha256): listing for listing in found}
    for each in shown:
        each.page.listing_id = listings[each.key].id
    connection.execute(
        _SHOWS, [{"its_id": each.page.id, "its_listing": each.page.listing_id} for each in shown]
    )
    tags = _note_prices(connection, [(each, listings[each.key]) for each in shown])
    return {
        each.page.id: _product_of(each, listings[each.key], tag)
        for each, tag in zip(shown, tags, strict=True)
    }


def _product_of(shown: _Shown, listing: Row[Any], tag: PriceTag | None) -> Product:
    known = evolve(shown.said, tag=tag, **{name: getattr(listing, name) for name in FACTS})
    is_new = listing.id == shown.row["id"]
    return Product(listing.id, known, shown.page.url, shown.policy, is_new=is_new)


def _note_prices(connection: Connection, seen: Sequence[tuple[_Shown, Row[Any]]]) -> list[PriceTag | None]:
    """Add rows to the histories of listings where they say something new; what each product costs."""
    known = [listing.id for shown, listing in seen if listing.id != shown.row["id"]]
    found = connection.execute(_NEWEST, {"known": known}) if known else ()
    newest = {price.listing_id: price for price in found}
    rows, tags = [], []
    for shown, listing in seen:
        last, tag = newest.get(listing.id), _tag_for(shown, listing)
        if tag is not None and _is_told(connection, last, tag, shown.page):
            rows.append(_price_row(shown.page, tag))
            is_newest = last is None or last.seen_at <= shown.page.created_at
            tags.append(tag if is_newest else _tag_of(last))
        else:
            tags.append(_tag_of(last))
    if rows:
        connection.execute(_ADD, rows)
    return tags


def _tag_for(shown: _Shown, listing: Row[Any]) -> PriceTag | None:
    """What a page says of its listing's price; nothing, where it is the page of a variant."""
    said = shown.said
    is_variant = not said.identity.is_own and said.sku is not None and said.sku != listing.sku
    return None if is_variant else said.tag


def _is_told(connection: Connection, newest: Row[Any] | None, tag: PriceTag, page: Page) -> bool:
    """Whether a history is to have a row for a tag."""
    last = newest
    if newest is not None and newest.currency != tag.currency:
        its = {"its_listing": newest.listing_id, "its_currency": tag.currency}
        last = connection.execute(_NEWEST_IN, its).first()
    return last is None or is_news(last, tag, page.created_at)


def _price_row(page: Page, tag: PriceTag) -> dict[str, Any]:
    return {
        "listing_id": page.listing_id, "seen_at": page.created_at, **asdict(tag),
        "url": page.url, "content_sha256": page.content_sha256, "session_id": page.session_id,
    }  # fmt: skip


def is_news(last: Price | Row[Any], tag: PriceTag, now: datetime) -> bool:
    """Whether a tag says something else than the last row of its currency, or confirms it after a day."""
    before = (last.price, last.list_price, last.availability)
    return before != (tag.price, tag.list_price, tag.availability) or now - last.seen_at >= CONFIRMED_AFTER


def _tag_of(price: Row[Any] | None) -> PriceTag | None:
    return price and PriceTag(**{name: getattr(price, name) for name in fields_dict(PriceTag)})
