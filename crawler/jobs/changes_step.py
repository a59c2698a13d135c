"""The step `changes` of a job: after its index, its captures are compared with those before (SPEC 88).

The job's own state has no part in it: it stays `indexed`, whatever becomes of the comparison.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING
from uuid import uuid4

from attrs import asdict, frozen
from sqlalchemy import exists, select

from crawler import logs
from crawler.access.process import this_process
from crawler.archive.changes import ChangesResult, Scope, compute_changes
from crawler.db.models import JobStep
from crawler.jobs.lifecycle import JobStatus
from crawler.jobs.steps import (
    MAX_HISTORY,
    MAX_LEASES,
    Came,
    Result,
    close_attempt,
    left_behind,
    take_back_dead,
    write_step,
)
from crawler.leases.rows import Leases
from crawler.leases.rules import LeaseRules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from threading import Event

    from sqlalchemy import RowMapping
    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.db.engine import Database
    from crawler.leases.rows import Lease

KIND = "changes"
_IS_CHANGES = JobStep.kind == KIND

log = logs.get_logger(__name__)


@frozen
class _Work:
    """A job whose captures are to be compared, and the right to say what came of it."""

    lease: Lease
    job_id: int


class Comparer:
    """Compares the captures of one job at a time, under its lease."""

    def __init__(self, database: Database, settings: Settings, stopping: Event) -> None:
        self.database = database
        self._is_on = settings.change_tracking_enabled
        self._stopping = stopping
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:12]}"
        rules = LeaseRules(
            lease_seconds=settings.job_lease_seconds, deadline_seconds=settings.job_max_seconds,
            max_attempts=MAX_LEASES, backoff_min_seconds=0, backoff_max_seconds=0, jitter_seconds=0,
        )  # fmt: skip
        self._leases = Leases(JobStep, rules, self._expired)

    def work_once(self) -> bool:
        """Compare the captures of one job that is due; False where none is."""
        work = self._acquired() if self._is_on and self._may_have_some() else None
        if work is None:
            return False
        log.info("changes.begin", job=work.job_id, epoch=work.lease.epoch)
        try:
            result = compute_changes(
                self.database, Scope(job=work.job_id), computed_by="incremental",
                keep_on=lambda: not self._stopping.is_set() and self._is_ours(work.lease),
            )  # fmt: skip
        except Exception as error:
            log.exception("changes.failed", job=work.job_id)
            self._end(work, Result(Came.FAILED, error=f"{type(error).__name__}: {error}", stage=KIND))
            return True
        stopped = Result(Came.INTERRUPTED, error="its worker was told to stop", stage=KIND)
        self._end(work, stopped if self._stopping.is_set() else Result(Came.SUCCESS, stage=KIND))
        log.info("changes.end", job=work.job_id, **_counts(result))
        return True

    def visits_once(self) -> None:
        """Compare what visits captured, which no job asks for."""
        if self._is_on:
            compute_changes(
                self.database, Scope(), computed_by="incremental", keep_on=lambda: not self._stopping.is_set()
            )

    def _may_have_some(self) -> bool:
        with self.database.read() as db:
            waits = JobStep.status.in_(("pending", "in_progress"))
            return bool(db.scalar(select(exists().where(_IS_CHANGES, waits))))

    def _acquired(self) -> _Work | None:
        with self.database.write() as db:
            take_back_dead(db, self._leases)
            found = self._leases.acquire(
                db, owner=self._owner, now=db.now, limit=1, within=(_IS_CHANGES,), values={}
            )
            if not found:
                return None
            row, lease = found[0]
            begun = {"epoch": lease.epoch, "started_at": db.now.isoformat(), "worker": self._owner}
            history = [*row["detail"].get("attempts", ()), begun][-MAX_HISTORY:]
            write_step(db, lease.id, process=this_process(), detail={"attempts": history})
            return _Work(lease, row["job_id"])

    def _is_ours(self, lease: Lease) -> bool:
        """Renewed with every batch, none of which takes as long as a lease."""
        with self.database.write() as db:
            return lease.id in self._leases.renew(db, [lease], db.now)

    def _end(self, work: _Work, result: Result) -> None:
        """Write what came of it, if it is ours to say."""
        with self.database.write() as db:
            if result.came is Came.SUCCESS:
                ours = self._leases.finish(db, work.lease, db.now, outcome=str(result.came))
            elif result.came is Came.INTERRUPTED:
                ours = bool(self._leases.release(db, [work.lease], result.error, db.now))
            else:
                failed = self._leases.fail(
                    db, work.lease, result.error, db.now, cause="changes_failed", final=True
                )
                ours = failed is not None
            if ours:
                step = db.get_one(JobStep, work.lease.id, populate_existing=True)
                close_attempt(db, step, str(result.came), result, now=db.now)

    def _expired(self, db: Session, rows: Sequence[RowMapping], now: datetime) -> None:
        for row in rows:
            left_behind(db, row, JobStatus.RETRYABLE, now)


def _counts(result: ChangesResult) -> dict[str, int]:
    return {name: count for name, count in asdict(result).items() if name != "dry_run"}
