"""Of a URL without a capture it is told what was there, whether it was purged, and what is beside it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from crawler.archive.absent import PURGE, Purge, neighbours, purge_of, tombstone
from crawler.db.models import AuditEntry
from tests.unit.archive.written import NOON, SHOP, a_file, a_record

if TYPE_CHECKING:
    from crawler.db.engine import Database, Transaction

DAY = timedelta(days=1)


def test_why_a_capture_is_gone(database: Database) -> None:
    """As its file says, or else the record; the newest one, or the one of that second."""
    with database.write() as db:
        a_record(db, at=NOON, gone_at=NOON + DAY, payload_digest="sha1:A")
        gone = a_file(db, gone_at=NOON + 3 * DAY, gone_why="lost")
        a_record(db, at=NOON + DAY, warc_file_id=gone.id)
    with database.read() as db:
        newest, first = tombstone(db, SHOP), tombstone(db, SHOP, NOON)
        assert newest is not None
        assert first is not None
        assert (newest.why, newest.gone_at) == ("lost", NOON + 3 * DAY)
        assert (first.why, first.gone_at, first.digest) == ("erased", NOON + DAY, "sha1:A")
        assert tombstone(db, SHOP, NOON + 2 * DAY) is None
        assert tombstone(db, f"{SHOP}never") is None


def test_a_capture_that_is_there_has_no_tombstone(database: Database) -> None:
    """Though an older one of the same URL is gone, that one alone is told of."""
    with database.write() as db:
        a_record(db, at=NOON)
        a_record(db, at=NOON - DAY, gone_at=NOON)
    with database.read() as db:
        assert tombstone(db, SHOP, NOON) is None
        found = tombstone(db, SHOP)
        assert found is not None
        assert found.captured_at == NOON - DAY


def purged(db: Transaction, subject: str, done_at: str | None, action: str = PURGE) -> None:
    """What the audit log says of a purge."""
    details = {} if done_at is None else {"done_at": done_at}
    db.add(AuditEntry(timestamp=NOON, actor="me", action=action, subject=subject, details=details))


def test_a_purge_is_told_for_its_own_domain(database: Database) -> None:
    """The newest that is over; neither another domain's, nor one that goes on, nor another deed."""
    with database.write() as db:
        purged(db, "domain shop.example", "2026-05-01T00:00:00+00:00")
        purged(db, "domain shop.example", "2026-05-02T00:00:00.5+00:00")
        purged(db, "domain shop.example", None)
        purged(db, "domain shop.example.evil.example", "2026-06-01T00:00:00+00:00")
        purged(db, "domain shop.example", "2026-07-01T00:00:00+00:00", action="hold")
        purged(db, "domain other.example", None)
    with database.read() as db:
        at = datetime(2026, 5, 2, microsecond=500_000, tzinfo=UTC)
        assert purge_of(db, f"{SHOP}p?q=1") == Purge("shop.example", at)
        assert purge_of(db, "https://other.example/") is None
        assert purge_of(db, "https://") is None
        assert purge_of(db, "not a url") is None


def test_what_lies_beside_it(database: Database) -> None:
    """Pages of the same folder, once each, else of the host; no picture, and nothing of another host."""
    with database.write() as db:
        for path in ("shoes/red", "shoes/red", "shoes/blue", "about", "shoesandmore"):
            a_record(db, SHOP + path)
        a_record(db, f"{SHOP}shoes/red.png", mime_type="image/png")
        a_record(db, "https://shop.example.evil.example/shoes/x")
        a_record(db, f"{SHOP}shoes/gone", gone_at=NOON)
    with database.read() as db:
        assert [each.url for each in neighbours(db, f"{SHOP}shoes/green?a=/b/c")] == [
            f"{SHOP}shoes/blue", f"{SHOP}shoes/red",
        ]  # fmt: skip
        assert len(neighbours(db, f"{SHOP}hats/tall")) == 4
        assert len(neighbours(db, f"{SHOP}hats/tall", most=3)) == 3
        assert neighbours(db, "https://nobody.example/") == []
        assert neighbours(db, "") == []
