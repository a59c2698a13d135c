"""Runs: made, worked on by any number of processes, and ended by the last of them."""

from __future__ import annotations

from enum import StrEnum
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import frozen
from sqlalchemy import and_, delete, func, insert, select, update

from crawler.access.process import is_gone, this_process
from crawler.access.scope import Denial
from crawler.db.models import Run, RunDenial, RunWorker, ScrapeRecord
from crawler.db.upsert import insert_into
from crawler.errors import NotFoundError
from crawler.leases.rules import stored_error
from crawler.runs import tasks
from crawler.runs.task_ends import give_back_of_the_dead

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Delete, Select, Table, Update
    from sqlalchemy.orm import Session

    Change = TypeVar("Change", Update, Delete)


_MAX_ID_DIGITS = 18


class RunStatus(StrEnum):
    """SPEC D94, D98."""

    INITIALIZED = "initialized"
    RUNNING = "running"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"


ENDED = (RunStatus.STOPPED, RunStatus.COMPLETED, RunStatus.FAILED)


REACH = ("start_urls", "allowed_domains", "allow", "deny", "depth")  # of a plan: how far a run goes


@frozen
class Listed:
    """A run, and how many processes are alive that work on it; a running one without any was left."""

    run: Run
    workers: int


# ── made and found ──


def create(db: Session, source: str, plan: dict[str, Any], *, max_pages: int | None, now: datetime) -> int:
    """Write a run that has yet to start; its id."""
    run = Run(
        source=source, status=RunStatus.INITIALIZED, plan=plan, max_pages=max_pages, planned=0, created_at=now
    )
    db.add(run)
    db.flush()
    return run.id


def find(db: Session, given: str) -> Run:
    """The run with this id, or the newest of the source with this name."""
    is_id = given.isascii() and given.isdecimal() and len(given) <= _MAX_ID_DIGITS
    run = (db.get(Run, int(given)) if is_id else None) or db.scalars(_newest(given)).first()
    if run is None:
        raise NotFoundError(f"there is no run {given!r}", hint="`vitrine runs list` shows them")
    return run


def resumable(db: Session, source: str) -> Run | None:
    """The newest run of a source that was not completed (SPEC D98); why one failed may be over by now."""
    return db.scalars(_newest(source).where(Run.status != RunStatus.COMPLETED)).first()


def listing(db: Session, now: datetime, *, limit: int, source: str | None = None) -> list[Listed]:
    """Runs with the number of their living workers, the newest first."""
    living = (
        select(func.count())
        .where(RunWorker.run_id == Run.id, RunWorker.alive_until > now)
        .correlate(Run)
        .scalar_subquery()
    )
    query = select(Run, living).order_by(Run.id.desc()).limit(limit)
    query = query if source is None else query.where(Run.source == source)
    return list(starmap(Listed, db.execute(query)))


def living_workers(db: Session, run_id: int, now: datetime) -> list[str]:
    """The owners that are at a run: they have said so lately, and are not known to be gone."""
    alive = and_(RunWorker.run_id == run_id, RunWorker.alive_until > now)
    said_so = db.execute(select(RunWorker.owner, RunWorker.process).where(alive).order_by(RunWorker.owner))
    return [owner for owner, process in said_so if not is_gone(process)]


# ── at work ──


def start(db: Session, run_id: int, now: datetime) -> bool:
    """Have a new run begin; False when it has begun already."""
    if _taken(db, run_id) != RunStatus.INITIALIZED:
        return False
    _write(db, run_id, status=RunStatus.RUNNING, started_at=now)
    return True


def reopen(db: Session, run_id: int, now: datetime) -> bool:
    """Have a run go on that was stopped, failed or left; False when there is nothing to go on with.

    One that others are at work on stays as it is, their wish to stop it included.
    """
    status = _taken(db, run_id)
    if status not in {RunStatus.STOPPED, RunStatus.FAILED, RunStatus.RUNNING}:
        return False
    living = living_workers(db, run_id, now)
    if status == RunStatus.RUNNING and living:
        return True
    _forget_the_dead(db, run_id, living)
    _write(
        db, run_id, status=RunStatus.RUNNING, started_at=func.coalesce(Run.started_at, now),
        completed_at=None, stop_requested_at=None, last_error=None,
    )  # fmt: skip
    return True


def join(db: Session, run_id: int, owner: str, alive_until: datetime) -> bool:
    """Say that a process works on a run; False when the run is not running, so that it must not."""
    if _taken(db, run_id) != RunStatus.RUNNING:
        return False
    worker = insert_into(db, RunWorker).values(
        run_id=run_id, owner=owner, alive_until=alive_until, process=str(this_process())
    )
    db.execute(
        worker.on_conflict_do_update(index_elements=["run_id", "owner"], set_={"alive_until": alive_until})
    )
    return True


def beat(db: Session, run_id: int, owner: str, alive_until: datetime) -> bool:
    """Say that a process still works on a run; False when it never joined, or left."""
    mine = and_(RunWorker.run_id == run_id, RunWorker.owner == owner)
    beaten = _quiet(update(RunWorker)).where(mine).values(alive_until=alive_until).returning(RunWorker.owner)
    return db.execute(beaten).first() is not None


def leave(db: Session, run_id: int, owner: str) -> None:
    """Say that a process works on a run no longer."""
    db.execute(_quiet(delete(RunWorker)).where(RunWorker.run_id == run_id, RunWorker.owner == owner))


def status_of(db: Session, run_id: int) -> RunStatus:
    """How a run stands."""
    return RunStatus(db.execute(select(Run.status).where(Run.id == run_id)).scalar_one())


# ── ended ──


