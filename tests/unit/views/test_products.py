"""Products and their prices as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from crawler.catalogue.product_facts import identity_of
from crawler.errors import NotFoundError
from crawler.views import products
from crawler.views.documents import as_json
from crawler.views.paging import Wanted
from tests.unit.views.rows import HOUR, THEN, URL, a_listing, a_price

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.db.models import Listing


def stored(database: Database, *prices: str, **columns: object) -> Listing:
    """A product that cost so much, an hour apart."""
    listing = a_listing(**columns)
    with database.write() as db:
        db.add(listing)
        db.flush()
        db.add_all(a_price(listing.id, price, seen_at=THEN + at * HOUR) for at, price in enumerate(prices))
    return listing


def test_products_come_with_their_newest_price(database: Database) -> None:
    """Those seen last first; one without a price is there as well."""
    old = stored(database, "19.90", "18.00")
    new = stored(database, domain="other.example", last_seen_at=THEN + HOUR)
    with database.read() as db:
        found = products.newest(db, Wanted(limit=9))
        assert products.newest(db, Wanted(domain="other.example", limit=9)) == found[:1]
        assert products.newest(db, Wanted(limit=1)) == found[:1]
    assert [each.id for each in found] == [new.id, old.id]
    assert [(each.price, each.currency) for each in found] == [(None, None), (Decimal("18.00"), "EUR")]
    assert json.loads(as_json(found[1]))["price"] == "18.00"
    assert found[1].price_seen_at == THEN + HOUR


def test_the_history_is_told_oldest_first(database: Database) -> None:
    """The newest so many rows, in the order of time; found by the product's URL or by how its id begins."""
    listing = stored(
        database,
        "1",
        "2",
        "3",
        url_sha256=identity_of(URL, None).url_sha256,
    )
    with database.read() as db:
        found = products.history(db, listing.url, Wanted(limit=2))
        assert products.history(db, str(listing.id)[:8], Wanted(limit=2)) == found
        with pytest.raises(NotFoundError, match="there is no product"):
            products.history(db, "https://shop.example/p/table", Wanted(limit=2))
    assert found.listing.id == listing.id
    assert [price.price for price in found.prices] == [Decimal(2), Decimal(3)]


def test_amounts_are_decimal_texts(database: Database) -> None:
    """A list price of nothing is none."""
    listing = stored(database)
    with database.write() as db:
        db.add(a_price(listing.id, "3800", list_price=Decimal("4000.5")))
        db.add(a_price(listing.id, "3800", list_price=Decimal(0), seen_at=THEN + HOUR))
    with database.read() as db:
        document = json.loads(as_json(products.history(db, str(listing.id), Wanted(limit=9))))
    assert [(each["price"], each["list_price"]) for each in document["prices"]] == [
        ("3800.00", "4000.50"), ("3800.00", None),
    ]  # fmt: skip
    assert document["listing"].keys() == {
        "id", "domain", "url", "name", "brand", "sku", "gtin", "mpn", "image", "first_seen_at",
        "last_seen_at", "last_session_id",
    }  # fmt: skip


def test_what_waited_longest_is_due_first(database: Database) -> None:
    """Nothing that was seen since."""
    later = stored(database, last_seen_at=THEN + HOUR)
    first = stored(database, domain="other.example")
    stored(database, last_seen_at=THEN + 2 * HOUR)
    with database.read() as db:
        moment = THEN + HOUR
        assert products.unseen_since(db, moment, domain=None, limit=9) == [first.id, later.id]
        assert products.unseen_since(db, moment, domain=None, limit=1) == [first.id]
        assert products.unseen_since(db, moment, domain="shop.example", limit=9) == [later.id]
