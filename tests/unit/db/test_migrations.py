"""What was stored by an older program is still there after an upgrade, and in its new place."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from sqlalchemy import select, text

from crawler.db import revisions
from crawler.db.engine import Database
from crawler.db.migrations import versions
from crawler.db.models import Artifact, CrawlSession, HaulMember, Hold, Listing, Page, Price

if TYPE_CHECKING:
    from collections.abc import Generator

NOW = "2026-03-01 12:00:00+00:00"
URL = "https://shop.example/p/chair"
SESSION, PAGE, LISTING = UUID(int=3), UUID(int=4), UUID(int=7)
RELEASED = {
    "0001": "2134c4b171bcd3246f231d63678493048a148ec6dad6eb23a5005c9ba4901e76",
    "0002": "0b3d4bdb289ed4ca3bca458abca5ff46efc8fcdb40ce9825eb287d2a88693a08",
    "0003": "05b6cbe853fde95ed4b953cef01623efed4aab4c4dd42462780f12164691e5b1",
    "0004": "14a6cc8e1fedb009cca62e84db05eb8084b624303f9a79e3b6588de51dc70634",
}
_JOINED = """
SELECT s.id, m.subject_id, l.id, v.price FROM sessions s
JOIN scrape_metadata m ON m.subject_id = CAST(s.id AS VARCHAR(36))
JOIN pages p ON p.session_id = s.id
JOIN listings l ON l.id = p.listing_id
JOIN v_prices v ON v.listing_id = l.id AND v.price BETWEEN 19 AND 20
"""


@pytest.fixture
def old(empty_database_url: str) -> Generator[Database]:
    """A database of the first release."""
    database = Database(empty_database_url)
    revisions.migrate(database, "0001")
    yield database
    database.close()


def add(database: Database, table: str, **columns: Any) -> None:
    """A row as the first release wrote it."""
    names = ", ".join(columns)
    values = ", ".join(f":{name}" for name in columns)
    with database.write() as db:
        db.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), columns)  # ruff: ignore[hardcoded-sql-expression] - the test's own names


def _id(database: Database, key: UUID) -> Any:
    """An id as the first release wrote it: in SQLite without its hyphens."""
    return key.hex if database.is_sqlite else key


def _amount(database: Database, amount: str) -> Any:
    """An amount as the first release wrote it: SQLite counted ten-thousandths."""
    return int(Decimal(amount) * 10_000) if database.is_sqlite else Decimal(amount)


def add_asset(database: Database, number: int, plugin: str, key: str, run: int) -> None:
    """An asset with a version and a sighting."""
    add(
        database, "assets", id=number, source="shop", plugin=plugin, kind=plugin, key=key,
        key_sha256=hashlib.sha256(key.encode()).hexdigest(), url=URL, title=None, checksum="c", versions=1,
        first_seen_at=NOW, last_seen_at=NOW, last_run_id=run, missing_since=None,
    )  # fmt: skip
    add(
        database, "asset_versions", id=number, asset_id=number, number=1, checksum="c", run_id=run,
        content=json.dumps({"n": number}), details="{}", page_id=None, seen_at=NOW,
    )  # fmt: skip
    add(database, "asset_sightings", run_id=run, asset_id=number, status="new")


def test_products_find_their_listings(old: Database) -> None:
    """The asset that was seen last is its listing's; nothing that belongs to an asset is lost."""
    for run in (1, 2):
        add(old, "runs", id=run, source="shop", plan="{}", status="completed", planned=0, created_at=NOW)
    digest = hashlib.sha256(URL.encode()).hexdigest()
    add(
        old, "listings", id=_id(old, LISTING), domain="shop.example", url=URL, url_sha256=digest,
        name="A chair", first_seen_at=NOW, last_seen_at=NOW,
    )  # fmt: skip
    add_asset(old, 1, "product", f"{URL}#red", run=2)
    add_asset(old, 2, "product", f"{URL}#blue", run=1)
    add_asset(old, 3, "product", "https://shop.example/p/unknown#", run=2)
    add_asset(old, 4, "page", URL, run=2)
    revisions.upgrade(old)
    with old.read() as db:
        rows = db.execute(text("SELECT id, key, key_sha256, listing_id FROM assets ORDER BY id")).all()
        versions = db.execute(text("SELECT asset_id FROM asset_versions ORDER BY id")).scalars().all()
        sightings = db.execute(text("SELECT asset_id FROM asset_sightings ORDER BY asset_id")).scalars().all()
    assert [row.key for row in rows] == [URL, f"{URL}#blue", "https://shop.example/p/unknown#", URL]
    assert rows[0].key_sha256 == digest
    assert [str(row.listing_id) for row in rows] == [str(LISTING), "None", "None", "None"]
    assert versions == sightings == [1, 2, 3, 4]


