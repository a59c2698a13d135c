"""What people see who ask in plain SQL: the same on both databases, ready to be joined."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import inspect, text

from crawler.db.sql_views import VIEWS
from tests.unit.views import rows

if TYPE_CHECKING:
    from typing import Any

    from crawler.db.engine import Database

SESSION, LISTING = UUID(int=1), UUID(int=2)


def lay_out(database: Database) -> None:
    """A visit with a page, a file, a product and its prices."""
    with database.write() as db:
        for row in (
            rows.a_listing(id=LISTING),
            rows.a_session(id=SESSION),
            rows.a_page(
                SESSION, listing_id=LISTING, facts={"name": "A chair", "price": "19.90", "currency": "EUR"},
                verdict={"is_pdp": True},
            ),
            rows.an_artifact(SESSION, storage_uri="a/html.gz", size_bytes=7),
            rows.a_price(LISTING, "19.90", session_id=SESSION),
            rows.a_price(LISTING, "1234567.8901", session_id=SESSION),
        ):  # fmt: skip
            db.add(row)
            db.flush()


def one(database: Database, query: str) -> list[dict[str, Any]]:
    """What plain SQL answers."""
    with database.read() as db:
        return [dict(row) for row in db.execute(text(query)).mappings()]


def test_each_says_what_is_mostly_wanted(database: Database) -> None:
    """Of a session its pages and files, of a page what it sells, of a price what proves it."""
    lay_out(database)
    [session] = one(database, "SELECT * FROM v_sessions")
    assert (str(session["session_id"]), session["pages"], session["files"], session["bytes"]) == (
        str(SESSION), 1, 1, 7,
    )  # fmt: skip
    [page] = one(database, "SELECT * FROM v_pages")
    assert (page["product"], page["price"], page["currency"], bool(page["is_product"])) == (
        "A chair", "19.90", "EUR", True,
    )  # fmt: skip
    prices = one(database, "SELECT * FROM v_prices ORDER BY price_id")
    assert [str(price["price"]) for price in prices] == ["19.9", "1234567.8901"]
    assert {str(price["session_id"]) for price in prices} == {str(SESSION)}


def test_a_new_database_has_them(database: Database) -> None:
    """All of them, and they can be asked."""
    assert set(inspect(database.engine).get_view_names()) == set(VIEWS)
    assert one(database, "SELECT * FROM v_prices") == []
