"""Sessions in the database; every write of a running one checks that it is still its owner's."""

from __future__ import annotations

import os
import socket
from functools import cache
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4

from attrs import frozen
from sqlalchemy import and_, bindparam, false, func, insert, or_, select, update

from crawler.capture.failures import Cause, Summary
from crawler.db.models import Artifact, CrawlLog, CrawlSession, Page
from crawler.errors import CrawlerError, NotFoundError
from crawler.pdp import facts_as_dict, verdict_as_dict
from crawler.sessions.outcome import Outcome, Status
from crawler.storable import as_json, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Table, Update
    from sqlalchemy.orm import Session

    from crawler.capture.items import PageCapture
    from crawler.evidence.files import KeptFile
    from crawler.sessions.journal import LogLine

    Row = dict[str, Any]


# The statements of every page are built once: building them costs more than running them.
_SESSIONS = cast("Table", CrawlSession.__table__)
_START = (
    update(_SESSIONS)
    .where(
        _SESSIONS.c.id == bindparam("its_id"),
        _SESSIONS.c.owner == bindparam("its_owner"),
        _SESSIONS.c.status == Status.QUEUED,
    )
    .values(
        status=Status.RUNNING,
        epoch=_SESSIONS.c.epoch + 1,
        started_at=bindparam("now"),
        heartbeat_at=bindparam("now"),
        alive_until=bindparam("until"),
    )
    .returning(_SESSIONS.c.epoch)
)
_CREATE = insert(_SESSIONS)
ENDED = (Status.COMPLETED, Status.FAILED, Status.PARTIAL)


class StaleSessionError(CrawlerError):
    """The session was taken over by somebody else, or ended; nothing was written."""

    code = "stale_session"
    exit_code = 5


@frozen
class Fence:
    """The right to write for a session; an older epoch or another owner has it no more."""

    session_id: UUID
    owner: str
    epoch: int


@frozen
class Life:
    """A sign of life: when it is given, and until when its giver is not taken for dead."""

    now: datetime
    until: datetime

    @property
    def columns(self) -> dict[str, datetime]:
        """As it is written to a session."""
        return {"heartbeat_at": self.now, "alive_until": self.until}


@frozen
class SessionOrder:
    """What a session is asked to do."""

    url: str  # without a password
    domain: str  # empty where the URL names none
    mode: str = "standard"
    retention_policy: str = "standard"
    policy: str = "v1.2"
    wanted_pdp_url: str | None = None
    batch_id: int | None = None
    run_id: int | None = None  # of the durable run that pays this visit
    entry_id: str | None = None  # of the entry that fed a fleet with it

    @property
    def waits_for_others(self) -> bool:
        """Whether somebody takes it up again if this process stops: its batch's next start, or its fleet."""
        return self.batch_id is not None or self.entry_id is not None


def order_of(row: CrawlSession) -> SessionOrder:
    """What a stored session was asked to do."""
    return SessionOrder(
        url=row.url,
        domain=row.domain,
        mode=row.mode,
        retention_policy=row.retention_policy,
        policy=row.crawl_policy_version,
        wanted_pdp_url=row.wanted_pdp_url,
        batch_id=row.batch_id,
        run_id=row.run_id,
        entry_id=row.entry_id,
    )


