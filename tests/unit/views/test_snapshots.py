"""A snapshot as it is shown, and its body, or why there is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from crawler.db.models import Artifact, Snapshot
from crawler.errors import NotFoundError
from crawler.views import snapshots
from crawler.views.paging import Wanted
from tests.unit.archive.stored import index_pages, keep
from tests.unit.archive.written import NOON, SHOP, a_file, a_record, index

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.evidence.folder_store import FolderStore

DAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
PAGE = "<html lang=en><title>Red shoes</title><p>Made of leather, for walking on long ways."


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


def test_a_body_that_is_too_large_is_not_read_to_its_end(
    database: Database, blobs: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little of the disk it takes: what asks for it is anybody, and so are those beside."""
    monkeypatch.setattr(snapshots, "MAX_RAW_BYTES", len(PAGE))
    keep(database, blobs, PAGE)
    keep(database, blobs, PAGE + "s", url="https://shop.example/q")
    index_pages(database, blobs)
    with database.read() as db:
        ids = {row.url[-1]: row.id for row in db.scalars(select(Snapshot))}
    assert snapshots.raw(database, blobs, str(ids["p"])).body == PAGE.encode()
    with pytest.raises(snapshots.NoBodyError) as refused:
        snapshots.raw(database, blobs, str(ids["q"]))
    assert refused.value.reason == "too_large"


@pytest.mark.parametrize(
    ("record", "file", "said"),
    [
        ({}, {}, "there"),
        ({"gone_at": NOON}, {}, "purged"),
        ({}, {"gone_at": NOON, "gone_why": "cleanup"}, "removed_by_cleanup"),
        ({}, {"gone_at": NOON, "gone_why": "purge"}, "purged"),
        ({}, {"gone_at": NOON, "gone_why": None}, "purged"),
    ],
)
def test_whether_rows_say_that_a_body_is_there(
    database: Database, record: dict[str, Any], file: dict[str, Any], said: str
) -> None:
    """No file is opened for that."""
    with database.write() as db:
        kept = a_file(db, **file)
        row = a_record(db, warc_file_id=kept.id, **record)
        assert snapshots.body_state(db, row, kept) == said


def test_those_captured_last_come_first(database: Database) -> None:
    """Of one source, in whichever case it is named, or of a domain and of no other."""
    index(
        database,
        {"at": NOON}, {"url": "https://www.shop.example/x", "at": NOON + timedelta(days=1)},
        {"url": "https://shop.example.evil.example/", "source": "evil", "at": NOON + timedelta(days=2)},
    )  # fmt: skip
    with database.read() as db:
        everything = [each.url for each in snapshots.newest(db)]
        of_source = [each.source for each in snapshots.newest(db, source="EVIL")]
        of_domain = [each.url for each in snapshots.newest(db, Wanted(domain="shop.example"))]
    assert len(everything) == 3
    assert of_source == ["evil"]
    assert of_domain == ["https://www.shop.example/x", SHOP]


def test_a_snapshot_names_where_its_body_lies(database: Database) -> None:
    """In a WARC file, with its place; of a job where that is one."""
    with database.write() as db:
        file = a_file(db, folder="/w", path="a.warc.gz", job_id=7)
        record = a_record(db, warc_file_id=file.id, offset=12, length=34).id
    index(database, {"record_id": record})
    with database.read() as db:
        [key] = db.scalars(select(Snapshot.id))
        found = snapshots.snapshot(db, str(key))
        assert (found.container, found.warc, found.offset, found.length) == ("warc", "/w/a.warc.gz", 12, 34)
        assert (found.job, found.session, found.artifact, found.body) == (7, None, None, "there")
        assert snapshots.summary(db, str(key)).job_id == 7
