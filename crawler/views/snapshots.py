"""Snapshots, as a search finds them and as one of them is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import select

from crawler.archive.search import SearchOrder, search
from crawler.db import lookup
from crawler.db.models import Artifact, Page, Record, RegisteredSource, Snapshot, Text
from crawler.evidence.bodies import is_readable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from crawler.db.engine import Transaction


@frozen
class FoundSnapshot:
    """A hit of a search (SPEC 80)."""

    id: int
    title: str
    source: str
    source_name: str
    language: str
    captured_at: datetime
    url: str
    status_code: int | None
    snippet: str


@frozen
class SearchResults:
    """A page of hits."""

    results: list[FoundSnapshot]
    total: int
    page: int
    page_size: int
    explain: dict[str, Any] | None


@frozen
class SnapshotDocument:
    """A snapshot, and where its body lies."""

    id: int
    url: str
    captured_at: datetime
    source: str
    job: int | None
    session: UUID | None
    status_code: int | None
    mime_type: str | None
    language: str
    title: str
    snippet: str
    content_hash: str
    text_hash: str | None
    problem: str | None
    container: str
    warc: str | None
    offset: int | None
    length: int | None
    artifact: UUID | None
    body: str  # there, or why it is not


def results(db: Transaction, order: SearchOrder, *, explain: bool) -> SearchResults:
    """What a search finds."""
    found = search(db, order)
    sources = _sources(db, {each.source_id for each in found.snapshots})
    hits = [
        FoundSnapshot(
            each.id, each.title, *sources[each.source_id], each.language, each.captured_at, each.url,
            each.status_code, each.snippet,
        )
        for each in found.snapshots
    ]  # fmt: skip
    how = {
        "understood_as": found.query.kind,
        "answered_by": found.how,
        "terms": [" ".join(term.words) or term.text for term in found.query.terms],
        "urls": list(found.query.urls),
    }
    return SearchResults(hits, found.total, order.page, order.page_size, how if explain else None)


def snapshot(db: Transaction, given: str) -> tuple[SnapshotDocument, Artifact | None]:
    """The snapshot with that number, and the artifact that holds its body, if that may be read."""
    row = lookup.find(db, Snapshot, given)
    record = db.get_one(Record, row.record_id)
    artifact = db.get(Artifact, record.artifact_id) if record.artifact_id else None
    [(source, _)] = _sources(db, {row.source_id}).values()
    readable = artifact and db.scalar(
        select(Artifact.id).where(Artifact.id == artifact.id, is_readable(db.now))
    )
    text_hash = db.scalar(select(Text.text_hash).where(Text.id == row.text_id))
    session = db.scalar(select(Page.session_id).where(Page.id == row.page_id))
    document = SnapshotDocument(
        id=row.id, url=row.url, captured_at=row.captured_at, source=source, job=None, session=session,
        status_code=row.status_code, mime_type=row.mime_type, language=row.language, title=row.title,
        snippet=row.snippet, content_hash=row.content_hash, text_hash=text_hash, problem=row.problem,
        container="artifact" if artifact else "warc", warc=None, offset=record.offset, length=record.length,
        artifact=artifact.id if artifact else None,
        body="there" if readable else "removed_by_retention",
    )  # fmt: skip
    return document, artifact if readable else None


def _sources(db: Transaction, keys: Iterable[int]) -> dict[int, tuple[str, str]]:
    query = select(RegisteredSource.id, RegisteredSource.code, RegisteredSource.name)
    return {key: (code, name) for key, code, name in db.execute(query.where(RegisteredSource.id.in_(keys)))}
