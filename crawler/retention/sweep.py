"""One pass over the collections (SPEC E116-123): oldest first, a hundred of each, all accounted for."""

from __future__ import annotations

import time
from datetime import timedelta
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve, frozen
from sqlalchemy import delete, func, select

from crawler import logs
from crawler.db.models import RetentionResult
from crawler.retention import policies
from crawler.retention.holds import take_turn
from crawler.retention.tables import COLLECTIONS, holds_at, remove

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.retention.tables import RetainedTable

log = logs.get_logger(__name__)
MOST_AT_ONCE = 100
RESULTS_KEPT = 1000


@frozen
class CollectionResult:
    """What came of one collection; the field names are a contract with scripts."""

    collection: str
    ttl_days: int
    total_docs: int = 0
    expired_docs: int = 0
    deleted_docs: int = 0
    error: str | None = None


def sweep(database: Database, *, dry_run: bool) -> tuple[CollectionResult, ...]:
    """Do one pass over all collections and store what came of it; one that fails does not hide the others."""
    began = time.monotonic()
    with database.read() as db:
        days = policies.load(db)
    results = tuple(_attempted(database, name, days[name], dry_run=dry_run) for name in COLLECTIONS)
    deleted = sum(result.deleted_docs for result in results)
    with database.write() as db:
        _remember(db, results, dry_run=dry_run, duration_ms=_since(began), now=database.now(db))
    if deleted:
        touched = sum(result.deleted_docs > 0 for result in results)
        log.info("retention_collections.complete", deleted=deleted, collections=touched)
    return results


def sweep_for(
    database: Database, max_seconds: float | None, *, dry_run: bool
) -> tuple[CollectionResult, ...]:
    """One pass, or for a backlog as many as fit into the time; the first one's figures with all deletions."""
    ends_at = time.monotonic() + (max_seconds or 0)
    results = last = sweep(database, dry_run=dry_run)
    while not dry_run and _is_more_due(last) and time.monotonic() < ends_at:
        last = sweep(database, dry_run=False)
        results = tuple(map(_with_later, results, last))
    return results


def _with_later(first: CollectionResult, later: CollectionResult) -> CollectionResult:
    deleted = first.deleted_docs + later.deleted_docs
    return evolve(first, deleted_docs=deleted, error=first.error or later.error)


def _is_more_due(results: tuple[CollectionResult, ...]) -> bool:
    """Whether another pass would find something to delete."""
    return any(each.deleted_docs and each.expired_docs > each.deleted_docs for each in results)


def _attempted(database: Database, name: str, days: int, *, dry_run: bool) -> CollectionResult:
    result = CollectionResult(name, days)
    try:
        return _swept(database, result, dry_run=dry_run)
    except Exception as error:
        log.exception("retention_collections.failed", collection=name, error_type=type(error).__name__)
        return evolve(
            result, error=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        )


def _swept(database: Database, result: CollectionResult, *, dry_run: bool) -> CollectionResult:
    shelves = COLLECTIONS[result.collection]
    with database.read() if dry_run else database.write() as db:
        if not dry_run:
            take_turn(db)
        now = database.now(db)
        cutoff = now - timedelta(days=result.ttl_days)
        held = holds_at(db, now)
        result = evolve(result, **_counts(db, shelves, cutoff, held))
        if dry_run or not result.expired_docs:
            return result
        return evolve(result, deleted_docs=_delete_oldest(db, shelves, cutoff, held))


def _counts(
    db: Session, shelves: tuple[RetainedTable, ...], cutoff: datetime, held: datetime | None
) -> dict[str, Any]:
    expired = (
        select(func.count()).select_from(shelf.table).where(shelf.is_expired(cutoff, held))
        for shelf in shelves
    )
    return {
        "total_docs": sum(db.execute(shelf.total()).scalar_one() for shelf in shelves),
        "expired_docs": sum(db.execute(query).scalar_one() for query in expired),
    }


def _delete_oldest(
    db: Session, shelves: tuple[RetainedTable, ...], cutoff: datetime, held: datetime | None
) -> int:
    """Delete the oldest of all tables of a collection together."""
    found = [
        [(age, place, key) for age, key in db.execute(shelf.oldest(cutoff, held, MOST_AT_ONCE))]
        for place, shelf in enumerate(shelves)
    ]
    oldest = list(islice(merge(*found), MOST_AT_ONCE))
    return sum(
        remove(db, shelf, keys)
        for place, shelf in enumerate(shelves)
        if (keys := [key for _, where, key in oldest if where == place])
    )


def _remember(
    db: Session, results: tuple[CollectionResult, ...], *, dry_run: bool, duration_ms: int, now: datetime
) -> None:
    details: list[dict[str, Any]] = [asdict(result) for result in results]
    row = RetentionResult(
        timestamp=now,
        dry_run=dry_run,
        total_deleted=sum(result.deleted_docs for result in results),
        duration_ms=duration_ms,
        details=details,
    )
    db.add(row)
    db.flush()
    db.execute(delete(RetentionResult).where(RetentionResult.id <= row.id - RESULTS_KEPT))


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
