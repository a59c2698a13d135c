"""What the collections consist of: their tables, the time that counts, and the rows that may go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import and_, delete, func, select, true

from crawler.db.models import (
    Artifact,
    AuditEntry,
    Base,
    CrawlLog,
    CrawlSession,
    Diagnostic,
    DomainDay,
    ExportRecord,
    Haul,
    Hold,
    Price,
    Run,
    ScrapeRecord,
)
from crawler.retention import conditions
from crawler.runs.rows import ENDED as RUNS_ENDED
from crawler.sessions.rows import ENDED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.orm import InstrumentedAttribute, Session


def _always(_now: datetime | None) -> ColumnElement[bool]:
    return true()


@frozen
class RetainedTable:
    """One table of a collection."""

    table: type[Base]
    time: InstrumentedAttribute[Any]  # a row without one is never expired (SPEC E118)
    may_go: Callable[[datetime | None], ColumnElement[bool]] = _always  # None: no hold stands

    @property
    def key(self) -> Any:
        """The table's primary key."""
        return self.table.__mapper__.primary_key[0]

    def is_expired(self, cutoff: datetime, now: datetime | None) -> ColumnElement[bool]:
        """Strictly older than the cutoff, and neither held nor needed."""
        return and_(self.time < cutoff, self.may_go(now))

    def total(self) -> Select[Any]:
        """How many rows there are."""
        return select(func.count()).select_from(self.table)

    def oldest(self, cutoff: datetime, now: datetime | None, limit: int) -> Select[Any]:
        """The rows to go first, locked; those that another cleaner is just taking are passed over."""
        return (
            select(self.time, self.key)
            .where(self.is_expired(cutoff, now))
            .order_by(self.time, self.key)
            .limit(limit)
            .with_for_update(skip_locked=True, of=self.table)
        )


def remove(db: Session, shelf: RetainedTable, keys: Sequence[Any]) -> int:
    """Delete rows, and what depends on them."""
    if shelf.table is CrawlSession:
        # Only marks of files that are gone are left of its artifacts; pages and logs follow by themselves.
        db.execute(delete(Artifact).where(Artifact.session_id.in_(keys)))
    gone = delete(shelf.table).where(shelf.key.in_(keys)).returning(shelf.key)
    return len(db.execute(gone.execution_options(synchronize_session=False)).all())


def holds_at(db: Session, now: datetime) -> datetime | None:
    """The time by which holds are asked about; None when none stands, so that no row is asked about."""
    stands = db.scalar(select(Hold.id).where(conditions.is_standing(now)).limit(1))
    return None if stands is None else now


def _unless_held(
    session_id: InstrumentedAttribute[Any],
) -> Callable[[datetime | None], ColumnElement[bool]]:
    return lambda now: true() if now is None else ~conditions.is_held(session_id, now)


def _price_may_go(now: datetime | None) -> ColumnElement[bool]:
    return true() if now is None else ~conditions.is_held_price(now)


def _session_may_go(now: datetime | None) -> ColumnElement[bool]:
    """It ended, and no artifact, price or hold names it."""
    artifact = select(Artifact.id).where(
        Artifact.session_id == CrawlSession.id, Artifact.deleted_at.is_(None)
    )
    price = select(Price.id).where(Price.session_id == CrawlSession.id)
    unheld = _unless_held(CrawlSession.id)(now)
    return and_(CrawlSession.status.in_(ENDED), ~artifact.exists(), ~price.exists(), unheld)


def _run_may_go(_now: datetime | None) -> ColumnElement[bool]:
    """It ended, and none of its visits is left; its tasks and what was worth a look go with it."""
    visit = select(CrawlSession.id).where(CrawlSession.run_id == Run.id)
    return and_(Run.status.in_(RUNS_ENDED), ~visit.exists())


COLLECTIONS: dict[str, tuple[RetainedTable, ...]] = {
    "diagnostics": (
        RetainedTable(Diagnostic, Diagnostic.timestamp, _unless_held(Diagnostic.session_id)),
        RetainedTable(CrawlLog, CrawlLog.timestamp, _unless_held(CrawlLog.session_id)),
    ),
    "price_history": (RetainedTable(Price, Price.seen_at, _price_may_go),),
    "scrape_metadata": (
        RetainedTable(ScrapeRecord, ScrapeRecord.timestamp),
        RetainedTable(CrawlSession, CrawlSession.finished_at, _session_may_go),
        RetainedTable(Run, Run.completed_at, _run_may_go),
    ),
    "audit_log": (RetainedTable(AuditEntry, AuditEntry.timestamp),),
    "scraper_health": (RetainedTable(DomainDay, DomainDay.timestamp),),
    "export_history": (RetainedTable(ExportRecord, ExportRecord.timestamp),),
    "hauls": (RetainedTable(Haul, Haul.created_at),),
}
