"""INSERT … ON CONFLICT on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawler.db.models import DomainGate, Record, Text, WarcFile
from crawler.db.upsert import for_both, insert_rows, taking

if TYPE_CHECKING:
    from crawler.db.engine import Database

TAKE = for_both(
    DomainGate,
    lambda adding: adding.on_conflict_do_update(
        index_elements=[DomainGate.domain], set_={"token": adding.excluded.token}
    ).returning(DomainGate.token),
)


def test_a_statement_is_built_once_for_both(database: Database) -> None:
    """And says what the row is like afterwards."""
    with database.write() as db:
        statement = TAKE[db.connection().dialect.name]
        for token in ("one", "two"):
            assert db.execute(statement, {"domain": "a.example", "token": token}).scalar_one() == token


NOON = datetime(2026, 11, 19, 12, tzinfo=UTC)


def test_rows_are_kept_as_their_columns_keep_them(database: Database) -> None:
    """Lists, times and nothing; one that is there takes what is new, and some of it only where it says so."""
    said = {"text_hash": "a", "title": "'; --", "body": "\u00e9 \U0001f600 %s", "is_cut": True}
    record: Any = Record.__table__
    text: Any = Text.__table__
    upsert = taking(record, ("warc_file_id", "offset"), ("url", "captured_at"), ("mime_type",))
    with database.write() as db:
        insert_rows(db, text, [{**said, "headings": [0, 3]}, {**said, "text_hash": "b", "headings": None}])
        file = WarcFile(folder="/", path="a", state="sealed", created_at=NOON)
        db.add(file)
        db.flush()
        rows = [
            {
                "warc_file_id": file.id, "offset": number, "kind": "response", "url": f"u{number}",
                "url_key": "k", "captured_at": at, "mime_type": mime,
            }
            for number, at, mime in ((1, NOON.astimezone(timezone(timedelta(hours=5))), None), (2, None, "x"))
        ]  # fmt: skip
        insert_rows(db, record, rows, on_conflict=upsert)
        ids = db.scalars(select(Record.id).order_by(Record.offset)).all()
        again = [
            {**row, "url": "new", "mime_type": mime} for row, mime in zip(rows, ("y", None), strict=True)
        ]
        insert_rows(db, record, again, on_conflict=upsert)
        insert_rows(db, record, [])
    with database.read() as db:
        texts = db.execute(
            select(Text.title, Text.body, Text.is_cut, Text.headings).order_by(Text.text_hash)
        ).all()
        found = db.execute(
            select(Record.id, Record.url, Record.captured_at, Record.mime_type).order_by(Record.offset)
        ).all()
    assert texts == [
        ("'; --", "\u00e9 \U0001f600 %s", True, [0, 3]),
        ("'; --", "\u00e9 \U0001f600 %s", True, None),
    ]
    assert found == [(ids[0], "new", NOON, "y"), (ids[1], "new", None, "x")]
