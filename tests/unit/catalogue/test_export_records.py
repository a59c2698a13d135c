"""Exports on record, from before their first row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.catalogue.export_records import ExportOnRecord
from crawler.db.models import ExportRecord

if TYPE_CHECKING:
    from crawler.db.engine import Database


def test_an_export_has_failed_until_it_is_complete(database: Database) -> None:
    """Whoever dies on the way leaves it so; each end is its own export's."""

    def records() -> list[tuple[str, str, int]]:
        with database.read() as db:
            found = db.scalars(select(ExportRecord).order_by(ExportRecord.id))
            return [(row.what, row.status, row.row_count) for row in found]

    prices = ExportOnRecord.begin(database, "prices", "csv", actor="me", destination="prices.csv")
    pages = ExportOnRecord.begin(database, "pages", "jsonl", actor="web")
    assert records() == [("prices", "failed", 0), ("pages", "failed", 0)]
    prices.end(7, is_complete=True)
    pages.end(3, is_complete=False)
    assert records() == [("prices", "complete", 7), ("pages", "failed", 3)]
    with database.read() as db:
        row = db.get_one(ExportRecord, prices.key)
        assert (row.format, row.actor, row.destination) == ("csv", "me", "prices.csv")
