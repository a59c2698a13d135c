"""Artifacts on their way out: claimed, their files removed, their rows marked (SPEC B44-46).

The file goes first and the mark comes second, so that nothing outlives its date: a crash between them leaves
a live row without a file, which the next pass marks, because a missing file is a success. No transaction is
open while files are removed.

A row belongs to one cleaner at a time, by the claim that is written into it: readers see its file as gone,
other cleaners pass it by, and only who has the claim marks the row.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from itertools import groupby, starmap
from operator import attrgetter
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field, frozen
from sqlalchemy import and_, bindparam, func, or_, select, text, true, update
from sqlalchemy.orm import aliased

from crawler import logs
from crawler.access.process import is_gone, this_process
from crawler.capture.artifact_types import WARC
from crawler.db.models.evidence import HAS_FAILED, IS_UNTRIED, Artifact, WarcFile
from crawler.retention import holds
from crawler.retention.plan import CleanupResult, DueRow, pause_after, planned

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore, Removal
    from crawler.retention.plan import DuePlan

    Progress = Callable[[CleanupResult], None]
    Taking = Callable[[Session, str, datetime, int], list[DueRow]]

log = logs.get_logger(__name__)

CLAIM_ROWS = 500  # at most so many in one claim: what a crash leaves is small, and the lease is long enough
REMOVED_AT_ONCE = 500  # files, between two looks at the clock
RETENTION = "retention"  # why a WARC file that was an artifact is gone
LEASE = timedelta(minutes=10)
LEASE_SECONDS = LEASE.total_seconds()
LEASE_MARGIN_SECONDS = 60.0  # a cleaner stops so long before its lease runs out


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
    rows: list[DueRow]
    plan: DuePlan
    removals: list[Removal] = field(factory=list)

    def outcomes(self, ours: Collection[UUID]) -> list[_Outcome]:
        """What came of the rows that nobody has taken over."""
        files = self.plan.files
        return [
            _Outcome(row, removal, row.size_bytes if row is files[removal.uri][0] and removal.found else 0)
            for removal in self.removals
            for row in files[removal.uri]
            if row.id in ours
        ]


@define(eq=False)
class ClaimedPass:
    """Batches of claims, until nothing is left or the time is over."""

    database: Database
    blobs: BlobStore
    take: Taking
    on_progress: Progress
    result: CleanupResult = field(factory=CleanupResult)

    def run(self, batch_size: int, max_seconds: float | None = None) -> None:
        """Do one batch; with a time, as many as fit."""
        ends_at = None if max_seconds is None else time.monotonic() + max_seconds
        while self._batch(batch_size, ends_at) and ends_at is not None:
            pass

    def _batch(self, size: int, ends_at: float | None) -> bool:
        """Work off one batch; False when there was too little to fill it, or the time is over."""
        while size:
            wanted = min(size, CLAIM_ROWS)
            taken = self._claim_and_delete(wanted)
            size -= taken
            self.on_progress(self.result)
            if taken < wanted or (ends_at is not None and time.monotonic() >= ends_at):
                return False
        return True

    def _claim_and_delete(self, wanted: int) -> int:
        """Claim rows, remove their files, mark them; how many were claimed."""
        name, ends_at = new_claim(), time.monotonic() + LEASE_SECONDS - LEASE_MARGIN_SECONDS
        with self.database.write() as db:
            rows = self.take(db, name, db.now, wanted)
            # A file that nobody else names now will not be named later: no name is published twice.
            shared = _shared_files(db, name) if rows else set()
        if not rows:
            return 0
        self._count(candidates=len(rows))
        if log.isEnabledFor(logging.DEBUG):  # else each line would cost as much as the deletion
            for row in rows:
                log.debug("retention_cleanup.candidate", **fields_of(row), dry_run=False)
        claim = _Claim(name, ends_at, rows, planned(rows, shared))
        try:
            if shared:
                self._settle_shared(claim, shared)
            self._remove_files(claim)
        finally:
            self._settle(claim)
        return len(rows)

    def _settle_shared(self, claim: _Claim, shared: set[str]) -> None:
        """Mark the rows whose file another live row needs; the file stays.

        Who is the last to need a file is decided with all its rows locked: of two cleaners that hold one row
        each, exactly one finds the other's still live.
        """
        with self.database.write() as db:
            claim.plan = planned(claim.rows, _still_needed(db, claim.name, shared))
            ours = _still_ours(db, claim.name)
            kept = [row for row in claim.plan.keep if row.id in ours]
            _mark_deleted(db, claim.name, db.now, only=[row.id for row in kept])
        for row in kept:
            log.debug("retention_cleanup.deleted", **fields_of(row), file="kept")
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
            ours = _still_ours(db, claim.name)
            outcomes = claim.outcomes(ours)
            gone = [outcome for outcome in outcomes if not outcome.removal.error]
            failed = [outcome for outcome in outcomes if outcome.removal.error]
            if unreached := ours - {outcome.row.id for outcome in outcomes}:
                _release(db, claim.name, only=unreached)
            _mark_failed(db, [outcome.row for outcome in failed], now)
            _mark_deleted(db, claim.name, now)
        reclaimed = sum(outcome.bytes for outcome in gone)
        log.info("retention_cleanup.batch", deleted=len(gone), failed=len(failed), reclaimed_bytes=reclaimed)
        for outcome in failed:
            _log_failure(outcome)
        if log.isEnabledFor(logging.DEBUG):
            for outcome in gone:
                file = "removed" if outcome.removal.found else "missing"
                log.debug("retention_cleanup.deleted", **fields_of(outcome.row), file=file)
        self._count(deleted=len(gone), failed=len(failed), reclaimed_bytes=reclaimed)

    def _count(self, **figures: int) -> None:
        sums = {name: getattr(self.result, name) + figure for name, figure in figures.items()}
        self.result = evolve(self.result, **sums)


def _log_failure(outcome: _Outcome) -> None:
    error = outcome.removal.error
    assert error is not None  # ruff: ignore[assert] - it failed
    log.warning(
        "retention_cleanup.failed",
        **fields_of(outcome.row),
        error=str(error),
        error_type=type(error).__name__,
        reason=error.code,
        attempts=outcome.row.attempts + 1,
    )


def fields_of(row: DueRow) -> dict[str, Any]:
    """A row as the log, and the answer of a dry run, have it."""
    return {
        "artifact_id": str(row.id),
        "session_id": str(row.session_id),
        "storage_uri": row.storage_uri,
        "size_bytes": row.size_bytes,
    }


# ── the rows: which may be taken (SPEC B44), claimed, and marked by whoever has the claim ──


_ROW = (
    Artifact.id, Artifact.session_id, Artifact.storage_uri, Artifact.size_bytes, Artifact.cleanup_attempts,
)  # fmt: skip
_MINE, _OTHER = aliased(Artifact), aliased(Artifact)
# Built once: building it takes longer than asking it.
_SHARED = (
    select(_OTHER.storage_uri)
    .join(_MINE, _MINE.storage_uri == _OTHER.storage_uri)
    .where(_MINE.cleanup_claim == bindparam("claim"), _OTHER.deleted_at.is_(None))
    .where(_OTHER.cleanup_claim.is_distinct_from(bindparam("claim")))
)
_FREE: dict[str, Any] = {"cleanup_claim": None, "cleanup_claimed_until": None}


def new_claim() -> str:
    """A name for one claim; it tells which process holds it."""
    return f"{this_process()}#{token_hex(8)}"


def free_dead_claims(db: Session) -> None:
    """Free what processes of this machine held when they died; elsewhere their lease must run out."""
    held = select(Artifact.cleanup_claim).where(Artifact.cleanup_claim.is_not(None)).distinct()
    for (claim,) in _run(db, held).all():
        if is_gone(claim.partition("#")[0]):
            _release(db, claim)


def candidates(db: Session, now: datetime, limit: int) -> list[DueRow]:
    """The rows to take next: those without a failure first, within each kind the oldest date first.

    What came into being under a hold may not be marked yet; a pass would mark it first.
    """
    found: list[DueRow] = []
    is_unheld = ~holds.is_held(Artifact.session_id, now) if holds.standing_at(db, now) else true()
    for kind in _kinds(now):
        rows = _run(db, _oldest(_ROW, kind & is_unheld, now, limit - len(found)))
        found += list(starmap(DueRow, rows))
    return found


def take_expired(db: Session, claim: str, now: datetime, limit: int) -> list[DueRow]:
    """Claim the candidates; what was held or prolonged since it was selected is left alone."""
    taken: list[DueRow] = []
    for kind in _kinds(now):
        if len(taken) == limit:
            break
        picked = _oldest((Artifact.id,), kind, now, limit - len(taken))
        taken += _claimed(db, claim, now, picked, which=Artifact.retention_until < now)
    return taken


def take_of_sessions(
    db: Session, claim: str, now: datetime, limit: int, *, sessions: Select[Any] | Collection[UUID]
) -> list[DueRow]:
    """Claim whatever sessions have, of any type and date, but for what rests after a failure."""
    return _claimed(db, claim, now, _of_sessions((Artifact.id,), sessions, now).limit(limit))


def files_of_sessions(db: Session, sessions: Collection[UUID], now: datetime, limit: int) -> list[DueRow]:
    """What that would claim."""
    return list(starmap(DueRow, _run(db, _of_sessions(_ROW, sessions, now).limit(limit))))


def count_due(db: Session, now: datetime) -> int:
    """How many rows are past their date and still there, whoever is at them."""
    count = select(func.count()).select_from(Artifact)
    kinds = (text(IS_UNTRIED), text(HAS_FAILED))
    return sum(_run(db, count.where(kind, Artifact.retention_until < now)).scalar_one() for kind in kinds)


def _kinds(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Rows past their date, strictly, and not under legal hold: never tried, or rested after a failure."""
    is_past = Artifact.retention_until < now
    return (
        and_(text(IS_UNTRIED), is_past),
        and_(text(HAS_FAILED), is_past, Artifact.cleanup_next <= now),
    )


