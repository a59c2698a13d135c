"""What was stored by an older program is still there after an upgrade, and in its new place."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from sqlalchemy import text

from crawler.db import revisions
from crawler.db.engine import Database

if TYPE_CHECKING:
    from collections.abc import Generator

NOW = "2026-03-01 12:00:00+00:00"
URL = "https://shop.example/p/chair"
LISTING = UUID(int=7)


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
    listing = LISTING.hex if old.is_sqlite else LISTING
    add(
        old, "listings", id=listing, domain="shop.example", url=URL, url_sha256=digest, name="A chair",
        first_seen_at=NOW, last_seen_at=NOW,
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
    assert [row.listing_id for row in rows] == [listing, None, None, None]
    assert versions == sightings == [1, 2, 3, 4]


def test_references_hold_again_after_an_upgrade(old: Database) -> None:
    """They are off only while tables are rebuilt."""
    revisions.upgrade(old)
    if old.is_sqlite:
        with old.read() as db:
            assert db.execute(text("PRAGMA foreign_keys")).scalar_one() == 1
            assert db.execute(text("PRAGMA foreign_key_check")).all() == []
