"""What is shown of the archive: as a whole, of one snapshot, and its body or why it has none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawler.clock import utc_now
from crawler.views import archive
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.evidence.folder_store import FolderStore

DAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
PAGE = "<html lang=en><title>Red shoes</title><p>Made of leather, for walking on long ways."


def test_an_empty_archive(database: Database) -> None:
    """Zeros, and no date."""
    with database.read() as db:
        assert archive.stats(db) == archive.ArchiveStats(
            snapshots_total=0, pages_total=0, sources_total=0, latest_capture_date=None,
            latest_capture_age_days=None,
        )  # fmt: skip
        assert archive.sources(db) == []


def test_how_much_there_is(database: Database, blobs: FolderStore) -> None:
    """Captures, pages and sources; what is only a test is hidden."""
    keep(database, blobs, PAGE, at=DAY)
    keep(database, blobs, PAGE, at=DAY.replace(day=3))
    keep(database, blobs, PAGE, "https://other.example/", at=DAY.replace(day=2), domain="other.example")
    keep(database, blobs, PAGE, "https://test/", at=DAY, domain="test")
    index_pages(database, blobs)
    with database.read() as db:
        stats, sources = archive.stats(db), archive.sources(db)
    assert (stats.snapshots_total, stats.pages_total, stats.sources_total) == (4, 3, 3)
    assert stats.latest_capture_date == "2026-05-03"
    assert stats.latest_capture_age_days == (utc_now() - DAY.replace(day=3)).days
    assert [(each.source_code, each.record_count) for each in sources] == [
        ("other.example", 1), ("shop.example", 2),
    ]  # fmt: skip
    assert (sources[1].first_capture, sources[1].last_capture) == ("2026-05-01", "2026-05-03")