def _is_unclaimed(now: datetime) -> ColumnElement[bool]:
    """No cleaner is at it, or one that took longer than its lease."""
    return or_(Artifact.cleanup_claim.is_(None), Artifact.cleanup_claimed_until < now)


def _may_be_taken(now: datetime) -> ColumnElement[bool]:
    return and_(Artifact.deleted_at.is_(None), Artifact.legal_hold.is_(False), _is_unclaimed(now))


def _oldest(columns: Any, kind: ColumnElement[bool], now: datetime, limit: int) -> Select[Any]:
    return (
        select(*columns)
        .where(kind, _is_unclaimed(now))
        .order_by(Artifact.retention_until, Artifact.id)
        .limit(limit)
    )


def _of_sessions(columns: Any, sessions: Select[Any] | Collection[UUID], now: datetime) -> Select[Any]:
    is_rested = or_(Artifact.cleanup_next.is_(None), Artifact.cleanup_next <= now)
    return (
        select(*columns)
        .where(Artifact.session_id.in_(sessions), is_rested, _may_be_taken(now))
        .order_by(Artifact.id)
    )


def _claimed(
    db: Session, claim: str, now: datetime, ids: Select[Any], *, which: ColumnElement[bool] | None = None
) -> list[DueRow]:
    """Claim the picked rows that may still be taken."""
    # On PostgreSQL, rows that another cleaner is just claiming are passed over instead of waited for.
    picked = ids.with_for_update(skip_locked=True).cte("picked")
    # Asked once more of what was picked, and saying less than the indexes do, so that no planner takes one of
    # those to find again what it has.
    may_go = _may_be_taken(now) if which is None else and_(which, _may_be_taken(now))
    claiming = update(Artifact).where(Artifact.id.in_(select(picked.c.id)), may_go)
    values = {"cleanup_claim": claim, "cleanup_claimed_until": now + LEASE}
    return list(starmap(DueRow, _run(db, claiming.values(**values).returning(*_ROW))))


