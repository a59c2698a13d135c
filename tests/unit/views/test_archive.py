"""What is shown of the archive: as a whole, of one snapshot, and its body or why it has none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from crawler.archive.search import SearchOrder
from crawler.clock import utc_now
from crawler.db.models import Artifact, Snapshot
from crawler.errors import NotFoundError
from crawler.evidence.folder_store import FolderStore
from crawler.views import archive, search, snapshots
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

DAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
PAGE = "<html lang=en><title>Red shoes</title><p>Made of leather, for walking on long ways."


@pytest.fixture
def blobs(tmp_path: Path) -> FolderStore:
    """The place of the files."""
    return FolderStore(tmp_path / "artifacts")


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


def test_a_hit_and_a_snapshot_say_the_same(database: Database, blobs: FolderStore) -> None:
    """Whoever finds one and asks for it sees it again."""
    keep(database, blobs, PAGE, at=DAY)
    keep(database, blobs, PAGE, at=DAY.replace(day=3))
    index_pages(database, blobs)
    with database.read() as db:
        [hit] = search.results(db, SearchOrder("leather", view="pages")).results
        found = snapshots.summary(db, str(hit.id))
    assert hit.page_snapshots_count == 2
    assert (hit.capture_date, hit.original_url) == ("2026-05-03", "https://shop.example/p")
    for name in ("title", "source_code", "capture_timestamp", "snippet", "raw_snapshot_url", "status_code"):
        assert getattr(hit, name) == getattr(found, name)


def test_a_body(database: Database, blobs: FolderStore) -> None:
    """Byte by byte, with the charset that it is in, whatever it declares."""
    keep(database, blobs, "<meta charset=windows-1251><title>Цена</title>".encode("cp1251"), at=DAY)
    index_pages(database, blobs)
    found = snapshots.raw(database, blobs, "1")
    assert (found.mime_type, found.charset) == ("text/html", "windows-1251")
    assert found.body.decode("cp1251").endswith("<title>Цена</title>")


@pytest.mark.parametrize("given", ["2", "x", "-1", str(2**63), "9" * 400])
def test_no_snapshot(database: Database, blobs: FolderStore, given: str) -> None:
    """Whatever is asked for, it is an error that says so."""
    with database.read() as db, pytest.raises(NotFoundError):
        snapshots.summary(db, given)
    with pytest.raises(NotFoundError):
        snapshots.raw(database, blobs, given)


def test_why_a_body_is_not_there(database: Database, blobs: FolderStore) -> None:
    """Its file was lost; or policy took it. The snapshot stays."""
    keep(database, blobs, PAGE)
    index_pages(database, blobs)
    with database.read() as db:
        artifact = db.scalars(select(Artifact)).one()
    blobs.delete(artifact.storage_uri)
    with pytest.raises(snapshots.NoBodyError) as lost:
        snapshots.raw(database, blobs, "1")
    assert lost.value.reason == "file_missing"
    with database.write() as db:
        db.execute(update(Artifact).values(deleted_at=db.now))
    with pytest.raises(snapshots.NoBodyError) as removed:
        snapshots.raw(database, blobs, "1")
    assert removed.value.reason == "removed_by_retention"
    with database.read() as db:
        assert snapshots.summary(db, "1").title == "Red shoes"
        assert db.scalars(select(Snapshot.id)).all() == [1]
