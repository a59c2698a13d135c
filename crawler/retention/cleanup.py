"""One pass of the cleanup (SPEC B40-55): claim rows, remove their files, mark them, count.

The file goes first and the mark comes second, so that nothing outlives its date: a crash between them leaves
a live row without a file, which the next pass marks, because a missing file is a success. No transaction is
open while files are removed.
"""

from __future__ import annotations

import logging
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from attrs import asdict, define, evolve, field, frozen

from crawler import logs
from crawler.retention import claims, holds
from crawler.retention.plan import CleanupResult, planned
from crawler.retention.sweep import sweep_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore, Removal
    from crawler.retention.plan import DuePlan, DueRow

    Progress = Callable[[CleanupResult], None]
    Taking = Callable[[Session, str, datetime, int], list[DueRow]]

log = logs.get_logger(__name__)

CLAIM_ROWS = 500  # at most so many in one claim: what a crash leaves is small, and the lease is long enough
REMOVED_AT_ONCE = 125  # files, between two looks at the clock
LEASE_SECONDS = claims.LEASE.total_seconds()
LEASE_MARGIN_SECONDS = 60.0  # a cleaner stops so long before its lease runs out


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

    @property
    def with_artifacts(self) -> bool:
        """Whether expired artifacts are looked at."""
        return self.only in {None, Part.ARTIFACTS}

    @property
    def with_collections(self) -> bool:
        """Whether the collections are looked at."""
        return self.only in {None, Part.COLLECTIONS}


def clean_up(
    database: Database,
    blobs: BlobStore,
    order: CleanupOrder,
    on_progress: Progress = lambda _: None,
) -> CleanupResult:
    """Do one pass and say what came of it; safe beside any number of others."""
    log.info("retention_cleanup.start", batch_size=order.batch_size, dry_run=order.dry_run)
    began = time.monotonic()
    if not order.dry_run:
        with database.write() as db:
            holds.keep_up(db, db.now)
    result = CleanupResult(dry_run=order.dry_run)
    if order.with_artifacts:
        done = (
            _look(database, order)
            if order.dry_run
            else ClaimedPass(database, blobs, order, on_progress).run()
        )
        with database.read() as db:
            result = evolve(done, remaining=claims.count_due(db, db.now))
    if order.with_collections:
        left = None if order.max_seconds is None else order.max_seconds - (time.monotonic() - began)
        swept = sweep_for(database, left, dry_run=order.dry_run)
        result = evolve(result, collections=tuple(asdict(each) for each in swept))
    log.info(
        "retention_cleanup.complete",
        deleted=result.deleted, failed=result.failed, reclaimed_bytes=result.reclaimed_bytes,
        reclaimed_mb=result.reclaimed_mb, dry_run=result.dry_run,
    )  # fmt: skip
    return result


def _look(database: Database, order: CleanupOrder) -> CleanupResult:
    """Log what a pass would take, and change nothing."""
    with database.read() as db:
        rows = claims.candidates(db, db.now, order.batch_size)
    for row in rows:
        log.info("retention_cleanup.candidate", **_fields(row), dry_run=True)
    return CleanupResult(candidates=len(rows), dry_run=True)


@frozen
class _Outcome:
    """What came of one row."""

    row: DueRow
    removal: Removal
    bytes: int  # counted for one row of a file only


@define
class _Claim:
    """Rows that are ours for a while, and what we have done with them."""

    name: str
    ends_at: float  # by our own clock, before the lease runs out
    rows: list[DueRow] = field(factory=list)
    shared: set[str] = field(factory=set)  # files that live rows of others name as well
    removals: list[Removal] = field(factory=list)

    @property
    def plan(self) -> DuePlan:
        return planned(self.rows, self.shared)

    def outcomes(self, ours: Collection[UUID]) -> list[_Outcome]:
        """What came of the rows that nobody has taken over."""
        files = self.plan.files
        return [
            _Outcome(row, removal, row.size_bytes if row is files[removal.uri][0] and removal.found else 0)
            for removal in self.removals
            for row in files[removal.uri]
            if row.id in ours
        ]