def _shared_files(db: Session, claim: str) -> set[str]:
    """The files of a claim that live rows outside it name as well."""
    return set(db.scalars(_SHARED, {"claim": claim}))


def _still_needed(db: Session, claim: str, uris: Collection[str]) -> set[str]:
    """Those of the files that live rows outside the claim name, with all rows of them locked."""
    query = (
        select(Artifact.storage_uri, Artifact.cleanup_claim)
        .where(Artifact.storage_uri.in_(uris), Artifact.deleted_at.is_(None))
        .order_by(Artifact.id)  # all who lock rows do so in this order, and so never block each other
        .with_for_update()
    )
    return {uri for uri, holder in _run(db, query) if holder != claim}


def _still_ours(db: Session, claim: str) -> set[UUID]:
    """The rows of a claim that nobody has taken over, locked until the transaction's end."""
    query = select(Artifact.id).where(Artifact.cleanup_claim == claim).order_by(Artifact.id)
    return set(_run(db, query.with_for_update()).scalars())


def _mark_deleted(db: Session, claim: str, now: datetime, only: Collection[UUID] | None = None) -> None:
    """Write that the files of a claim's rows are gone: of all of them, or of some."""
    going = select(Artifact.id).where(Artifact.cleanup_claim == claim, Artifact.type == WARC.name)
    note_gone_warcs(db, going if only is None else going.where(Artifact.id.in_(only)), now)
    _change_claimed(db, claim, only, deleted_at=now, cleanup_next=None, **_FREE)


def note_gone_warcs(db: Session, artifacts: Select[Any] | Collection[UUID], now: datetime) -> None:
    """Have the rows of WARC files say that they are gone, with the artifacts that they were."""
    files = update(WarcFile).where(WarcFile.artifact_id.in_(artifacts))
    _run(db, files.values(state="gone", gone_at=now, gone_why=RETENTION))


def _release(db: Session, claim: str, only: Collection[UUID] | None = None) -> None:
    """Give rows of a claim back untouched: all of them, or some."""
    _change_claimed(db, claim, only, **_FREE)


def _change_claimed(db: Session, claim: str, only: Collection[UUID] | None, **values: Any) -> None:
    changing = update(Artifact).where(Artifact.cleanup_claim == claim)
    changing = changing if only is None else changing.where(Artifact.id.in_(only))
    _run(db, changing.values(**values))


def _mark_failed(db: Session, rows: Iterable[DueRow], now: datetime) -> None:
    """Let rows rest before they are tried again, the longer the more often they failed."""
    attempts = attrgetter("attempts")
    for before, alike in groupby(sorted(rows, key=attempts), key=attempts):
        resting = {"cleanup_attempts": before + 1, "cleanup_next": now + pause_after(before + 1), **_FREE}
        _run(db, update(Artifact).where(Artifact.id.in_([row.id for row in alike])).values(**resting))


def _run(db: Session, statement: Any) -> Any:
    # No objects of these rows are loaded that would have to be kept in step.
    return db.execute(statement, execution_options={"synchronize_session": False})
