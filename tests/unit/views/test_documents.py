"""Documents of hauls, locks, products and sources, and how any document is written as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest

from crawler.access.gate import DomainState
from crawler.catalogue.product_facts import identity_of
from crawler.db.models import RegisteredSource
from crawler.errors import NotFoundError
from crawler.runs.sources import Source
from crawler.views import domains, hauls, products, sources
from crawler.views.documents import as_json
from crawler.views.paging import Wanted, listed
from tests.unit.views.rows import HOUR, NOW, THEN, URL, a_haul, a_listing, a_page, a_price, a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.db.models import Listing

NOON = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
SHOP = Source.of_url("https://shop.example/")


def test_json_has_ids_amounts_and_times_as_text() -> None:
    """Times and days in ISO 8601, other scripts as they are; anything else is an error, not a guess."""
    text = as_json(
        {"id": UUID(int=1), "at": NOON, "day": NOON.date(), "path": Path("a/b"), "name": "朝霧グラス",
         "price": Decimal("19.90")}
    )  # fmt: skip
    assert "朝霧グラス" in text
    assert json.loads(text) == {
        "id": "00000000-0000-0000-0000-000000000001", "at": "2026-05-04T12:30:00+00:00", "day": "2026-05-04",
        "path": "a/b", "name": "朝霧グラス", "price": "19.90",
    }  # fmt: skip
    with pytest.raises(TypeError, match="set has no place in JSON"):
        as_json({"x": {1}})


def test_a_haul_is_shown_with_what_came_of_its_urls(database: Database) -> None:
    """In the order of the file: one that was captured, one whose session is gone, one that waits."""
    session, gone = a_session(), uuid4()
    with database.write() as db:
        db.add(session)
        db.flush()
        db.add(a_page(session.id))
        db.add(a_haul("spring", ("https://a.example/", session.id), ("b", gone), ("c", None)))
    with database.read() as db:
        found = hauls.shown(db, NOW, "spring")
    assert (found.urls, found.captured) == (3, 2)
    assert [(each.url, each.session_id, each.status, each.name, each.price) for each in found.members] == [
        ("https://a.example/", session.id, "completed", "A chair", "19.90"),
        ("b", gone, None, None, None), ("c", None, None, None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["worker-9:other:1700000000", "vitrine:h:7:0:no id:n", "vitrine:"])
def test_a_lock_of_another_program_is_shown_as_held(database: Database, value: str) -> None:
    """Nothing is known of a session."""
    with database.read() as db:
        [found] = domains.of(db, [DomainState("shop.example", value, 9000, 0, 0, None)])
    assert (found.state, found.url, found.since) == ("held", None, None)


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
        found = listed(db, products.LISTINGS)
    assert [(each.id, each.price, each.price_seen_at) for each in found] == [
        (new.id, None, None), (old.id, Decimal("18.00"), THEN + HOUR),
    ]  # fmt: skip


def test_the_price_history_is_oldest_first(database: Database) -> None:
    """The newest so many, of the product with that URL or with an id that begins so; amounts are texts."""
    listing = stored(database, "1", "2", url_sha256=identity_of(URL, None).url_sha256)
    with database.write() as db:
        for at, was in ((2, "4000.5"), (3, "0")):
            price = a_price(listing.id, "3800", list_price=Decimal(was), seen_at=THEN + at * HOUR)
            db.add(price)
    with database.read() as db:
        found = products.history(db, listing.url, Wanted(limit=3))
        assert products.history(db, str(listing.id)[:8], Wanted(limit=3)) == found
        with pytest.raises(NotFoundError, match="there is no product"):
            products.history(db, "https://shop.example/p/table", Wanted(limit=2))
    document = json.loads(as_json(found))
    assert [(each["price"], each["list_price"]) for each in document["prices"]] == [
        ("2.00", None), ("3800.00", "4000.50"), ("3800.00", None),
    ]  # fmt: skip


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


def test_sources_of_the_file_and_of_the_register_are_one_list(database: Database) -> None:
    """By their codes; the file is believed where both know a source, and one that it lost is still there."""
    with database.write() as db:
        for code, name in ((SHOP.code, "as it was called"), ("lost", "Lost")):
            db.add(RegisteredSource(code=code, name=name, enabled=False, created_at=THEN, updated_at=THEN))
    with database.read() as db:
        found = sources.items(db, {SHOP.code: SHOP, "a-new": SHOP})
    assert [(each.code, each.name, each.enabled, each.is_registered) for each in found] == [
        ("a-new", SHOP.name, True, False), ("lost", "Lost", False, True), (SHOP.code, SHOP.name, True, True),
    ]  # fmt: skip
