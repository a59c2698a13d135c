"""Sessions: what was visited, and what came of it.

What it takes to show one more column of a session stands in ARCHITECTURE.md, "Where does it go?". Pages,
artifacts and lines of the log are alike.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import frozen
from sqlalchemy import select

from crawler.db import lookup
from crawler.db.models import Artifact, CrawlLog, CrawlSession, Page
from crawler.pdp import facts_in, verdict_in
from crawler.sessions.outcome import Status
from crawler.sessions.store import is_owner_dead, is_stale
from crawler.views.documents import documents, in_groups
from crawler.views.paging import ALL, Newest, equals, page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.pdp import Facts, Verdict
    from crawler.views.paging import Wanted

T = TypeVar("T")
NEWEST = Newest(
    table=CrawlSession,
    by=(CrawlSession.created_at, CrawlSession.id),
    time=CrawlSession.created_at,
    domain=equals(CrawlSession.domain),
    cause=equals(CrawlSession.cause),
)


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

    @property
    def judged(self) -> Verdict | None:
        """The verdict as a value; `verdict` is its JSON."""
        return verdict_in(self.verdict)


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
    warc: bool
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

    @property
    def said(self) -> Facts:
        """What its product page says, as a value; `product` is its JSON."""
        return facts_in(self.product)


@frozen(kw_only=True)
class SessionWithLog(SessionDocument):
    """A session with everything that is known of it."""

    log: tuple[LogLine, ...]


def newest(
    db: Session, now: datetime, wanted: Wanted = ALL, *, status: str | None = None
) -> list[SessionDocument]:
    """The newest sessions first, of one status where that is wanted."""
    query = select(CrawlSession.id)
    query = query.where(CrawlSession.status == status) if status is not None else query
    return of(db, now, db.scalars(page(db, query, NEWEST, wanted)).all())


def of(db: Session, now: datetime, ids: Sequence[UUID]) -> list[SessionDocument]:
    """The sessions with these ids, in the order given; unknown ones are left out."""
    found: dict[UUID, SessionDocument] = {}
    for group in in_groups(ids):
        found |= _by_id(db, now, group, SessionDocument)
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
    for row, one in documents(db, its_pages, PageDocument):
        pages[row.session_id].append(one)
    artifacts: defaultdict[UUID, list[ArtifactDocument]] = defaultdict(list)
    its_files = select(Artifact).where(Artifact.session_id.in_(ids)).order_by(Artifact.created_at)
    for row, artifact in documents(db, its_files, ArtifactDocument):
        artifacts[row.session_id].append(artifact)
    are_these = CrawlSession.id.in_(ids)
    silent = set(db.scalars(select(CrawlSession.id).where(are_these, is_stale(now)))) | _left(db, are_these)

    def figures(row: CrawlSession) -> dict[str, Any]:
        return {
            "attempts": row.epoch, "silent": row.id in silent, "pages": tuple(pages[row.id]),
            "artifacts": tuple(artifacts[row.id]), "product": _product(row, pages[row.id]), **more,
        }  # fmt: skip

    found = documents(db, select(CrawlSession).where(are_these), kind, figures)
    return {row.id: document for row, document in found}


def _left(db: Session, are_these: ColumnElement[bool]) -> set[UUID]:
    """Return the sessions that run by their rows and whose process has certainly ended.

    The next crawl or cleanup ends them.
    """
    running = select(CrawlSession.id, CrawlSession.owner).where(
        are_these, CrawlSession.status == Status.RUNNING
    )
    return {row.id for row in db.execute(running) if is_owner_dead(row.owner)}


def _product(row: CrawlSession, pages: Sequence[PageDocument]) -> dict[str, Any]:
    if row.pdp_url:
        for one in reversed(pages):
            if one.page_type == "pdp" and one.facts and one.status == "ok":
                return one.facts
    return {}