class ClaimedPass:
    """Batches of claims, until nothing is left or the time is over."""

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        order: CleanupOrder,
        on_progress: Progress,
        *,
        take: Taking = claims.take,
    ) -> None:
        self.database = database
        self.blobs = blobs
        self._take = take
        self.result = CleanupResult()
        self._batch_size = order.batch_size
        self._on_progress = on_progress
        self._ends_at = None if order.max_seconds is None else time.monotonic() + order.max_seconds

    def run(self) -> CleanupResult:
        """Take up what dead cleaners left, then go on in batches."""
        with self.database.write() as db:
            claims.drop_dead(db)
        while self._batch() and self._ends_at is not None:
            pass
        return self.result

    def _batch(self) -> bool:
        """Work off one batch; False when there was too little to fill it, or the time is over."""
        left = self._batch_size
        while left:
            wanted = min(left, CLAIM_ROWS)
            taken = self._claim_and_delete(wanted)
            left -= taken
            self._on_progress(self.result)
            if taken < wanted or (self._ends_at is not None and time.monotonic() >= self._ends_at):
                return False
        return True

    def _claim_and_delete(self, wanted: int) -> int:
        claim = _Claim(claims.new_claim(), time.monotonic() + LEASE_SECONDS - LEASE_MARGIN_SECONDS)
        with self.database.write() as db:
            claim.rows = self._take(db, claim.name, db.now, wanted)
            # A file that nobody else names now will not be named later: no name is published twice.
            claim.shared = claims.shared_files(db, claim.name) if claim.rows else set()
        if claim.rows:
            self._work_off(claim)
        return len(claim.rows)

    def _work_off(self, claim: _Claim) -> None:
        self._count(candidates=len(claim.rows))
        if log.isEnabledFor(logging.DEBUG):  # else each line would cost as much as the deletion
            for row in claim.rows:
                log.debug("retention_cleanup.candidate", **_fields(row), dry_run=False)
        try:
            if claim.shared:
                self._settle_shared(claim)
            self._remove_files(claim)
        finally:
            self._settle(claim)

    def _settle_shared(self, claim: _Claim) -> None:
        """Mark the rows whose file another live row needs; the file stays.

        Who is the last to need a file is decided with all its rows locked: of two cleaners that hold one row
        each, exactly one finds the other's still live.
        """
        with self.database.write() as db:
            claim.shared = claims.still_needed(db, claim.name, claim.shared)
            ours = claims.still_ours(db, claim.name)
            kept = [row for row in claim.plan.keep if row.id in ours]
            claims.mark_deleted(db, claim.name, db.now, [row.id for row in kept])
        for row in kept:
            log.info("retention_cleanup.deleted", **_fields(row), file="kept")
        self._count(deleted=len(kept))

    def _remove_files(self, claim: _Claim) -> None:
        files = list(claim.plan.files)
        for start in range(0, len(files), REMOVED_AT_ONCE):
            if time.monotonic() > claim.ends_at:
                log.warning("retention_cleanup.slow", done=start, files=len(files))
                return
            # One by one, so that what is gone is known when the next removal is interrupted.
            for removal in self.blobs.delete_all(files[start : start + REMOVED_AT_ONCE]):
                claim.removals.append(removal)

    def _settle(self, claim: _Claim) -> None:
        """Mark what is gone, let rest what failed, give back what was not reached."""
        with self.database.write() as db:
            now = db.now
            ours = claims.still_ours(db, claim.name)
            outcomes = claim.outcomes(ours)
            gone = [outcome for outcome in outcomes if not outcome.removal.error]
            failed = [outcome for outcome in outcomes if outcome.removal.error]
            if unreached := ours - {outcome.row.id for outcome in outcomes}:
                claims.release(db, claim.name, unreached)
            claims.mark_failed(db, [outcome.row for outcome in failed], now)
            claims.mark_deleted(db, claim.name, now)
        for outcome in outcomes:
            _log_outcome(outcome)
        self._count(deleted=len(gone), failed=len(failed), reclaimed_bytes=sum(one.bytes for one in gone))

    def _count(self, **figures: int) -> None:
        sums = {name: getattr(self.result, name) + figure for name, figure in figures.items()}
        self.result = evolve(self.result, **sums)


def _log_outcome(outcome: _Outcome) -> None:
    error = outcome.removal.error
    if error is None:
        file = "removed" if outcome.removal.found else "missing"
        log.info("retention_cleanup.deleted", **_fields(outcome.row), file=file)
        return
    log.warning(
        "retention_cleanup.failed",
        **_fields(outcome.row),
        error=str(error),
        error_type=type(error).__name__,
        reason=error.code,
        attempts=outcome.row.attempts + 1,
    )


def _fields(row: DueRow) -> dict[str, Any]:
    return {
        "artifact_id": str(row.id),
        "session_id": str(row.session_id),
        "storage_uri": row.storage_uri,
        "size_bytes": row.size_bytes,
    }
