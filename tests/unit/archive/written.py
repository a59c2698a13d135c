"""Pages as somebody read them, written into the index without a file or a reader."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from crawler.archive import texts
from crawler.archive.sites import NO_SITES
from crawler.archive.writing import ReadPage, take_turn, write
from crawler.db.models import Record, WarcFile
from crawler.html.content import Content, Section
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
SHOP = "https://shop.example/"
_numbers = count(1)


def a_file(db: Session, **columns: Any) -> WarcFile:
    """A sealed file of records."""
    given = {"folder": "/nowhere", "path": f"{next(_numbers)}.warc.gz", "state": "sealed", "created_at": NOON}
    file = WarcFile(**{**given, **columns})
    db.add(file)
    db.flush()
    return file


def a_record(db: Session, url: str = SHOP, at: datetime | None = NOON, **columns: Any) -> Record:
    """An answer in a file of its own, unless one is named."""
    given = {
        "url": url, "url_key": stored_key(url), "captured_at": at, "kind": "response", "status_code": 200,
        "mime_type": "text/html", "offset": next(_numbers), "length": 10,
    }  # fmt: skip
    row = Record(**{**given, **columns})
    if row.warc_file_id is None and row.artifact_id is None:
        row.warc_file_id = a_file(db).id
    db.add(row)
    db.flush()
    return row


def content(title: str = "Red shoes", *lines: str, links: tuple[str, ...] = (), problem: str = "") -> Content:
    """What was read in a page."""
    return Content(problem, title, (Section("", lines),), " ".join(lines), "en", links, is_cut=False)


def a_page(db: Session, url: str = SHOP, at: datetime = NOON, **columns: Any) -> ReadPage:
    """A page that was read, with its record."""
    status = columns.pop("status_code", 200)
    given = {
        "source_id": NO_SITES.id_of(db, columns.pop("source", "shop.example")), "mime_type": "text/html",
        "content": content("Red shoes", "leather"), "content_hash": f"hash of {next(_numbers)}",
        "record_id": columns.pop("record_id", None) or a_record(db, url, at, status_code=status).id,
    }  # fmt: skip
    return ReadPage(url=url, captured_at=at, status_code=status, **{**given, **columns})


def index(database: Database, *pages: dict[str, Any]) -> list[ReadPage]:
    """Write some pages as one batch."""
    with database.write() as db:
        take_turn(db)
        read = [a_page(db, **each) for each in pages]
        write(
            db,
            read,
            texts.store(db, [each.content for each in read if not (each.content.problem or each.repeats)]),
        )
        return read
