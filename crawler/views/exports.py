"""Rows on their way out: read a thousand at a time by key, written as CSV or JSON lines, defused."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import select, tuple_

from crawler.db.models import CrawlSession, Listing, Price
from crawler.urls import redacted
from crawler.views.documents import as_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Row, Select
    from sqlalchemy.orm import InstrumentedAttribute

    from crawler.db.engine import Database

PAGE_ROWS = 1000
# A spreadsheet takes a cell that begins so for a formula; an apostrophe in front makes it text.
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


class What(StrEnum):
    """What can be exported."""

    LISTINGS = "listings"
    PRICES = "prices"
    SESSIONS = "sessions"


class Form(StrEnum):
    """How it is written."""

    CSV = "csv"
    JSONL = "jsonl"


@frozen
class Table:
    """A query, and the key by which it is paged; the key's columns are among its own."""

    query: Any  # a Select of many columns, more than its type can tell
    key: tuple[InstrumentedAttribute[Any], ...]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [str(column["name"]) for column in self.query.column_descriptions]


TABLES = {
    What.LISTINGS: Table(
        select(
            Listing.id, Listing.domain, Listing.url, Listing.name, Listing.brand, Listing.sku, Listing.gtin,
            Listing.mpn, Listing.image, Listing.first_seen_at, Listing.last_seen_at, Listing.last_session_id,
        ),
        (Listing.id,),
    ),
    What.PRICES: Table(
        select(
            Price.id, Price.listing_id, Listing.domain, Listing.url.label("listing_url"), Listing.name,
            Price.currency, Price.price, Price.list_price, Price.availability, Price.seen_at, Price.url,
            Price.content_sha256, Price.session_id,
        ).join(Listing, Listing.id == Price.listing_id),
        (Price.id,),
    ),
    What.SESSIONS: Table(
        select(
            CrawlSession.id, CrawlSession.url, CrawlSession.domain, CrawlSession.status,
            CrawlSession.error_summary, CrawlSession.cause, CrawlSession.mode,
            CrawlSession.crawl_policy_version, CrawlSession.pdp_url, CrawlSession.final_url,
            CrawlSession.low_confidence, CrawlSession.created_at, CrawlSession.started_at,
            CrawlSession.finished_at,
        ),
        (CrawlSession.created_at, CrawlSession.id),
    ),
}  # fmt: skip


def lines(database: Database, what: What, form: Form) -> Iterator[str]:
    """The export as text: for CSV a line of names first, then a line for each row."""
    table, columns = TABLES[what], TABLES[what].columns
    if form is Form.CSV:
        yield csv_line(columns)
    for row in rows(database, table):
        yield csv_line(row) if form is Form.CSV else as_json(dict(zip(columns, row, strict=True))) + "\n"


def rows(database: Database, table: Table) -> Iterator[Row[Any]]:
    """All rows, by key; no transaction stays open while they are written out."""
    names = [column.key for column in table.key]
    after: list[Any] | None = None
    while True:
        with database.read() as db:
            page = db.execute(_page(table, after)).all()
        yield from page
        if len(page) < PAGE_ROWS:
            return
        after = [getattr(page[-1], name) for name in names]


def defused(value: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{value}" if value.startswith(_DANGEROUS) else value


def _page(table: Table, after: list[Any] | None) -> Select[Any]:
    query: Select[Any] = table.query.order_by(*table.key).limit(PAGE_ROWS)
    if after is None:
        return query
    is_after = tuple_(*table.key) > tuple_(*after) if len(table.key) > 1 else table.key[0] > after[0]
    return query.where(is_after)


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
