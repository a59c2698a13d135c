"""What was exported, by whom and where to: on record before the first row leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from attrs import frozen
from sqlalchemy import update

from crawler.db.models import ExportRecord

if TYPE_CHECKING:
    from crawler.db.engine import Database


@frozen
class ExportOnRecord:
    """An export that has begun; it counts as failed until somebody says that it is complete."""

    database: Database
    key: int

    @classmethod
    def begin(cls, database: Database, what: str, form: str, *, actor: str, destination: str = "-") -> Self:
        """Write down who wants what."""
        with database.write() as db:
            record = ExportRecord(
                what=what, format=form, actor=actor, destination=destination, row_count=0, status="failed",
                timestamp=db.now,
            )  # fmt: skip
            db.add(record)
            db.flush()
            return cls(database, record.id)

    def end(self, rows: int, *, is_complete: bool) -> None:
        """Write down how many rows have left, and whether these are all."""
        values = {"row_count": rows, "status": "complete" if is_complete else "failed"}
        with self.database.write() as db:
            db.execute(update(ExportRecord).where(ExportRecord.id == self.key).values(**values))
