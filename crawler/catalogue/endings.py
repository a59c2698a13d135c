"""What stays known of a session that ended: its record, and its share in its domain's day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import func, select

from crawler.catalogue import latency
from crawler.db.models import Artifact, CrawlSession, DomainDay, Page, ScrapeRecord
from crawler.db.upsert import insert_into
from crawler.sessions.outcome import Cause, Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy.orm import Session

BLOCKS = frozenset({Cause.BLOCKED, Cause.BOT_BLOCK, Cause.RATE_LIMITED})


@frozen
class Ending:
    """A session that ended, and what its last attempt brought."""

    session: CrawlSession
    pages_ok: int
    pages_failed: int
    latencies_ms: tuple[float, ...]
    artifacts: int
    bytes: int


def note_endings(db: Session, session_ids: Iterable[UUID], now: datetime) -> None:
    """Write the records of sessions that end in this transaction, and count them for their domains."""
    endings = [_ending(db, session_id) for session_id in session_ids]
    db.add_all(_record(ending, now) for ending in endings)
    # Days are locked in one order, so that two processes never wait for each other.
    for ending in sorted(endings, key=lambda each: each.session.domain):
        if ending.session.domain:
            _count(_day(db, ending.session.domain, now), ending)


def _ending(db: Session, session_id: UUID) -> Ending:
    session = db.get_one(CrawlSession, session_id, populate_existing=True)
    query = select(Page.status, Page.load_timings).where(
        Page.session_id == session_id, Page.epoch == session.epoch
    )
    pages = db.execute(query).all()
    files, size = db.execute(
        select(func.count(), func.coalesce(func.sum(Artifact.size_bytes), 0)).where(
            Artifact.session_id == session_id
        )
    ).one()
    latencies = [timings.get("fetch_ms") for status, timings in pages if status == "ok"]
    return Ending(
        session=session,
        pages_ok=sum(status == "ok" for status, _ in pages),
        pages_failed=sum(status == "failed" for status, _ in pages),
        latencies_ms=tuple(each for each in latencies if isinstance(each, int | float)),
        artifacts=files,
        bytes=int(size),
    )


def _record(ending: Ending, now: datetime) -> ScrapeRecord:
    session = ending.session
    took = now - session.started_at if session.started_at else None
    details: dict[str, Any] = {
        "summary": session.error_summary,
        "attempt": session.epoch,
        "mode": session.mode,
        "policy": session.crawl_policy_version,
        "pdp_url": session.pdp_url,
        "pages_ok": ending.pages_ok,
        "pages_failed": ending.pages_failed,
        "artifacts": ending.artifacts,
        "bytes": ending.bytes,
    }
    return ScrapeRecord(
        timestamp=now,
        kind="session",
        subject_id=str(session.id),
        domain=session.domain,
        url=session.url,
        status=session.status,
        cause=session.cause,
        duration_ms=round(took.total_seconds() * 1000) if took else None,
        details=details,
    )


def _day(db: Session, domain: str, now: datetime) -> DomainDay:
    """The domain's row of the day, locked."""
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    db.execute(
        insert_into(db, DomainDay)
        .values(domain=domain, timestamp=day, sessions=0, successes=0, blocks=0, reached=0, products=0,
                latencies={})
        .on_conflict_do_nothing(index_elements=[DomainDay.domain, DomainDay.timestamp])
    )  # fmt: skip
    query = select(DomainDay).where(DomainDay.domain == domain, DomainDay.timestamp == day)
    return db.scalars(query.with_for_update().execution_options(populate_existing=True)).one()


def _count(day: DomainDay, ending: Ending) -> None:
    session = ending.session
    day.sessions += 1
    day.successes += session.status == Status.COMPLETED
    day.blocks += session.cause in BLOCKS
    day.reached += ending.pages_ok > 0
    day.products += session.pdp_url is not None
    day.verdict_rate = round(day.products / day.reached, 4) if day.reached else None
    day.latencies = latency.added(day.latencies, ending.latencies_ms)
    day.median_latency_ms = latency.median_ms(day.latencies)
