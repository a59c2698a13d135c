"""Answers in a WARC file with their rows, as a recording crawl leaves them, for tests of replay."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawler.evidence.warc_files import WarcRows, write_records
from crawler.evidence.warc_shelf import WarcShelf
from crawler.warc.messages import Exchange
from tests.unit.warc.made import ABOUT, appended

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

HTML = "text/html; charset=utf-8"
SHOP = "https://shop.example/"


def day(number: int, hour: int = 12, minute: int = 0) -> datetime:
    """A time in the month of which most tests speak."""
    return datetime(2026, 5, number, hour, minute, tzinfo=UTC)


def exchange(
    url: str, body: bytes | str, at: datetime, *, status: int = 200, kind: str = HTML, **headers: str
) -> Exchange:
    """An answer as a server gave it."""
    said = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Exchange(
        url=url, captured_at=at, method=b"GET", request_headers=(), protocol=b"HTTP/1.1", status=status,
        reason=b"OK", headers=tuple((name.encode(), value.encode()) for name, value in said.items() if value),
        body=body if isinstance(body, bytes) else body.encode(),
    )  # fmt: skip


def record(database: Database, folder: Path, *exchanges: Exchange, revisits: str = "off") -> list[int]:
    """Write them into one file in the order of their times; the numbers of their rows, as they were given."""
    shelf = WarcShelf(folder, ABOUT, WarcRows(database), max_bytes=10**9, revisits=revisits)
    try:
        in_time = sorted(exchanges, key=lambda each: each.captured_at)
        shelved = {id(each): appended(shelf, each) for each in in_time}
    finally:
        shelf.close()
    with database.write() as db:
        keys = write_records(db, list(shelved.values()))
    return [keys[shelved[id(each)].file_id, shelved[id(each)].offset] for each in exchanges]
