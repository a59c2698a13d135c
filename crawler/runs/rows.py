"""Runs as they are found, listed, and worked on."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import and_, select

from crawler.access.process import is_gone
from crawler.access.scope import Denial
from crawler.db import lookup
from crawler.db.models import Run, RunDenial, RunWorker

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Select
    from sqlalchemy.orm import Session


class RunStatus(StrEnum):
    """SPEC D94, D98."""

    INITIALIZED = "initialized"
    RUNNING = "running"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"


ENDED = (RunStatus.STOPPED, RunStatus.COMPLETED, RunStatus.FAILED)


REACH = ("start_urls", "allowed_domains", "allow", "deny", "depth")  # of a plan: how far a run goes


# ── made and found ──


def find(db: Session, given: str) -> Run:
    """The run with this id, or the newest of the source with this name."""
    newest = None if lookup.candidates(db, Run, given) else db.scalars(_newest(given)).first()
    return newest or lookup.find(db, Run, given)


def resumable(db: Session, source: str) -> Run | None:
    """The newest run of a source that was not completed (SPEC D98); why one failed may be over by now."""
    return db.scalars(_newest(source).where(Run.status != RunStatus.COMPLETED)).first()


def living_workers(db: Session, run_id: int, now: datetime) -> list[str]:
    """The owners that are at a run: they have said so lately, and are not known to be gone."""
    alive = and_(RunWorker.run_id == run_id, RunWorker.alive_until > now)
    said_so = db.execute(select(RunWorker.owner, RunWorker.process).where(alive).order_by(RunWorker.owner))
    return [owner for owner, process in said_so if not is_gone(process)]


def looked_everywhere(db: Session, run_id: int) -> bool:
    """Whether a run went as far as the one of its source before it: what it did not see is not there."""
    run = db.get_one(Run, run_id, populate_existing=True)
    if run.max_pages is not None and run.planned >= run.max_pages:
        return False
    before = db.scalars(_newest(run.source).where(Run.id < run_id)).first()
    return before is None or all(run.plan.get(name) == before.plan.get(name) for name in REACH)


def _newest(source: str) -> Select[Run]:
    return select(Run).where(Run.source == source).order_by(Run.id.desc()).limit(1)


def learnt_of(db: Session, run_id: int) -> tuple[Denial, ...]:
    """What a run has learnt so far."""
    query = select(RunDenial).where(RunDenial.run_id == run_id).order_by(RunDenial.created_at)
    return tuple(Denial(row.domain, row.pattern, row.reason) for row in db.scalars(query))
