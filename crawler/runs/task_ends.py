"""The one place where a task ends: its row, its record, and where a person should look, an exception.

Whatever an attempt came to is written here, in one transaction: stored, redirected, refused, failed, to be
tried again, given back, or that its worker died under it. No other module writes the end of a task.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self, cast

from attrs import asdict, evolve, frozen
from sqlalchemy import bindparam, insert

from crawler.capture.failures import Cause
from crawler.db.models import ScrapeRecord, Task
from crawler.leases.rows import EXPIRED, Leases
from crawler.leases.rules import LeaseRules
from crawler.runs import exceptions
from crawler.storable import as_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import RowMapping, Table
    from sqlalchemy.orm import Session

    from crawler.runs.tasks import LeasedTask

DIED_UNDER_IT = "workers died under it"
_TASKS = cast("Table", Task.__table__)
_RECORD = insert(cast("Table", ScrapeRecord.__table__))
_OF_THE_RUN = (_TASKS.c.run_id == bindparam("its_run"),)
_OF_THE_DEAD = (
    _TASKS.c.run_id == bindparam("its_run"),
    _TASKS.c.lease_owner.not_in(bindparam("living", expanding=True)),
)


class TaskOutcome(StrEnum):
    """What an attempt at a task came to."""

    STORED = "stored"
    REDIRECTED = "redirected"  # to a page that is another task's
    REFUSED = "refused"  # not to be fetched, by the site's rules or the source's
    FAILED = "error"
    RETRIED = "retried"
    GIVEN_BACK = "given_back"  # not begun, or through no fault of its own; no attempt is counted
    EXPIRED = "expired"  # nobody lived to say more


class Release(StrEnum):
    """Why a task is given back (SPEC D88)."""

    STOPPED = "stopped"  # somebody stopped the run
    INTERRUPTED = "interrupted"  # its process was stopped, its visit ended under it, or a store refused
    LEFT = "left"  # its domain was let go of, for others or for a while


@frozen
class TaskEnd:
    """What came of an attempt; with a cause, why it failed."""

    cause: Cause | None = None
    error: str = ""
    outcome: TaskOutcome = TaskOutcome.STORED  # of one without a cause
    page_id: UUID | None = None
    http_status: int | None = None
    is_final: bool = False  # trying again is of no use
    attempts_allowed: int = 0  # where that is more than the run's source allows

    @classmethod
    def given_back(cls, reason: Release) -> Self:
        """Nothing came of it, through no fault of its own."""
        return cls(outcome=TaskOutcome.GIVEN_BACK, error=reason)


def end(db: Session, leases: Leases, task: LeasedTask, came: TaskEnd, *, now: datetime) -> TaskOutcome | None:
    """Write what an attempt came to, and say so; None, and nothing written, where the task is not ours."""
    if came.outcome is TaskOutcome.GIVEN_BACK:
        return came.outcome if give_back(db, [task], Release(came.error), now) else None
    cause = came.cause
    if cause is None:
        is_ours = leases.finish(db, task.lease, now, outcome=came.outcome.value, page_id=came.page_id)
        status = "finished" if is_ours else None
    else:
        came = evolve(came, error=as_text(came.error, exceptions.MAX_MESSAGE_CHARS))
        final = came.is_final or cause.traits.is_refusal
        leases = leases.allowing(came.attempts_allowed)
        status = leases.fail(db, task.lease, came.error or cause, now, cause=cause, final=final)
        came = evolve(came, outcome=_outcome_of(cause, status))
    if status is None:
        return None
    _record(db, [_facts_of(task)], status, came, now=now)
    if came.outcome is TaskOutcome.FAILED:
        _note(db, _facts_of(task), came, now)
    return came.outcome


def stored_all(db: Session, ended: Sequence[tuple[LeasedTask, TaskEnd]], *, now: datetime) -> bool:
    """Write that the pages of some tasks are stored; False where one of these is not ours.

    Then whatever was written for the others has to be taken back.
    """
    done = [(task.lease, {"outcome": came.outcome.value, "page_id": came.page_id}) for task, came in ended]
    if not ended or not LEASES.finish_all(db, done, now):
        return not ended
    rows = [_record_row(_facts_of(task), "finished", came, now) for task, came in ended]
    db.connection().execute(_RECORD, rows)
    return True


def _outcome_of(cause: Cause, status: str | None) -> TaskOutcome:
    if cause.traits.is_refusal:
        return TaskOutcome.REFUSED
    return TaskOutcome.RETRIED if status == "pending" else TaskOutcome.FAILED


def give_back(db: Session, tasks: Sequence[LeasedTask], reason: Release, now: datetime) -> int:
    """Put tasks back without an attempt counted; how many of them were ours."""
    ours = LEASES.release(db, [task.lease for task in tasks], reason, now)
    given = [_facts_of(task, counted=-1) for task in tasks if task.lease.id in ours]
    _record(db, given, "pending", TaskEnd.given_back(reason), now=now)
    return len(ours)


def give_back_of_the_dead(db: Session, run_id: int, living: Collection[str], now: datetime) -> int:
    """Put back at once what others than the living hold of a run that somebody stops (SPEC D96)."""
    values = {"its_run": run_id, "living": list(living)}
    given = LEASES.take_back(db, reason=Release.STOPPED, now=now, within=_OF_THE_DEAD, values=values)
    _record(db, given, "pending", TaskEnd.given_back(Release.STOPPED), now=now)
    return len(given)


def retry_errors(db: Session, run_id: int, now: datetime) -> int:
    """Have every task of a run tried again that ended as an error; how many there are."""
    again = LEASES.retry(db, now=now, within=_OF_THE_RUN, values={"its_run": run_id})
    _record(db, again, "pending", TaskEnd(outcome=TaskOutcome.RETRIED, error="retried by a person"), now=now)
    return len(again)


def note_expired(db: Session, tasks: Sequence[RowMapping], now: datetime) -> None:
    """Record the tasks whose lease ran out; those that are not tried again are worth a look."""
    came = TaskEnd(Cause.LEASE_EXPIRED, EXPIRED, TaskOutcome.EXPIRED)
    for status in ("pending", "error"):
        _record(db, [task for task in tasks if task["status"] == status], status, came, now=now)
    for task in tasks:
        if task["status"] == "error":
            _note(db, task, evolve(came, error=DIED_UNDER_IT), now)


LEASES = Leases(Task, LeaseRules(), note_expired, ahead=True)  # for ends that ask for none of the numbers


# ── the record, and the exception ──


def _facts_of(task: LeasedTask, counted: int = 0) -> dict[str, Any]:
    """What is written of a task, by the names of its columns."""
    lease = task.lease
    return {**asdict(task, recurse=False), "id": lease.id, "attempts": lease.attempts + counted}


def _record(
    db: Session,
    tasks: Sequence[Mapping[str, Any] | RowMapping],
    status: str,
    came: TaskEnd,
    *,
    now: datetime,
) -> None:
    """Write down what is to be known when the tasks' own rows are gone."""
    if records := [_record_row(task, status, came, now) for task in tasks]:
        db.connection().execute(_RECORD, records)


def _record_row(
    task: Mapping[str, Any] | RowMapping, status: str, came: TaskEnd, now: datetime
) -> dict[str, Any]:
    return {
        "timestamp": now, "kind": "task", "subject_id": str(task["id"]), "domain": task["domain"],
        "url": task["url"], "status": status, "cause": came.cause, "duration_ms": None,
        "details": {
            "run": task["run_id"], "outcome": came.outcome, "error": came.error or None,
            "attempts": task["attempts"], "depth": task["depth"], "kind": task["kind"],
        },
    }  # fmt: skip


def _note(db: Session, task: Mapping[str, Any] | RowMapping, came: TaskEnd, now: datetime) -> None:
    """Have a person look at a task that failed for good."""
    cause = came.cause
    assert cause is not None  # ruff: ignore[assert] - only what has one is an exception
    stage = exceptions.Stage.PARSE if cause.traits.is_of_content else exceptions.Stage.FETCH
    context = {"cause": cause, "http_status": came.http_status, "attempts": task["attempts"]}
    message = came.error or cause.summary
    exceptions.note(db, task["run_id"], stage, task["url"], message, context, now)
