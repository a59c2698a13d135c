"""Path rules that a run has learnt, kept so that whoever works on it knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.access.scope import Denial
from crawler.db.models import RunDenial
from crawler.db.upsert import insert_into

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session


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
