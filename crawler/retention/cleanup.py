"""One pass of the cleanup (SPEC B40-55, E116-123): expired artifacts first, then the collections.

It may be killed at any moment, and any number may run at once: what is to go is claimed before it goes.
"""

from __future__ import annotations

import random
import time
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from attrs import asdict, evolve, frozen
from sqlalchemy import delete, or_, update

from crawler import logs
from crawler.db.models import RetentionConfig, RetentionResult
from crawler.db.models.retention import CURRENT
from crawler.evidence.store_mark import require_store
from crawler.retention import claims, holds, policies
from crawler.retention.orphans import remove_unclaimed, unclaimed_files
from crawler.retention.plan import CleanupResult
from crawler.retention.sweep import sessions_to_go, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from uuid import UUID

    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobEntry, BlobStore
    from crawler.retention.plan import DueRow
    from crawler.retention.sweep import CollectionResult

log = logs.get_logger(__name__)
RESULTS_KEPT = 1000
LOOK_EVERY = timedelta(days=1)  # through all of the store, for files that never got their row


class Part(StrEnum):
    """What a pass may be limited to."""

    ARTIFACTS = "artifacts"
    COLLECTIONS = "collections"


@frozen
class CleanupOrder:
    """What a pass is asked to do."""

    batch_size: int = 100
    dry_run: bool = False
    only: Part | None = None
    max_seconds: float | None = None  # None: one batch; else as many as fit
    who: str = "cleanup"  # for the audit log


def clean_up(
    database: Database,
    blobs: BlobStore,
    order: CleanupOrder,
    on_progress: Callable[[CleanupResult], None] = lambda _: None,
) -> CleanupResult:
    """Do one pass, write down what came of it, and say so; a dry run only says.

    In a store that is not this database's nothing is done: there every file would look like one that is gone.
    """
    require_store(database, blobs)
    if order.dry_run:
        return _look(database, blobs, order)
    log.info("retention_cleanup.start", batch_size=order.batch_size, dry_run=False)
    began = time.monotonic()
    with database.write() as db:
        holds.keep_up(db)
        claims.free_dead_claims(db)
        is_look_due = order.only is not Part.COLLECTIONS and _is_look_due(db)
    work = claims.ClaimedPass(database, blobs, claims.take_expired, on_progress)
    swept: dict[str, CollectionResult] = {}
    unclaimed, unclaimed_bytes = 0, 0  # files without a row that are gone
    has_looked = False
    try:
        if order.only is not Part.COLLECTIONS:
            work.run(order.batch_size, order.max_seconds)
        if order.only is not Part.ARTIFACTS:
            remove_files = partial(_remove_files, work, order.batch_size)
            sweep(database, remove_files, seconds=_left(order, began), results=swept)
        if is_look_due:
            for entry in remove_unclaimed(database, blobs, seconds=_left(order, began)):
                unclaimed += 1
                unclaimed_bytes += entry.size_bytes
            left = _left(order, began)
            has_looked = left is None or left > 0  # through all of the store
    finally:
        reclaimed = work.result.reclaimed_bytes + unclaimed_bytes
        result = evolve(work.result, unclaimed=unclaimed, reclaimed_bytes=reclaimed)
        result = _with_collections(result, swept.values())
        _write_down(database, order, result, began, has_looked=has_looked)
    if order.only is not Part.COLLECTIONS:
        with database.read() as db:
            result = evolve(result, remaining=claims.count_due(db, db.now))
    log.info(
        "retention_cleanup.complete",
        deleted=result.deleted, failed=result.failed, reclaimed_bytes=result.reclaimed_bytes,
        reclaimed_mb=result.reclaimed_mb, unclaimed=result.unclaimed, dry_run=False,
    )  # fmt: skip
    return result


def _remove_files(
    work: claims.ClaimedPass, batch_size: int, sessions: Sequence[UUID], seconds: float | None
) -> None:
    """Remove texts, features and whatever else goes with the rows of sessions."""
    work.take = partial(claims.take_of_sessions, sessions=sessions)
    work.run(batch_size, seconds)


