"""Parts of a search's hits add up to the hits, or are not told at all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.archive.facets import MOST_COUNTED, Facet, facets
from crawler.db.models import Snapshot
from tests.unit.archive.written import SHOP, index

if TYPE_CHECKING:
    from crawler.db.engine import Database

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
OLD_YEAR = datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC)


def test_sites_and_years(database: Database) -> None:
    """Most hits first, then by name; years the latest first, in UTC, whatever the order of the hits."""
    index(
        database,
        {"url": f"{SHOP}1", "at": NEW_YEAR}, {"url": f"{SHOP}2", "at": OLD_YEAR},
        {"url": "https://b.example/", "at": NEW_YEAR, "source": "b.example"},
        {"url": "https://a.example/", "at": NEW_YEAR, "source": "a.example"},
    )  # fmt: skip
    with database.read() as db:
        found = facets(db, select(Snapshot).order_by(Snapshot.captured_at), 4)
    assert found is not None
    assert [(each.value, each.count) for each in found.sources] == [
        ("shop.example", 2), ("a.example", 1), ("b.example", 1),
    ]  # fmt: skip
    assert found.years == (Facet("2026", "2026", 3), Facet("2025", "2025", 1))


@pytest.mark.parametrize("total", [0, MOST_COUNTED + 1])
def test_more_than_can_be_counted_is_not_counted(database: Database, total: int) -> None:
    """Nor is nothing."""
    with database.read() as db:
        assert facets(db, select(Snapshot), total) is None
        assert facets(db, None, 3) is None