def test_everything_of_the_first_release_is_read_by_this_one(old: Database) -> None:
    """By the models, and by plain SQL that joins what refers to each other: one spelling, one amount."""
    lay_out(old)
    revisions.upgrade(old)
    with old.read() as db:
        session, page = db.scalars(select(CrawlSession)).one(), db.scalars(select(Page)).one()
        artifact, listing = db.scalars(select(Artifact)).one(), db.scalars(select(Listing)).one()
        hold, haul = db.scalars(select(Hold)).one(), db.scalars(select(HaulMember)).one()
        prices = db.scalars(select(Price).order_by(Price.id)).all()
        joined = db.execute(text(_JOINED)).one()
        if old.is_sqlite:  # references are off only while tables are rebuilt
            assert db.execute(text("PRAGMA foreign_keys")).scalar_one() == 1
            assert db.execute(text("PRAGMA foreign_key_check")).all() == []
    assert (session.id, page.session_id, artifact.page_id, listing.id) == (SESSION, SESSION, PAGE, LISTING)
    assert (hold.session_id, haul.session_id, page.listing_id) == (SESSION, SESSION, LISTING)
    assert [str(price.price) for price in prices] == ["19.90", "0.0003", "1000000.00"]
    assert [price.list_price for price in prices] == [Decimal("24.5"), None, None]
    assert [str(part) for part in joined] == [str(SESSION), str(SESSION), str(LISTING), "19.9"]


def lay_out(database: Database) -> None:
    """A visit and what hangs on it, as the first release wrote it."""
    session, page, listing = (_id(database, each) for each in (SESSION, PAGE, LISTING))
    add(
        database, "sessions", id=session, kind="page", url=URL, domain="shop.example", mode="standard",
        retention_policy="standard", status="completed", epoch=1, crawl_policy_version="v1.2",
        config_snapshot="{}", low_confidence=False, deaths=0, created_at=NOW,
    )  # fmt: skip
    add(
        database, "listings", id=listing, domain="shop.example", url=URL, url_sha256="x", name="A chair",
        first_seen_at=NOW, last_seen_at=NOW, last_session_id=session,
    )  # fmt: skip
    add(
        database, "pages", id=page, session_id=session, epoch=1, page_type="pdp", viewport="desktop",
        status="ok", url=URL, low_confidence_reasons="[]", load_timings="{}", listing_id=listing,
        facts=json.dumps({"name": "A chair", "price": "19.90"}), created_at=NOW,
    )  # fmt: skip
    add(
        database, "artifacts", id=_id(database, UUID(int=5)), session_id=session, page_id=page,
        type="html_gz", storage_uri="a/html.gz", size_bytes=1, checksum="0", content_sha256="0",
        created_at=NOW, legal_hold=False, cleanup_attempts=0,
    )  # fmt: skip
    for number, (price, before) in enumerate((("19.9", "24.5"), ("0.0003", None), ("1000000", None)), 1):
        add(
            database, "price_history", id=number, listing_id=listing, currency="EUR",
            price=_amount(database, price), list_price=before and _amount(database, before), seen_at=NOW,
            url=URL, session_id=session,
        )  # fmt: skip
    add(
        database, "holds", id=_id(database, UUID(int=6)), session_id=session, who="me", why="why",
        created_at=NOW,
    )  # fmt: skip
    add(database, "hauls", id=1, name="spring", source="list.txt", created_at=NOW)
    add(database, "haul_members", id=1, haul_id=1, position=1, url=URL, session_id=session)
    add(
        database, "scrape_metadata", id=1, timestamp=NOW, kind="session", subject_id=str(SESSION),
        domain="shop.example", url=URL, status="completed", details="{}",
    )  # fmt: skip


def test_released_scripts_are_never_edited() -> None:
    """Somebody's database was made by them; what is to change has a script of its own."""
    [folder] = versions.__path__
    digests = {
        path.name[:4]: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path(folder).glob("[0-9]*.py")
        if path.name[:4] in RELEASED
    }
    assert digests == RELEASED
