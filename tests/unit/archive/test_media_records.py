"""A picture that lies in a file of its own has a record, once, by which a page is shown with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawler.archive import media_records
from crawler.archive.media_records import write_media_records
from crawler.clock import utc_now
from crawler.db.models import Record
from tests.unit.views.rows import NOW, THEN, a_page, a_session, an_artifact

if TYPE_CHECKING:
    import pytest

    from crawler.db.engine import Database

URL = "https://shop.example/chair.png"


def keep(database: Database, **columns: Any) -> None:
    """A picture, or what is said of it otherwise."""
    with database.write() as db:
        session = a_session()
        page = a_page(session.id, url=URL, page_type="media", http_status=columns.pop("http_status", 200))
        given = {"type": "media", "content_type": "image/png", "retention_until": None, "page_id": page.id}
        for row in (session, page, an_artifact(session.id, **{**given, **columns})):
            db.add(row)
            db.flush()


def records(database: Database) -> list[Record]:
    """All of them."""
    with database.read() as db:
        return list(db.scalars(select(Record)))


def test_a_picture_of_before_gets_its_record(database: Database) -> None:
    """With all that replay asks for; a second time there is nothing to do."""
    keep(database)
    assert write_media_records(database) == 1
    [record] = records(database)
    assert (record.url, record.url_key, record.mime_type) == (URL, "example,shop)/chair.png", "image/png")
    assert (record.captured_at, record.status_code, record.payload_digest) == (
        THEN,
        200,
        f"sha256:{'d' * 64}",
    )
    assert write_media_records(database) == 0
    assert len(records(database)) == 1


def test_what_is_no_picture_or_nobody_may_read_has_none(database: Database) -> None:
    """A page has its own with its snapshot; what was deleted is gone."""
    keep(database, type="html_gz", retention_until=NOW)
    keep(database, page_id=None)
    keep(database, deleted_at=utc_now())
    assert write_media_records(database) == 0
    assert records(database) == []


def test_many_are_written_some_at_a_time(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """And all of them."""
    monkeypatch.setattr(media_records, "AT_ONCE", 2)
    for _ in range(5):
        keep(database)
    assert write_media_records(database) == 5
    assert len({each.artifact_id for each in records(database)}) == 5
