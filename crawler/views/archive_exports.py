"""Snapshots and changes on their way out: read a thousand at a time by their ids, with the API's fields."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import select

from crawler.archive.search import on_days
from crawler.db import lookup
from crawler.db.models import PageGroup, RegisteredSource, Snapshot, SnapshotChange
from crawler.views.archive import HIDDEN_SOURCE
from crawler.views.documents import as_json
from crawler.views.exports import csv_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from sqlalchemy import Row

    from crawler.db.engine import Database

PAGE_ROWS = 1000


class Exported(StrEnum):
    """What is given out."""

    SNAPSHOTS = "snapshots"
    CHANGES = "changes"


class ExportForm(StrEnum):
    """How it is written."""

    JSONL = "jsonl"
    CSV = "csv"


@frozen(kw_only=True)
class ExportOrder:
    """Which rows, and how many."""

    what: Exported
    form: ExportForm
    source: str | None = None
    after_id: int = 0
    limit: int = 1000
    since: date | None = None
    until: date | None = None  # that day included


_COLUMNS: dict[Exported, tuple[Any, ...]] = {
    Exported.SNAPSHOTS: (
        Snapshot.id, RegisteredSource.code.label("sourceCode"), Snapshot.url.label("originalUrl"),
        Snapshot.captured_at.label("captureTimestamp"), Snapshot.date_precision.label("datePrecision"),
        Snapshot.status_code.label("statusCode"), Snapshot.mime_type.label("mimeType"),
        Snapshot.language, Snapshot.title, Snapshot.snippet,
        Snapshot.content_hash.label("contentHash"), Snapshot.deduplicated,
    ),
    Exported.CHANGES: (
        SnapshotChange.id, RegisteredSource.code.label("sourceCode"),
        PageGroup.group_key.label("normalizedUrlGroup"), SnapshotChange.change_type.label("changeType"),
        SnapshotChange.summary, SnapshotChange.from_snapshot_id.label("fromSnapshotId"),
        SnapshotChange.to_snapshot_id.label("toSnapshotId"),
        SnapshotChange.from_captured_at.label("fromCaptureTimestamp"),
        SnapshotChange.to_captured_at.label("toCaptureTimestamp"),
        SnapshotChange.added_lines.label("addedLines"), SnapshotChange.removed_lines.label("removedLines"),
        SnapshotChange.added_sections.label("addedSections"),
        SnapshotChange.removed_sections.label("removedSections"),
        SnapshotChange.changed_sections.label("changedSections"),
        SnapshotChange.change_ratio.label("changeRatio"), SnapshotChange.high_noise.label("highNoise"),
    ),
}  # fmt: skip
_TABLES: dict[Exported, tuple[Any, Any]] = {
    Exported.SNAPSHOTS: (Snapshot, Snapshot.captured_at),
    Exported.CHANGES: (SnapshotChange, SnapshotChange.to_captured_at),
}


def columns(what: Exported) -> list[str]:
    """The names of an export's columns."""
    return [str(column.name) for column in _COLUMNS[what]]


def lines(database: Database, order: ExportOrder) -> Iterator[str]:
    """The export as text; no transaction stays open while it is written out."""
    names = columns(order.what)
    if order.form is ExportForm.CSV:
        yield csv_line(names)
    for row in _rows(database, order):
        if order.form is ExportForm.CSV:
            yield csv_line(row)
        else:
            yield as_json(dict(zip(names, row, strict=True))) + "\n"


def _rows(database: Database, order: ExportOrder) -> Iterator[Row[Any]]:
    after, left = order.after_id, order.limit
    while left > 0:
        with database.read() as db:
            page = db.execute(_page(order, after, min(left, PAGE_ROWS))).all()
        yield from page
        if len(page) < min(left, PAGE_ROWS):
            return
        after, left = page[-1].id, left - len(page)


def _page(order: ExportOrder, after: int, limit: int) -> Any:
    table, moment = _TABLES[order.what]
    query: Any = select(*_COLUMNS[order.what]).join(RegisteredSource, RegisteredSource.id == table.source_id)
    if order.what is Exported.CHANGES:
        query = query.join(PageGroup, PageGroup.id == SnapshotChange.group_id)
    query = query.where(table.id > after, RegisteredSource.code != HIDDEN_SOURCE)
    if order.source is not None:
        query = query.where(lookup.of_source(order.source))
    return query.where(*on_days(moment, order.since, order.until)).order_by(table.id).limit(limit)
