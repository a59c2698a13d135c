"""Pages in WARC files are read again: damage is named, and what was taken meanwhile is no damage."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from sqlalchemy import select, update

from crawler.db.models import Page, Record, WarcFile
from crawler.evidence import recorded_pages
from crawler.evidence.bodies import Finding
from crawler.evidence.recorded_pages import count_recorded, examine_recorded
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.views.rows import a_page, a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database

BODIES = ("one " * 50, "two " * 50, "three " * 50)


@pytest.fixture
def pages(database: Database, tmp_path: Path) -> list[int]:
    """Three pages in one file; the numbers of their records."""
    exchanges = [exchange(f"{SHOP}{number}", body, day(number + 1)) for number, body in enumerate(BODIES)]
    keys = record(database, tmp_path / "warcs", *exchanges)
    with database.write() as db:
        session = a_session(id=uuid4())
        db.add(session)
        db.flush()
        for key, body in zip(keys, BODIES, strict=True):
            db.add(a_page(session.id, record_id=key, content_sha256=sha256(body.encode()).hexdigest()))
    return keys


def findings(database: Database) -> list[Finding]:
    """In the order of the records."""
    return [each.finding for each in examine_recorded(database)]


def test_what_is_whole_is_intact(
    database: Database, pages: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, however many are read at once; a page without a digest is taken as it is."""
    monkeypatch.setattr(recorded_pages, "_ROWS", 2)
    with database.write() as db:
        assert count_recorded(db) == 3
        db.execute(update(Page).where(Page.record_id == pages[1]).values(content_sha256=None))
    assert findings(database) == [Finding.INTACT] * 3


def test_damage_is_named(database: Database, pages: list[int]) -> None:
    """Another content, bytes that cannot be read, and a file that is not there."""
    with database.write() as db:
        db.execute(update(Page).where(Page.record_id == pages[1]).values(content_sha256="0" * 64))
        [file] = db.scalars(select(WarcFile))
        last = db.get_one(Record, pages[2])
        path, offset = Path(file.folder) / file.path, last.offset or 0
    data = path.read_bytes()
    path.write_bytes(data[: offset + 20] + bytes(40) + data[offset + 60 :])
    assert findings(database) == [Finding.INTACT, Finding.CONTENT, Finding.CHECKSUM]
    path.unlink()
    assert findings(database) == [Finding.MISSING] * 3


def test_what_was_taken_while_it_was_read_is_no_damage(
    database: Database, pages: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An eraser, a cleanup or a purge was there; what is gone before is not looked at."""
    with database.write() as db:
        db.execute(update(Record).where(Record.id == pages[0]).values(gone_at=day(9)))

    def taken_meanwhile(_kept: object) -> Finding:
        with database.write() as db:
            db.execute(update(Record).values(gone_at=day(9)))
        return Finding.MISSING

    monkeypatch.setattr(recorded_pages, "_READERS", 1)
    monkeypatch.setattr(recorded_pages, "_examined", taken_meanwhile)
    assert findings(database) == []
    with database.read() as db:
        assert count_recorded(db) == 0
