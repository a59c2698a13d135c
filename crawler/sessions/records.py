"""Pages, artifacts and log lines as rows. Statements are built once: that costs more than running them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4

from sqlalchemy import insert

from crawler.db.models import Artifact, CrawlLog, Page
from crawler.sessions.journal import storable, storable_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Table
    from sqlalchemy.orm import Session

    from crawler.sessions.files import KeptFile
    from crawler.sessions.items import PageCapture
    from crawler.sessions.journal import LogLine
    from crawler.sessions.store import Fence

    Row = dict[str, Any]

_INSERT_PAGE = insert(cast("Table", Page.__table__))
_INSERT_ARTIFACTS = insert(cast("Table", Artifact.__table__))
_INSERT_LOG = insert(cast("Table", CrawlLog.__table__))


def page_row(fence: Fence, capture: PageCapture, now: datetime) -> Row:
    """What a page's row says."""
    return {
        "id": capture.page_id,
        "session_id": fence.session_id,
        "epoch": fence.epoch,
        "page_type": capture.page_type,
        "viewport": capture.viewport,
        "status": "ok" if capture.ok else "failed",
        "url": storable(capture.url),
        "http_status": capture.http_status,
        "low_confidence_reasons": list(capture.low_confidence_reasons),
        "load_timings": capture.load_timings,
        "verdict": storable_tree(capture.verdict),
        "facts": storable_tree(capture.facts),
        "created_at": now,
    }


def artifact_row(
    file: KeptFile,
    session_id: UUID,
    *,
    now: datetime,
    page_id: UUID | None = None,
    until: datetime | None = None,
) -> Row:
    """What the row of a published file says."""
    return {
        "id": uuid4(),
        "session_id": session_id,
        "page_id": page_id,
        "type": file.type,
        "storage_uri": file.uri,
        "size_bytes": len(file.packed.data),
        "checksum": file.packed.checksum,
        "content_sha256": file.packed.content_sha256,
        "content_type": file.content_type,
        "charset": file.charset,
        "created_at": now,
        "retention_until": until,
    }


def log_row(session_id: UUID, line: LogLine) -> Row:
    """What the row of a log's line says."""
    return {"session_id": session_id, **line.columns}


def write_page(db: Session, row: Row) -> None:
    """Write a page's row."""
    db.connection().execute(_INSERT_PAGE, row)


def write_artifacts(db: Session, rows: Sequence[Row]) -> None:
    """Write the rows of published files."""
    if rows:
        db.connection().execute(_INSERT_ARTIFACTS, rows)


def write_log(db: Session, rows: Sequence[Row]) -> None:
    """Write lines of logs."""
    if rows:
        db.connection().execute(_INSERT_LOG, rows)
