"""How the whole is doing: what waits, what is stuck and why, how much is kept; for pages and metrics."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen
from sqlalchemy import and_, func, select

from crawler.db import lookup
from crawler.db.models import (
    Artifact,
    CrawlSession,
    JobStep,
    Run,
    Snapshot,
    Task,
    WarcFile,
)
from crawler.evidence.bodies import is_readable
from crawler.jobs import presence
from crawler.retention.claims import count_due
from crawler.runs.rows import RunStatus
from crawler.sessions.store import is_stale
from crawler.views import jobs as job_views
from crawler.views.attention import Attention, attention
from crawler.views.documents import document_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy import ColumnElement

    from crawler.db.engine import Transaction

SESSIONS, TASKS, STEPS = "session", "task", "job_step"
DAYS_SHOWN = 14


@frozen(kw_only=True)
class Queue:
    """One kind of work."""

    kind: str
    waiting: int
    at_work: int
    expired: int  # at work by its row, and its worker is gone
    oldest_wait_seconds: float
    oldest_lease_seconds: float


@frozen(kw_only=True)
class StorageClass:
    """Files of one type that are there."""

    type: str
    files: int
    bytes: int


@frozen(kw_only=True)
class WarcFiles:
    """WARC files in one state."""

    state: str
    files: int
    bytes: int


@frozen(kw_only=True)
class Gauges:
    """What metrics tell of the whole; each costs little, however much there is."""

    queues: list[Queue]
    captures_last_hour: int
    expired_evidence: int  # past its date and still there
    storage: list[StorageClass]
    warc_files: list[WarcFiles]
    worker_silence_seconds: float | None  # since the worker that is heard least gave a sign; None: no worker
    attention: list[Attention] = field(factory=list)


@frozen(kw_only=True)
class Captures:
    """How much was captured lately."""

    captures_last_hour: int
    captures_by_day: list[int]  # the last days, today last


@frozen(kw_only=True)
class Operations(Gauges):
    """What operators ask first."""

    captures_by_day: list[int]  # as above


def captures(db: Transaction) -> Captures:
    """Count what was captured lately."""
    return Captures(
        captures_last_hour=_captures(db, db.now - timedelta(hours=1), db.now),
        captures_by_day=list(_by_day(db, db.now)),
    )


def operations(db: Transaction) -> Operations:
    """Look at everything once."""
    return document_of(Operations, gauges(db), captures_by_day=list(_by_day(db, db.now)))


def gauges(db: Transaction) -> Gauges:
    """Look at what metrics tell."""
    now = db.now
    return Gauges(
        queues=[_sessions(db, now), _tasks(db), _steps(db)],
        captures_last_hour=_captures(db, now - timedelta(hours=1), now),
        expired_evidence=count_due(db, now),
        storage=_storage(db, now),
        warc_files=_warc_files(db),
        worker_silence_seconds=_silence(db, now),
        attention=list(attention(db)),
    )


# ── what waits, and what is at work ──


def _sessions(db: Transaction, now: datetime) -> Queue:
    waiting = CrawlSession.status == "queued"
    busy = CrawlSession.status == "running"
    return Queue(
        kind=SESSIONS, waiting=lookup.count(db, CrawlSession, waiting),
        at_work=lookup.count(db, CrawlSession, busy), expired=lookup.count(db, CrawlSession, is_stale(now)),
        oldest_wait_seconds=_age(db, CrawlSession.created_at, waiting, now),
        oldest_lease_seconds=_age(db, CrawlSession.started_at, busy, now),
    )  # fmt: skip


def _tasks(db: Transaction) -> Queue:
    """Of runs that are under way; what a stopped one has left waits for nobody."""
    going = select(Run.id).where(Run.status.in_([RunStatus.INITIALIZED, RunStatus.RUNNING]))
    mine = Task.run_id.in_(going)
    return _leased(db, TASKS, Task, mine)


def _steps(db: Transaction) -> Queue:
    """Of jobs; on this machine a worker is known to be gone before its lease is over."""
    found = _leased(db, STEPS, JobStep, JobStep.id.is_not(None))
    return evolve(found, expired=len(job_views.left_behind(db, db.now)))


def _leased(db: Transaction, kind: str, table: type[Task | JobStep], mine: ColumnElement[bool]) -> Queue:
    now = db.now
    waiting, busy = and_(mine, table.status == "pending"), and_(mine, table.status == "in_progress")
    return Queue(
        kind=kind, waiting=lookup.count(db, table, waiting), at_work=lookup.count(db, table, busy),
        expired=lookup.count(db, table, busy, table.lease_expires_at < now),
        oldest_wait_seconds=_age(db, table.next_run_at, and_(waiting, table.next_run_at <= now), now),
        oldest_lease_seconds=_age(db, table.begun_at, busy, now),
    )  # fmt: skip


def _age(db: Transaction, column: Any, which: ColumnElement[bool], now: datetime) -> float:
    oldest = db.scalar(select(func.min(column)).where(which))
    return max(0.0, (now - oldest).total_seconds()) if oldest else 0.0


def _silence(db: Transaction, now: datetime) -> float | None:
    """How long ago the least heard worker gave a sign, among those that should."""
    busy = JobStep.status == "in_progress"
    heard = [
        db.scalar(select(func.min(JobStep.updated_at)).where(busy)),
        db.scalar(select(func.min(CrawlSession.heartbeat_at)).where(CrawlSession.status == "running")),
        *(idle.seen_at for idle in presence.running(db, now)),
    ]
    known = [each for each in heard if each is not None]
    return max(0.0, (now - min(known)).total_seconds()) if known else None


# ── how much there is ──


def _captures(db: Transaction, since: datetime, until: datetime) -> int:
    return lookup.count(db, Snapshot, Snapshot.captured_at >= since, Snapshot.captured_at < until)


def _by_day(db: Transaction, now: datetime) -> Iterator[int]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for ago in reversed(range(DAYS_SHOWN)):
        day = today - timedelta(days=ago)
        yield _captures(db, day, day + timedelta(days=1))


def _storage(db: Transaction, now: datetime) -> list[StorageClass]:
    size = func.coalesce(func.sum(Artifact.size_bytes), 0)
    query = select(Artifact.type, func.count(), size).where(is_readable(now)).group_by(Artifact.type)
    return [
        StorageClass(type=kind, files=number, bytes=int(total))
        for kind, number, total in db.execute(query.order_by(Artifact.type))
    ]


def _warc_files(db: Transaction) -> list[WarcFiles]:
    size = func.coalesce(func.sum(WarcFile.size_bytes), 0)
    query = select(WarcFile.state, func.count(), size).where(WarcFile.artifact_id.is_(None))
    query = query.group_by(WarcFile.state).order_by(WarcFile.state)  # artifacts are counted as such
    return [
        WarcFiles(state=state, files=number, bytes=int(total)) for state, number, total in db.execute(query)
    ]
