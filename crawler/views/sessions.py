"""Sessions: what was visited, and what came of it.

To show one more column of a session takes three lines: the column in `crawler/db/models/sessions.py`, a
migration in `crawler/db/migrations/versions/`, and a field of the same name in `SessionDocument` here. That
is all for `--json`; `crawler/cli/sessions.py` says which fields people see. Pages, artifacts and lines of the
log are alike.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import frozen
from sqlalchemy import and_, or_, select

from crawler.db import lookup
from crawler.db.models import Artifact, CrawlLog, CrawlSession, Page
from crawler.sessions.store import is_stale
from crawler.views.documents import documents

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy.orm import Session

T = TypeVar("T")
AT_ONCE = 500  # ids in one statement


@frozen(kw_only=True)
class PageDocument:
    """One page of a session, the failed ones included."""

    id: UUID
    epoch: int  # the attempt that it is of
    page_type: str
    viewport: str
    status: str
    url: str
    http_status: int | None
    low_confidence_reasons: list[str]
    load_timings: dict[str, Any]
    verdict: dict[str, Any] | None
    facts: dict[str, Any] | None
    created_at: datetime


@frozen(kw_only=True)
class ArtifactDocument:
    """One stored file of a session, those that are gone included."""

    id: UUID
    page_id: UUID | None
    type: str
    storage_uri: str
    size_bytes: int
    checksum: str
    content_sha256: str
    content_type: str | None
    charset: str | None
    created_at: datetime
    retention_until: datetime | None
    deleted_at: datetime | None


@frozen(kw_only=True)
class LogLine:
    """One line of a session's log."""

    timestamp: datetime
    level: str
    event_type: str
    message: str
    details: dict[str, Any]


@frozen(kw_only=True)
class SessionDocument:
    """A session, with its pages and artifacts."""

    id: UUID
    kind: str
    run_id: int | None
    url: str
    domain: str
    status: str
    mode: str
    retention_policy: str
    render: str
    error_summary: str | None
    cause: str | None
    crawl_policy_version: str
    wanted_pdp_url: str | None
    final_url: str | None
    pdp_url: str | None
    low_confidence: bool
    owner: str | None
    epoch: int
    heartbeat_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    config_snapshot: dict[str, Any]
    attempts: int
    silent: bool  # open, and its process is gone; whoever works on sessions next ends it as abandoned
    pages: tuple[PageDocument, ...]
    artifacts: tuple[ArtifactDocument, ...]
    product: dict[str, Any]  # the facts of its product page; empty where it found none


@frozen(kw_only=True)
class SessionWithLog(SessionDocument):
    """A session with everything that is known of it."""

    log: tuple[LogLine, ...]


@frozen(kw_only=True)
class Wanted:
    """Which sessions are asked for: all of what is said holds."""

    status: str | None = None
    cause: str | None = None
    domain: str | None = None
    since: datetime | None = None  # created then or later
    until: datetime | None = None  # created before
    after: str | None = None  # the last one of the page before, by its id or how that begins


def newest(
    db: Session, now: datetime, *, status: str | None = None, domain: str | None = None, limit: int
) -> list[SessionDocument]:
    """The newest sessions first, of one status or one domain where that is wanted."""
    return page_of(db, now, Wanted(status=status, domain=domain), limit)


def page_of(db: Session, now: datetime, wanted: Wanted, limit: int) -> list[SessionDocument]:
    """The newest of those that are wanted; after the last of these, the next page begins."""
    conditions = [
        getattr(CrawlSession, name) == value
        for name in ("status", "cause", "domain")
        if (value := getattr(wanted, name)) is not None
    ]
    if wanted.since:
        conditions.append(CrawlSession.created_at >= wanted.since)
    if wanted.until:
        conditions.append(CrawlSession.created_at < wanted.until)
    if wanted.after:
        last = lookup.find(db, CrawlSession, wanted.after)
        older = CrawlSession.created_at < last.created_at
        conditions.append(
            or_(older, and_(CrawlSession.created_at == last.created_at, CrawlSession.id > last.id))
        )
    query = select(CrawlSession.id).where(*conditions)
    query = query.order_by(CrawlSession.created_at.desc(), CrawlSession.id).limit(limit)
    return of(db, now, db.scalars(query).all())


def of(db: Session, now: datetime, ids: Sequence[UUID]) -> list[SessionDocument]:
    """The sessions with these ids, in the order given; unknown ones are left out."""
    found: dict[UUID, SessionDocument] = {}
    for begin in range(0, len(ids), AT_ONCE):
        found |= _by_id(db, now, ids[begin : begin + AT_ONCE], SessionDocument)
    return [found[one] for one in ids if one in found]


def shown(db: Session, now: datetime, given: str) -> SessionWithLog:
    """The session whose id begins so, with its log."""
    session_id = lookup.find(db, CrawlSession, given).id
    lines = select(CrawlLog).where(CrawlLog.session_id == session_id)
    log = documents(db, lines.order_by(CrawlLog.timestamp, CrawlLog.id), LogLine)
    found = _by_id(db, now, [session_id], SessionWithLog, log=tuple(line for _, line in log))
    return found[session_id]


def _by_id(db: Session, now: datetime, ids: Sequence[UUID], kind: type[T], **more: Any) -> dict[UUID, T]:
    pages: defaultdict[UUID, list[PageDocument]] = defaultdict(list)
    its_pages = select(Page).where(Page.session_id.in_(ids)).order_by(Page.created_at)
    for row, page in documents(db, its_pages, PageDocument):
        pages[row.session_id].append(page)
    artifacts: defaultdict[UUID, list[ArtifactDocument]] = defaultdict(list)
    its_files = select(Artifact).where(Artifact.session_id.in_(ids)).order_by(Artifact.created_at)
    for row, artifact in documents(db, its_files, ArtifactDocument):
        artifacts[row.session_id].append(artifact)
    are_these = CrawlSession.id.in_(ids)
    silent = set(db.scalars(select(CrawlSession.id).where(are_these, is_stale(now))))

    def figures(row: CrawlSession) -> dict[str, Any]:
        return {
            "attempts": row.epoch, "silent": row.id in silent, "pages": tuple(pages[row.id]),
            "artifacts": tuple(artifacts[row.id]), "product": _product(row, pages[row.id]), **more,
        }  # fmt: skip

    found = documents(db, select(CrawlSession).where(are_these), kind, figures)
    return {row.id: document for row, document in found}


def _product(row: CrawlSession, pages: Sequence[PageDocument]) -> dict[str, Any]:
    if row.pdp_url:
        for page in reversed(pages):
            if page.page_type == "pdp" and page.facts and page.status == "ok":
                return page.facts
    return {}