def new_owner() -> str:
    """A name for this process that no other process ever has."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:12]}"


def create(
    db: Session,
    orders: Mapping[UUID, SessionOrder],
    *,
    owner: str | None,
    snapshot: dict[str, Any],
    life: Life,
) -> None:
    """Write queued sessions, under the ids that were chosen for them; without an owner, for anybody."""
    rows = [
        {
            "id": session_id,
            "kind": "run" if order.run_id else "page",
            "run_id": order.run_id,
            "url": order.url,
            "domain": order.domain,
            "mode": order.mode,
            "retention_policy": order.retention_policy,
            "crawl_policy_version": order.policy,
            "wanted_pdp_url": order.wanted_pdp_url,
            "batch_id": order.batch_id,
            "entry_id": order.entry_id,
            "config_snapshot": snapshot,
            "status": Status.QUEUED,
            "owner": owner,
            "created_at": life.now,
            **(life.columns if owner else {}),
        }
        for session_id, order in orders.items()
    ]
    if rows:
        db.connection().execute(_CREATE, rows)


def start(db: Session, session_id: UUID, *, owner: str, life: Life) -> Fence:
    """Make a queued session run under a new epoch; refuse one that somebody else has begun."""
    parameters = {"its_id": session_id, "its_owner": owner, "now": life.now, "until": life.until}
    epoch = db.connection().execute(_START, parameters).scalar_one_or_none()
    if epoch is None:
        raise StaleSessionError
    return Fence(session_id, owner, epoch)


def requeue(db: Session, session_id: UUID, *, owner: str, life: Life) -> CrawlSession:
    """Queue a session again that ended or was abandoned; its earlier pages stay, under their epoch."""
    row = get(db, session_id)
    alive = and_(
        CrawlSession.status.in_([Status.QUEUED, Status.RUNNING]),
        func.coalesce(CrawlSession.alive_until >= life.now, false()),
    )
    result = db.execute(
        update(CrawlSession)
        .where(CrawlSession.id == session_id, CrawlSession.epoch == row.epoch, ~alive)
        .values(
            status=Status.QUEUED, owner=owner, finished_at=None, **life.columns,
            error_summary=None, cause=None, low_confidence=False, pdp_url=None, final_url=None,
        )
        .returning(CrawlSession.id)
    )  # fmt: skip
    if result.scalar_one_or_none() is None:
        raise StaleSessionError(f"session {session_id} is at work in another process")
    db.refresh(row)
    return row


def beat(db: Session, fence: Fence, life: Life) -> bool:
    """Say that the session lives; False when it is no longer ours."""
    return _write(db, fence, **life.columns)


def beat_queued(db: Session, owner: str, life: Life) -> None:
    """Say that the sessions which wait in this process live."""
    db.execute(
        update(CrawlSession)
        .where(CrawlSession.owner == owner, CrawlSession.status == Status.QUEUED)
        .values(**life.columns)
    )


def require(db: Session, fence: Fence, life: Life) -> None:
    """Go on only as the session's owner; until the transaction's end nobody else can become it."""
    if not beat(db, fence, life):
        raise StaleSessionError


def finish(db: Session, fence: Fence, outcome: Outcome, *, now: datetime, **facts: Any) -> None:
    """End a running session."""
    values = {
        "status": outcome.status, "error_summary": outcome.summary, "cause": outcome.cause,
        "finished_at": now, "heartbeat_at": now, **facts,
    }  # fmt: skip
    if not _write(db, fence, **values):
        raise StaleSessionError


def finish_queued(db: Session, session_id: UUID, owner: str, outcome: Outcome, *, now: datetime) -> bool:
    """End a session that never ran; False when it is not ours to end."""
    ended = db.execute(
        update(CrawlSession)
        .where(
            CrawlSession.id == session_id, CrawlSession.owner == owner, CrawlSession.status == Status.QUEUED
        )
        .values(status=outcome.status, error_summary=outcome.summary, cause=outcome.cause, finished_at=now)
        .returning(CrawlSession.id)
    )
    return ended.scalar_one_or_none() is not None


def put_back(db: Session, fence: Fence) -> None:
    """Queue a running session for the next start of its batch, or for its fleet."""
    _write(db, fence, status=Status.QUEUED, owner=None, heartbeat_at=None, alive_until=None)


def release_queued(db: Session, owner: str, now: datetime) -> list[UUID]:
    """Let go of what this process has queued: a batch's and a fleet's wait, others end as interrupted."""
    mine = and_(CrawlSession.owner == owner, CrawlSession.status == Status.QUEUED)
    db.execute(
        update(CrawlSession)
        .where(mine, or_(CrawlSession.batch_id.is_not(None), CrawlSession.entry_id.is_not(None)))
        .values(owner=None, heartbeat_at=None, alive_until=None)
    )
    ended = db.execute(
        update(CrawlSession)
        .where(mine)
        .values(
            status=Status.FAILED, error_summary=Summary.CRAWL_FAILED, cause=Cause.INTERRUPTED, finished_at=now
        )
        .returning(CrawlSession.id)
    )
    return list(ended.scalars())


def any_stale(db: Session, now: datetime) -> bool:
    """Whether there is anything for `abandon_stale` to do."""
    return db.scalar(select(CrawlSession.id).where(is_stale(now)).limit(1)) is not None


def abandon_stale(db: Session, now: datetime) -> list[CrawlSession]:
    """Mark the sessions whose process is gone as failed, by what each process itself said of its life."""
    ended = db.scalars(
        update(CrawlSession)
        .where(is_stale(now))
        .values(
            status=Status.FAILED, error_summary=Summary.CRAWL_FAILED, cause=Cause.ABANDONED, finished_at=now
        )
        .returning(CrawlSession)
    )
    return list(ended)


def is_stale(now: datetime) -> ColumnElement[bool]:
    """Open, and silent for too long. What a batch has queued waits for its start; a fleet sees to its own."""
    begun = or_(
        CrawlSession.status == Status.RUNNING,
        and_(CrawlSession.status == Status.QUEUED, CrawlSession.batch_id.is_(None)),
    )
    return and_(begun, CrawlSession.entry_id.is_(None), CrawlSession.alive_until < now)


def get(db: Session, session_id: UUID) -> CrawlSession:
    """The session with this id."""
    row = db.get(CrawlSession, session_id)
    if row is None:
        raise NotFoundError(f"there is no session {session_id}", hint="`vitrine sessions list` shows them")
    return row


def _write(db: Session, fence: Fence, **values: Any) -> bool:
    parameters = {"its_id": fence.session_id, "its_owner": fence.owner, "its_epoch": fence.epoch, **values}
    return db.connection().execute(_fenced_update(tuple(values)), parameters).rowcount == 1


@cache
def _fenced_update(columns: tuple[str, ...]) -> Update:
    """The statement behind every write of a running session, built once for each set of columns."""
    return (
        update(_SESSIONS)
        .where(
            _SESSIONS.c.id == bindparam("its_id"),
            _SESSIONS.c.owner == bindparam("its_owner"),
            _SESSIONS.c.epoch == bindparam("its_epoch"),
            _SESSIONS.c.status == Status.RUNNING,
        )
        .values({column: bindparam(column) for column in columns})
    )


# ── pages, artifacts and log lines as rows. Statements are built once: that costs more than running them ──


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
        "url": as_text(capture.url),
        "http_status": capture.http_status,
        "low_confidence_reasons": list(capture.low_confidence_reasons),
        "load_timings": capture.load_timings,
        "verdict": as_json(verdict_as_dict(capture.verdict)) if capture.verdict else None,
        "facts": as_json(facts_as_dict(capture.facts)) if capture.facts else None,
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
        "type": file.type.name,
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