def _look(database: Database, blobs: BlobStore, order: CleanupOrder) -> CleanupResult:
    """Say what a pass would take, and write nothing, not even a line of the log (SPEC B47)."""
    rows: list[DueRow] = []
    remaining = 0
    with database.read() as db:
        if order.only is not Part.COLLECTIONS:
            rows += claims.candidates(db, db.now, order.batch_size)
            remaining = claims.count_due(db, db.now)
        if order.only is not Part.ARTIFACTS:
            sessions = sessions_to_go(db, policies.load(db))
            rows += claims.files_of_sessions(db, sessions, db.now, order.batch_size)
        is_look_due = order.only is not Part.COLLECTIONS and _is_look_due(db)
    artifacts = tuple(map(claims.fields_of, rows))
    result = CleanupResult(candidates=len(rows), remaining=remaining, artifacts=artifacts, dry_run=True)
    if is_look_due:
        result = _with_planned_files(result, unclaimed_files(database, blobs), order.batch_size)
    if order.only is not Part.ARTIFACTS:
        result = _with_collections(result, sweep(database, dry_run=True))
    return result


def _with_collections(result: CleanupResult, swept: Iterable[CollectionResult]) -> CleanupResult:
    details = tuple(map(asdict, swept))
    processed = sum(not each["error"] for each in details)
    return evolve(result, collections=details, collections_processed=processed)


def _with_planned_files(
    result: CleanupResult, groups: Iterable[Sequence[BlobEntry]], most: int
) -> CleanupResult:
    """Add the files without a row that a pass would remove: how many, and the names of the first."""
    number = 0
    first: list[BlobEntry] = []
    for group in groups:
        number += len(group)
        first += group[: most - len(first)]
    named = tuple({"storage_uri": entry.uri, "size_bytes": entry.size_bytes} for entry in first)
    return evolve(result, unclaimed=number, unclaimed_files=named)


def _is_look_due(db: Transaction) -> bool:
    """Whether the store was not looked through for a day: in a large one that takes longer than all else."""
    config = db.get(RetentionConfig, CURRENT)
    return config is None or config.looked_at is None or config.looked_at <= db.now - LOOK_EVERY


def _left(order: CleanupOrder, began: float) -> float | None:
    return None if order.max_seconds is None else order.max_seconds - (time.monotonic() - began)


def _write_down(
    database: Database, order: CleanupOrder, result: CleanupResult, began: float, *, has_looked: bool
) -> None:
    """Keep what came of the collections; what was deleted is in the audit log."""
    rows = {each["collection"]: each["deleted_docs"] for each in result.collections if each["deleted_docs"]}
    if not (has_looked or result.collections or result.deleted or result.unclaimed):
        return
    with database.write() as db:
        now = db.now
        if has_looked:
            policies.locked(db).looked_at = now
        if result.collections:
            kept = RetentionResult(
                timestamp=now, dry_run=False, total_deleted=sum(rows.values()),
                duration_ms=round((time.monotonic() - began) * 1000), details=list(result.collections),
            )  # fmt: skip
            db.add(kept)
            db.flush()
            db.execute(delete(RetentionResult).where(RetentionResult.id <= kept.id - RESULTS_KEPT))
        if result.deleted or rows or result.unclaimed:
            holds.note_action(
                db, "retention.cleanup", "what is past its date", actor=order.who, now=now,
                artifacts=result.deleted, reclaimed_bytes=result.reclaimed_bytes, rows=rows,
                **({"unclaimed_files": result.unclaimed} if result.unclaimed else {}),
            )  # fmt: skip


# ── a cleanup now and then on the back of requests, for hosts without a cron (SPEC B49, E111-115) ──


log = logs.get_logger(__name__)
CHANCE = 0.01
EVERY = timedelta(hours=1)


def maybe_clean_up(
    settings: Settings,
    database: Database,
    run: Callable[[], object],
    dice: Callable[[], float] = random.random,  # ruff: ignore[suspicious-non-cryptographic-random-usage] - no secret
) -> bool:
    """Run a cleanup after a request: where it is enabled, with a chance of one in a hundred, once an hour.

    The hour is that of all processes together. Called after an answer was sent, in a thread that nobody waits
    for; no error leaves it.
    """
    if not settings.retention_cleanup_enabled:
        return False
    try:
        if dice() >= CHANCE or not claim_hour(database):
            return False
        run()
    except Exception as error:
        log.exception("retention_trigger.failed", error_type=type(error).__name__)
        return False
    return True


def claim_hour(database: Database) -> bool:
    """Take the right to start a cleanup; at its start, so that nobody else starts one meanwhile."""
    with database.write() as db:
        policies.locked(db)
        now = db.now
        is_due = or_(RetentionConfig.triggered_at.is_(None), RetentionConfig.triggered_at <= now - EVERY)
        claiming = update(RetentionConfig).where(RetentionConfig.id == CURRENT, is_due)
        return db.connection().execute(claiming.values(triggered_at=now)).rowcount > 0