def request_stop(db: Session, run_id: int, now: datetime) -> bool:
    """Ask a run's workers to stop, or stop it here and now where there are none; False when it is over.

    What dead workers hold is given back at once (SPEC D96).
    """
    if _taken(db, run_id) not in {RunStatus.INITIALIZED, RunStatus.RUNNING}:
        return False
    living = living_workers(db, run_id, now)
    _forget_the_dead(db, run_id, living)
    give_back_of_the_dead(db, run_id, living, now)
    if living:
        _write(db, run_id, stop_requested_at=func.coalesce(Run.stop_requested_at, now))
    else:
        _end(db, run_id, now, status=RunStatus.STOPPED, stop_requested_at=now)
    return True


def is_stop_requested(db: Session, run_id: int) -> bool:
    """Whether somebody wants the run to stop."""
    return db.execute(select(Run.stop_requested_at).where(Run.id == run_id)).scalar_one() is not None


def end_if_drained(db: Session, run_id: int, now: datetime) -> bool:
    """Complete a run that has nothing left to do; True for the one worker that did so (SPEC D77, D95).

    One that somebody wants to stop is never completed.
    """
    # Looked at twice: cheaply, as it is asked often, and again when no more tasks can be added.
    if not tasks.is_drained(db, run_id) or _taken(db, run_id) != RunStatus.RUNNING:
        return False
    if is_stop_requested(db, run_id) or not tasks.is_drained(db, run_id):
        return False
    _end(db, run_id, now, status=RunStatus.COMPLETED)
    return True


def looked_everywhere(db: Session, run_id: int) -> bool:
    """Whether a run went as far as the one of its source before it: what it did not see is not there."""
    run = db.get_one(Run, run_id, populate_existing=True)
    if run.max_pages is not None and run.planned >= run.max_pages:
        return False
    before = db.scalars(_newest(run.source).where(Run.id < run_id)).first()
    return before is None or all(run.plan.get(name) == before.plan.get(name) for name in REACH)


def stop(db: Session, run_id: int, owner: str, now: datetime) -> bool:
    """Leave a run, and end it as stopped where nobody else is at it (SPEC D94-97)."""
    return _leave_and_end(db, run_id, owner, now, status=RunStatus.STOPPED)


def fail(db: Session, run_id: int, owner: str, now: datetime, *, error: str) -> bool:
    """Leave a run that one cannot go on with, and end it as failed where nobody else is at it."""
    facts = {"status": RunStatus.FAILED, "last_error": stored_error(error)}
    return _leave_and_end(db, run_id, owner, now, **facts)


def _leave_and_end(db: Session, run_id: int, owner: str, now: datetime, **facts: Any) -> bool:
    # The run's row comes first: of two that leave at once, the second sees that it is the last.
    status = _taken(db, run_id)
    leave(db, run_id, owner)
    if status not in {RunStatus.INITIALIZED, RunStatus.RUNNING} or living_workers(db, run_id, now):
        return False
    _end(db, run_id, now, **facts)
    return True


def _end(db: Session, run_id: int, now: datetime, **facts: Any) -> None:
    """Give a run a status that ends it, and write down what is to be known when its own rows are gone."""
    _write(db, run_id, completed_at=now, **facts)
    run = db.get_one(Run, run_id, populate_existing=True)
    took = now - run.started_at if run.started_at else None
    details = {"source": run.source, "tasks": tasks.counts(db, run_id), "error": run.last_error}
    record = {
        "timestamp": now, "kind": "run", "subject_id": str(run_id), "domain": run.source, "url": "",
        "status": run.status, "cause": None, "details": details,
        "duration_ms": round(took.total_seconds() * 1000) if took else None,
    }  # fmt: skip
    db.connection().execute(insert(cast("Table", ScrapeRecord.__table__)), record)


def _forget_the_dead(db: Session, run_id: int, living: Sequence[str]) -> None:
    dead = and_(RunWorker.run_id == run_id, RunWorker.owner.not_in(living))
    db.execute(_quiet(delete(RunWorker)).where(dead))


def _newest(source: str) -> Select[Run]:
    return select(Run).where(Run.source == source).order_by(Run.id.desc()).limit(1)


def _taken(db: Session, run_id: int) -> RunStatus:
    """A run's status, which nobody else changes before the transaction's end."""
    query = select(Run.status).where(Run.id == run_id).with_for_update(key_share=True)
    status = db.execute(query).scalar_one_or_none()
    if status is None:
        raise NotFoundError(f"there is no run {run_id}", hint="`vitrine runs list` shows them")
    return RunStatus(status)


def _write(db: Session, run_id: int, **values: Any) -> None:
    db.execute(_quiet(update(Run)).where(Run.id == run_id).values(values))


def _quiet(statement: Change) -> Change:
    # No objects of these rows are at hand that would have to be kept in step.
    return statement.execution_options(synchronize_session=False)


# ── path rules that a run has learnt, kept so that whoever works on it knows them ──


def keep(db: Session, run_id: int, denials: Sequence[Denial], now: datetime) -> None:
    """Write down what is not to be asked for; what is known stays as it is."""
    rows = [
        {
            "run_id": run_id, "domain": denial.domain, "pattern": denial.pattern, "reason": denial.reason,
            "created_at": now,
        }
        for denial in denials
    ]  # fmt: skip
    if rows:
        db.execute(insert_into(db, RunDenial).on_conflict_do_nothing(), rows)


def of(db: Session, run_id: int) -> tuple[Denial, ...]:
    """What a run has learnt so far."""
    query = select(RunDenial).where(RunDenial.run_id == run_id).order_by(RunDenial.created_at)
    return tuple(Denial(row.domain, row.pattern, row.reason) for row in db.scalars(query))
