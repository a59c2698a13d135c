"""The collections: their tables, which of their rows may go, and a pass over all of them (SPEC E116-123)."""

from __future__ import annotations

import time
from datetime import timedelta
from functools import partial
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen
from sqlalchemy import and_, delete, exists, or_, select, true

from crawler import logs
from crawler.archive import unused
from crawler.capture.artifact_types import EXPIRING, MEDIA
from crawler.db import lookup
from crawler.db.models import (
    Artifact,
    Asset,
    AssetVersion,
    AuditEntry,
    Base,
    CrawlLog,
    CrawlSession,
    Diagnostic,
    DomainDay,
    ExportRecord,
    Haul,
    Page,
    Price,
    Record,
    Run,
    ScrapeRecord,
    WarcFile,
)
from crawler.retention import holds, policies
from crawler.runs.rows import ENDED as RUNS_ENDED
from crawler.sessions.rows import ENDED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.orm import InstrumentedAttribute, Session

    from crawler.db.engine import Database, Transaction

    MayGo = Callable[[datetime | None], ColumnElement[bool]]
    RemoveFiles = Callable[[Sequence[UUID], float | None], None]

log = logs.get_logger(__name__)
MOST_AT_ONCE = 100


@frozen
class RetainedTable:
    """One table of a collection."""

    table: type[Base]
    time: InstrumentedAttribute[Any]  # a row without one is never expired (SPEC E118)
    may_go: MayGo = lambda _: true()  # None: no hold stands
    is_ready: ColumnElement[bool] = field(factory=true)  # nothing has to go before it

    @property
    def key(self) -> Any:
        """The table's primary key."""
        return self.table.__mapper__.primary_key[0]

    def is_expired(self, cutoff: datetime, held: datetime | None) -> ColumnElement[bool]:
        """Strictly older than the cutoff, and neither held nor needed."""
        return and_(self.time < cutoff, self.may_go(held))

    def oldest(self, cutoff: datetime, held: datetime | None, limit: int) -> Select[Any]:
        """The rows to go first, locked; those that another cleaner is just taking are passed over."""
        return (
            select(self.time, self.key)
            .where(self.is_expired(cutoff, held), self.is_ready)
            .order_by(self.time, self.key)
            .limit(limit)
            .with_for_update(skip_locked=True, of=self.table)
        )

    def remove(self, db: Session, keys: Sequence[Any]) -> int:
        """Delete rows, and what depends on them."""
        if self.table is not CrawlSession:
            return self._remove(db, keys)
        named = unused.named_by_sessions(db, keys)
        # Of its artifacts only marks of files that are gone are left; pages and logs go by themselves.
        own = (WarcFile.session_id.in_(keys), WarcFile.artifact_id.is_not(None))
        db.execute(delete(WarcFile).where(*own))
        db.execute(delete(Artifact).where(Artifact.session_id.in_(keys)))
        removed = self._remove(db, keys)
        unused.delete_unused(db, named)
        return removed

    def _remove(self, db: Session, keys: Sequence[Any]) -> int:
        gone = delete(self.table).where(self.key.in_(keys)).returning(self.key)
        return len(db.execute(gone.execution_options(synchronize_session=False)).all())


_HAS_FILES = exists().where(Artifact.session_id == CrawlSession.id, Artifact.deleted_at.is_(None))


def _unless(is_held: Callable[[datetime], ColumnElement[bool]]) -> MayGo:
    return lambda held: true() if held is None else ~is_held(held)


def _session_may_go(held: datetime | None) -> ColumnElement[bool]:
    """It ended, and no price, no hold, and no file that has an end of its own names it.

    HTML has its date, and media are kept for as long as the asset whose version they are. Pages in WARC files
    have no date: they can be searched as long as these files are there. All else that was stored, such as
    texts and features, goes with the session.
    """
    is_of_asset = exists().where(AssetVersion.page_id == Artifact.page_id)
    has_end = or_(Artifact.type.in_(EXPIRING), and_(Artifact.type == MEDIA.name, is_of_asset))
    file = exists().where(Artifact.session_id == CrawlSession.id, Artifact.deleted_at.is_(None), has_end)
    in_warc = exists().where(
        Page.session_id == CrawlSession.id, Record.id == Page.record_id,
        Record.warc_file_id.is_not(None), Record.gone_at.is_(None),
    )  # fmt: skip
    price = exists().where(Price.session_id == CrawlSession.id)
    is_free = _unless(partial(holds.is_held, CrawlSession.id))(held)
    return and_(CrawlSession.status.in_(ENDED), ~price, ~file, ~in_warc, is_free)


def _run_may_go(_held: datetime | None) -> ColumnElement[bool]:
    """It ended, and none of its visits is left; its tasks and what was worth a look go with it."""
    visit = select(CrawlSession.id).where(CrawlSession.run_id == Run.id)
    return and_(Run.status.in_(RUNS_ENDED), ~visit.exists())


