"""The step `changes` of a job: after its index, its captures are compared with those before.

The job's own state has no part in it: it stays `indexed`, whatever becomes of the comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import asdict, frozen
from sqlalchemy import exists, select

from crawler import logs
from crawler.archive.changes import ChangesOrder, ChangesResult, compute_changes
from crawler.db.models import JobStep
from crawler.jobs.steps import Came, Result, StepLeases, close_attempt, first_begun, note_begun

if TYPE_CHECKING:
    from threading import Event

    from sqlalchemy import RowMapping

    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction
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
        self._steps = StepLeases(database, settings)

    def work_once(self) -> bool:
        """Compare the captures of one job that is due; False where none is."""
        work = self._acquired() if self._is_on and self._may_have_some() else None
        if work is None:
            return False
        log.info("changes.begin", job=work.job_id, epoch=work.lease.epoch)
        try:
            result = compute_changes(
                self.database, ChangesOrder(job=work.job_id), computed_by="incremental",
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
                self.database,
                ChangesOrder(),
                computed_by="incremental",
                keep_on=lambda: not self._stopping.is_set(),
            )

    def _may_have_some(self) -> bool:
        with self.database.read() as db:
            waits = JobStep.status.in_(("pending", "in_progress"))
            return bool(db.scalar(select(exists().where(_IS_CHANGES, waits))))

    def _acquired(self) -> _Work | None:
        with self.database.write() as db:
            steps = self._steps
            return first_begun(db, steps.leases, steps.owner, self._begun, within=(_IS_CHANGES,))

    def _begun(self, db: Transaction, row: RowMapping, lease: Lease) -> _Work:
        note_begun(db, row, lease, self._steps.owner)
        return _Work(lease, row["job_id"])

    def _is_ours(self, lease: Lease) -> bool:
        """Renewed with every batch, none of which takes as long as a lease."""
        return bool(self._steps.renew([lease]))

    def _end(self, work: _Work, result: Result) -> None:
        """Write what came of it, if it is ours to say."""
        with self.database.write() as db:
            if result.came is Came.SUCCESS:
                ours = self._steps.leases.finish(db, work.lease, db.now, outcome=str(result.came))
            elif result.came is Came.INTERRUPTED:
                ours = bool(self._steps.leases.release(db, [work.lease], result.error, db.now))
            else:
                failed = self._steps.leases.fail(
                    db, work.lease, result.error, db.now, cause="changes_failed", final=True
                )
                ours = failed is not None
            if ours:
                step = db.get_one(JobStep, work.lease.id, populate_existing=True)
                close_attempt(db, step, str(result.came), result, now=db.now)


def _counts(result: ChangesResult) -> dict[str, int]:
    return {name: count for name, count in asdict(result).items() if name != "dry_run"}
