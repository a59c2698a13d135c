"""The tables that are exported, each with its columns, and which of their rows are asked for."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select

from crawler.archive.search import on_days
from crawler.db import lookup
from crawler.db.models import (
    Asset,
    CrawlSession,
    Listing,
    Page,
    PageGroup,
    Price,
    RegisteredSource,
    Run,
    Snapshot,
    SnapshotChange,
)
from crawler.views import assets, changes, products, runs, sessions, snapshots, stored
from crawler.views.archive import HIDDEN_SOURCE
from crawler.views.exports import Table
from crawler.views.paging import ALL, conditions

if TYPE_CHECKING:
    from datetime import date

    from crawler.db.engine import Database
    from crawler.views.paging import Wanted


class What(StrEnum):
    """What `vitrine export` writes."""

    LISTINGS = "listings"
    PRODUCTS = "products"  # the same by their other name
    PRICES = "prices"
    SESSIONS = "sessions"
    PAGES = "pages"
    ASSETS = "assets"
    RUNS = "runs"


class Archived(StrEnum):
    """What the API exports."""

    SNAPSHOTS = "snapshots"
    CHANGES = "changes"


@frozen(kw_only=True)
class ArchiveOrder:
    """Which rows of the archive are asked for, and how many."""

    what: Archived
    source: str | None = None
    after_id: int = 0
    limit: int = 1000
    since: date | None = None
    until: date | None = None  # that day included


TABLES: dict[str, Table] = {
    What.LISTINGS: Table(
        products.LISTINGS,
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
    Archived.SNAPSHOTS: Table(
        snapshots.SNAPSHOTS,
        select(
            Snapshot.id, RegisteredSource.code.label("source_code"), Snapshot.url.label("original_url"),
            Snapshot.captured_at.label("capture_timestamp"), Snapshot.date_precision, Snapshot.status_code,
            Snapshot.mime_type, Snapshot.language, Snapshot.title, Snapshot.snippet, Snapshot.content_hash,
            Snapshot.deduplicated,
        ).join(RegisteredSource, RegisteredSource.id == Snapshot.source_id),
        (Snapshot.id,),
    ),
    Archived.CHANGES: Table(
        changes.NEWEST,
        select(
            SnapshotChange.id, RegisteredSource.code.label("source_code"),
            PageGroup.group_key.label("normalized_url_group"), SnapshotChange.change_type,
            SnapshotChange.summary, SnapshotChange.from_snapshot_id, SnapshotChange.to_snapshot_id,
            SnapshotChange.from_captured_at.label("from_capture_timestamp"),
            SnapshotChange.to_captured_at.label("to_capture_timestamp"), SnapshotChange.added_lines,
            SnapshotChange.removed_lines, SnapshotChange.added_sections, SnapshotChange.removed_sections,
            SnapshotChange.changed_sections, SnapshotChange.change_ratio, SnapshotChange.high_noise,
        )
        .join(RegisteredSource, RegisteredSource.id == SnapshotChange.source_id)
        .join(PageGroup, PageGroup.id == SnapshotChange.group_id),
        (SnapshotChange.id,),
    ),
}  # fmt: skip
TABLES[What.PRODUCTS] = TABLES[What.LISTINGS]


def wanted_rows(database: Database, what: What, wanted: Wanted = ALL) -> Table:
    """Return a table with the rows that a command asks for."""
    table = TABLES[what].where(*conditions(wanted, TABLES[what].listed))
    if wanted.after is None:
        return table
    with database.read() as db:
        last = lookup.find(db, table.listed.table, wanted.after)
        return table.behind([getattr(last, column.key) for column in table.key])


def archived_rows(order: ArchiveOrder) -> Table:
    """Return a table with the rows that the API was asked for; the source for tests is left out."""
    table = TABLES[order.what].where(RegisteredSource.code != HIDDEN_SOURCE).behind([order.after_id])
    if order.source is not None:
        table = table.where(lookup.of_source(order.source))
    return table.where(*on_days(table.listed.time, order.since, order.until))
