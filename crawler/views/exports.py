"""Rows on their way out: read a thousand at a time by key, written as CSV or JSON lines, defused."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen
from sqlalchemy import tuple_

from crawler.urls import redacted
from crawler.views.documents import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Row
    from sqlalchemy.orm import InstrumentedAttribute

    from crawler.db.engine import Database
    from crawler.views.paging import Newest

PAGE_ROWS = 1000
# A spreadsheet takes a cell that begins so for a formula; an apostrophe in front makes it text.
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # ruff: ignore[ambiguous-unicode-character-string] - some take the wide ones, too


class Form(StrEnum):
    """How it is written."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


@frozen
class Table:
    """A query, and the key by which it is paged; the key's columns are among its own."""

    listed: Newest  # how the same rows are listed
    query: Any  # a Select of many columns, more than its type can tell
    key: tuple[InstrumentedAttribute[Any], ...]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [str(column["name"]) for column in self.query.column_descriptions]

    @property
    def types(self) -> list[type]:
        """What is in the columns."""
        return [column["type"].python_type for column in self.query.column_descriptions]

    def where(self, *which: ColumnElement[bool]) -> Table:
        """Return the table with those of its rows alone that fulfil all conditions."""
        return evolve(self, query=self.query.where(*which))

    def behind(self, key: Sequence[Any]) -> Table:
        """Return the table with the rows alone that come behind a key."""
        return self.where(tuple_(*self.key) > tuple_(*key) if len(key) > 1 else self.key[0] > key[0])


def lines(
    database: Database,
    table: Table,
    form: Form,
    *,
    most: int | None = None,
    named: Callable[[str], str] = str,
) -> Iterator[str]:
    """Yield a table as text: for CSV a line of names first, then a line for each row."""
    names = [named(column) for column in table.columns]
    if form is Form.CSV:
        yield csv_line(names)
    for row in rows(database, table, most):
        yield csv_line(row) if form is Form.CSV else as_json(dict(zip(names, row, strict=True))) + "\n"


def rows(database: Database, table: Table, most: int | None = None) -> Iterator[Row[Any]]:
    """Yield rows by key, `most` at most; no transaction stays open while they are written out."""
    names = [column.key for column in table.key]
    left, rest = most, table
    while left is None or left > 0:
        size = PAGE_ROWS if left is None else min(left, PAGE_ROWS)
        with database.read() as db:
            page = db.execute(rest.query.order_by(*table.key).limit(size)).all()
        yield from page
        if len(page) < size:
            return
        left = None if left is None else left - len(page)
        rest = table.behind([getattr(page[-1], name) for name in names])


def defused(value: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{value}" if value.startswith(_DANGEROUS) else value


def csv_line(values: Sequence[Any]) -> str:
    """One line of CSV, which no spreadsheet takes for more than text."""
    buffer = io.StringIO()
    csv.writer(buffer).writerow([_cell(value) for value in values])
    return buffer.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value.isoformat() if isinstance(value, datetime) else redacted(str(value))
    return defused(text) if isinstance(value, str) else text
