"""Pages as writes; the rows of all pages of a group are written with one statement a table."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from attrs import frozen
from sqlalchemy import insert, select

from crawler.capture.artifact_types import HTML, MEDIA
from crawler.db.models import Artifact, Page
from crawler.evidence.files import files_of, sha256
from crawler.evidence.warc_files import write_records
from crawler.pdp import facts_as_dict, verdict_as_dict
from crawler.sessions.outcome import PageResult
from crawler.sessions.writes import Write
from crawler.storable import as_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import Table
    from sqlalchemy.orm import Session

    from crawler.capture.items import PageCapture
    from crawler.config import Settings
    from crawler.db.engine import Transaction
    from crawler.evidence.files import KeptFile
    from crawler.sessions.visit import Visit

    Row = dict[str, Any]

SHORT_DAYS = 7
LONG_DAYS = 30
# Built once: building a statement costs more than running it.
_PAGES = insert(cast("Table", Page.__table__))
_ARTIFACTS = insert(cast("Table", Artifact.__table__))


@frozen
class KeptPage:
    """A page that is stored, its files, and what they were made of."""

    page: Page
    files: tuple[KeptFile, ...]
    capture: PageCapture


class Hooks:
    """Writes along in the transactions of sessions."""

    def pages_kept(self, db: Session, kept: Sequence[KeptPage]) -> None:
        """Called when the rows of some pages were written; what it raises takes all of them back.

        It is called again for each of them alone then.
        """

    def sessions_ended(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """Called when the ends of sessions were written; most have nothing to say of them."""


class PageWrite(Write[KeptPage]):
    """Stores a page of a running session with its files; the hooks write in the same transaction."""

    retries_lost_commits = True

    def __init__(self, capture: PageCapture, visit: Visit, days: int, hooks: Sequence[Hooks]) -> None:
        super().__init__(visit.fence, visit.journal)
        self.capture = capture
        self.visit = visit
        self.days = days  # that files last which expire
        self.hooks = hooks
        self.lies_in_warc = capture.record is not None

    @cached_property
    def files(self) -> tuple[KeptFile, ...]:
        """The page's files, packed and digested."""
        return tuple(files_of(self.visit, self.capture))

    def write_rows(self, db: Transaction) -> KeptPage:
        """Write the rows of this page alone."""
        [kept] = write_pages(db, [self])
        return kept

    def was_written(self, db: Transaction) -> bool:
        """Return whether the page has a row."""
        return db.scalar(select(Page.id).where(Page.id == self.capture.page_id)) is not None

    def committed(self, _: KeptPage) -> None:
        """Count the page for the session's outcome."""
        page = self.capture
        is_doubted = bool(page.low_confidence_reasons)
        self.visit.kept[page.page_id] = PageResult(page.page_type, page.cause, is_doubted=is_doubted)


def days_of(settings: Settings, retention_policy: str) -> int:
    """Return how many days the HTML and the WARC file of a session are kept."""
    return {"short": SHORT_DAYS, "long": LONG_DAYS}.get(retention_policy, settings.html_retention_days)


def write_pages(db: Transaction, pages: Sequence[PageWrite]) -> list[KeptPage]:
    """Write the rows of pages of one store, and have the hooks write theirs."""
    if not pages:
        return []
    shelved = [page.capture.record for page in pages if page.capture.record is not None]
    records = write_records(db, shelved) if shelved else {}
    rows = [_page_row(page, db.now, records) for page in pages]
    db.connection().execute(_PAGES, rows)
    artifacts = [
        row
        for page in pages
        for row in _artifact_rows(
            db, page.files, page.visit.fence.session_id, page_id=page.capture.page_id, days=page.days
        )
    ]
    if artifacts:
        db.connection().execute(_ARTIFACTS, artifacts)
    kept = [KeptPage(Page(**row), page.files, page.capture) for row, page in zip(rows, pages, strict=True)]
    for hook in pages[0].hooks:
        hook.pages_kept(db, kept)
    return kept


def write_artifacts(
    db: Transaction, files: Iterable[KeptFile], session_id: UUID, *, days: int | None = None
) -> None:
    """Write the rows of published files that are no page's; `days` is for those that expire."""
    if rows := list(_artifact_rows(db, files, session_id, page_id=None, days=days)):
        db.connection().execute(_ARTIFACTS, rows)


def _page_row(page: PageWrite, now: datetime, records: Mapping[tuple[int | None, int], int]) -> Row:
    capture, fence, shelved = page.capture, page.visit.fence, page.capture.record
    from_the_site = {
        "url": capture.url,
        "verdict": verdict_as_dict(capture.verdict) if capture.verdict else None,
        "facts": facts_as_dict(capture.facts) if capture.facts else None,
    }
    return {
        "id": capture.page_id,
        "created_at": now,
        "record_id": None if shelved is None else records[shelved.file_id, shelved.offset],
        "session_id": fence.session_id,
        "epoch": fence.epoch,
        "page_type": capture.page_type,
        "viewport": capture.viewport,
        "status": "ok" if capture.cause is None else "failed",
        "http_status": capture.http_status,
        "low_confidence_reasons": list(capture.low_confidence_reasons),
        "load_timings": capture.load_timings,
        "content_sha256": _content_digest(page.files, capture),
        **as_json(from_the_site),
    }


def _content_digest(files: Sequence[KeptFile], capture: PageCapture) -> str | None:
    """The digest of a page's content, wherever that lies."""
    for file in files:
        if file.type in {HTML, MEDIA}:
            return file.packed.content_sha256
    content = capture.body if capture.body is not None else capture.media
    return None if content is None or capture.record is None else sha256(content)


def _artifact_rows(
    db: Transaction,
    files: Iterable[KeptFile],
    session_id: UUID,
    *,
    page_id: UUID | None,
    days: int | None,
) -> Iterable[Row]:
    until = None if days is None else db.now + timedelta(days=days)
    for file in files:
        yield {
            "id": uuid4(),
            "session_id": session_id,
            "page_id": page_id,
            "type": file.type.name,
            "storage_uri": file.uri,
            "size_bytes": len(file.packed.data),
            "checksum": file.packed.checksum,
            "content_sha256": file.packed.content_sha256,
            "content_type": file.content_type,
            "charset": file.charset,
            "created_at": db.now,
            "retention_until": until if file.type.expires else None,
        }
