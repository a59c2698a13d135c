"""Rows on their way out: read a thousand at a time by key, written as CSV or JSON lines, defused."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen
from sqlalchemy import select, tuple_

from crawler.db import lookup
from crawler.db.models import Asset, CrawlSession, Listing, Page, Price, Run
from crawler.urls import redacted
from crawler.views import assets, products, runs, sessions, stored
from crawler.views.documents import as_json
from crawler.views.paging import ALL, conditions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Row, Select
    from sqlalchemy.orm import InstrumentedAttribute

    from crawler.db.engine import Database
    from crawler.views.paging import Newest, Wanted

PAGE_ROWS = 1000
# A spreadsheet takes a cell that begins so for a formula; an apostrophe in front makes it text.
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # ruff: ignore[ambiguous-unicode-character-string] - some take the wide ones, too


class What(StrEnum):
    """What can be exported."""

    LISTINGS = "listings"
    PRODUCTS = "products"  # the same by their other name
    PRICES = "prices"
    SESSIONS = "sessions"
    PAGES = "pages"
    ASSETS = "assets"
    RUNS = "runs"


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


TABLES = {
    What.LISTINGS: Table(
        products.NEWEST,
        select(
            Listing.id, Listing.domain, Listing.url, Listing.name, Listing.brand, Listing.sku, Listing.gtin,
            Listing.mpn, Listing.image, Listing.first_seen_at, Listing.last_seen_at, Listing.last_session_id,
        ),
        (Listing.id,),
    ),
    What.PRICES: Table(
        products.NEWEST_PRICES,
        select(
            Price.id, Price.listing_id, Listing.domain, Listing.url.label("listing_url"), Listing.name,
            Price.currency, Price.price, Price.list_price, Price.availability, Price.seen_at, Price.url,
            Price.content_sha256, Price.session_id,
        ).join(Listing, Listing.id == Price.listing_id),
        (Price.id,),
    ),
    What.SESSIONS: Table(
        sessions.NEWEST,
        select(
            CrawlSession.id, CrawlSession.url, CrawlSession.domain, CrawlSession.status,
            CrawlSession.error_summary, CrawlSession.cause, CrawlSession.mode,
            CrawlSession.crawl_policy_version, CrawlSession.pdp_url, CrawlSession.final_url,
            CrawlSession.low_confidence, CrawlSession.created_at, CrawlSession.started_at,
            CrawlSession.finished_at,
        ),
        (CrawlSession.created_at, CrawlSession.id),
    ),
    What.PAGES: Table(
        stored.PAGES,
        select(
            Page.created_at, Page.id, Page.session_id, CrawlSession.domain, Page.page_type, Page.viewport,
            Page.status, Page.http_status, Page.url, Page.listing_id,
        ).join(CrawlSession, CrawlSession.id == Page.session_id),
        (Page.created_at, Page.id),
    ),
    What.ASSETS: Table(
        assets.NEWEST,
        select(
            Asset.id, Asset.source, Asset.plugin, Asset.domain, Asset.kind, Asset.key, Asset.url, Asset.title,
            Asset.checksum, Asset.versions, Asset.first_seen_at, Asset.last_seen_at, Asset.last_run_id,
            Asset.missing_since, Asset.listing_id,
        ),
        (Asset.id,),
    ),
    What.RUNS: Table(
        runs.NEWEST,
        select(
            Run.id, Run.source, Run.status, Run.max_pages, Run.planned, Run.last_error, Run.created_at,
            Run.started_at, Run.completed_at,
        ),
        (Run.id,),
    ),
}  # fmt: skip
TABLES[What.PRODUCTS] = TABLES[What.LISTINGS]


def lines(database: Database, what: What, form: Form, wanted: Wanted = ALL) -> Iterator[str]:
    """The export as text: for CSV a line of names first, then a line for each row."""
    columns = TABLES[what].columns
    if form is Form.CSV:
        yield csv_line(columns)
    for row in rows(database, what, wanted):
        yield csv_line(row) if form is Form.CSV else as_json(dict(zip(columns, row, strict=True))) + "\n"


def rows(database: Database, what: What, wanted: Wanted = ALL) -> Iterator[Row[Any]]:
    """The wanted rows, by key; no transaction stays open while they are written out."""
    whole = TABLES[what]
    table = evolve(whole, query=whole.query.where(*conditions(wanted, whole.listed)))
    names = [column.key for column in table.key]
    after = _place(database, table, wanted)
    while True:
        with database.read() as db:
            page = db.execute(_page(table, after)).all()
        yield from page
        if len(page) < PAGE_ROWS:
            return
        after = [getattr(page[-1], name) for name in names]


def _place(database: Database, table: Table, wanted: Wanted) -> list[Any] | None:
    """Where the row stands behind which the export begins."""
    if wanted.after is None:
        return None
    with database.read() as db:
        last = lookup.find(db, table.listed.table, wanted.after)
        return [getattr(last, column.key) for column in table.key]


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