SESSIONS = RetainedTable(CrawlSession, CrawlSession.finished_at, _session_may_go, ~_HAS_FILES)
COLLECTIONS: dict[str, tuple[RetainedTable, ...]] = {
    "diagnostics": (
        RetainedTable(
            Diagnostic, Diagnostic.timestamp, _unless(partial(holds.is_held, Diagnostic.session_id))
        ),
        RetainedTable(CrawlLog, CrawlLog.timestamp, _unless(partial(holds.is_held, CrawlLog.session_id))),
    ),
    "price_history": (RetainedTable(Price, Price.seen_at, _unless(holds.is_held_price)),),
    "assets": (RetainedTable(Asset, Asset.last_seen_at, _unless(holds.is_held_asset)),),
    "scrape_metadata": (
        RetainedTable(ScrapeRecord, ScrapeRecord.timestamp),
        SESSIONS,
        RetainedTable(Run, Run.completed_at, _run_may_go),
    ),
    "audit_log": (RetainedTable(AuditEntry, AuditEntry.timestamp),),
    "scraper_health": (RetainedTable(DomainDay, DomainDay.timestamp),),
    "export_history": (RetainedTable(ExportRecord, ExportRecord.timestamp),),
    "hauls": (RetainedTable(Haul, Haul.created_at),),
}


def sessions_to_go(db: Transaction, days: Mapping[str, int]) -> list[UUID]:
    """The oldest sessions whose row is to go, and that have files which go with it and are not at rest."""
    cutoff = db.now - timedelta(days=days["scrape_metadata"])
    file = exists().where(
        Artifact.session_id == CrawlSession.id, Artifact.deleted_at.is_(None),
        or_(Artifact.cleanup_next.is_(None), Artifact.cleanup_next <= db.now),
    )  # fmt: skip
    oldest = select(CrawlSession.id).where(SESSIONS.is_expired(cutoff, held=db.now), file)
    oldest = oldest.order_by(CrawlSession.finished_at, CrawlSession.id).limit(MOST_AT_ONCE)
    return list(db.scalars(oldest))


# ── one pass: oldest first, a hundred of each collection, all accounted for ──


@frozen
class CollectionResult:
    """What came of one collection; the field names are a contract with scripts."""

    collection: str
    ttl_days: int
    total_docs: int = 0
    expired_docs: int = 0
    deleted_docs: int = 0
    error: str | None = None


def sweep(
    database: Database,
    remove_files: RemoveFiles | None = None,
    *,
    seconds: float | None = None,
    dry_run: bool = False,
    results: dict[str, CollectionResult] | None = None,
) -> tuple[CollectionResult, ...]:
    """One pass over all collections, or for a backlog as many as fit into the time.

    The figures are the first pass's, with all deletions. A collection that fails does not hide the others.
    `remove_files` is given sessions whose files go with their rows, and how long it may take; `results` has
    what was done so far, should the pass be interrupted.
    """
    ends_at = None if seconds is None else time.monotonic() + seconds
    results = {} if results is None else results
    while _pass(database, remove_files, ends_at, results, dry_run=dry_run):
        if dry_run or ends_at is None or time.monotonic() >= ends_at:
            break
    if deleted := sum(result.deleted_docs for result in results.values()):
        touched = sum(result.deleted_docs > 0 for result in results.values())
        log.info("retention_collections.complete", deleted=deleted, collections=touched)
    return tuple(results.values())


def _pass(
    database: Database,
    remove_files: RemoveFiles | None,
    ends_at: float | None,
    results: dict[str, CollectionResult],
    *,
    dry_run: bool,
) -> bool:
    """Look at each collection once; whether another pass would find something to delete."""
    with database.read() as db:
        days = policies.load(db)
        sessions = sessions_to_go(db, days) if remove_files else ()
    if remove_files and sessions:
        remove_files(sessions, None if ends_at is None else ends_at - time.monotonic())
    is_more_due = False
    for name in COLLECTIONS:
        result = _attempted(database, name, days[name], dry_run=dry_run)
        is_more_due |= 0 < result.deleted_docs < result.expired_docs
        results[name] = _with_later(results[name], result) if name in results else result
    return is_more_due


def _with_later(first: CollectionResult, later: CollectionResult) -> CollectionResult:
    deleted = first.deleted_docs + later.deleted_docs
    return evolve(first, deleted_docs=deleted, error=first.error or later.error)


def _attempted(database: Database, name: str, days: int, *, dry_run: bool) -> CollectionResult:
    result = CollectionResult(name, days)
    try:
        return _swept(database, result, dry_run=dry_run)
    except Exception as error:
        if not dry_run:
            log.exception("retention_collections.failed", collection=name, error_type=type(error).__name__)
        return evolve(
            result, error=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        )


def _swept(database: Database, result: CollectionResult, *, dry_run: bool) -> CollectionResult:
    tables = COLLECTIONS[result.collection]
    with database.read() if dry_run else database.write() as db:
        if not dry_run:
            holds.retention_lock(db)
        now = db.now
        cutoff = now - timedelta(days=result.ttl_days)
        held = holds.standing_at(db, now)
        result = evolve(
            result,
            total_docs=sum(lookup.count(db, each.table) for each in tables),
            expired_docs=sum(lookup.count(db, each.table, each.is_expired(cutoff, held)) for each in tables),
        )
        if dry_run or not result.expired_docs:
            return result
        return evolve(result, deleted_docs=_delete_oldest(db, tables, cutoff, held))


def _delete_oldest(
    db: Session, tables: tuple[RetainedTable, ...], cutoff: datetime, held: datetime | None
) -> int:
    """Delete the oldest of all tables of a collection together."""
    found = [
        [(age, place, key) for age, key in db.execute(each.oldest(cutoff, held, MOST_AT_ONCE))]
        for place, each in enumerate(tables)
    ]
    oldest = list(islice(merge(*found), MOST_AT_ONCE))
    return sum(
        each.remove(db, keys)
        for place, each in enumerate(tables)
        if (keys := [key for _, where, key in oldest if where == place])
    )
