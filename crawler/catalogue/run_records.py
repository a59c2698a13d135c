"""What is kept of runs and their tasks when they have ended, and their own rows may go."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlalchemy import insert

from crawler.db.models import Run, ScrapeRecord
from crawler.runs import tasks

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Table
    from sqlalchemy.orm import Session

    from crawler.runs.tasks import LeasedTask

_RECORD = insert(cast("Table", ScrapeRecord.__table__))


def note_task(db: Session, task: LeasedTask, status: str, *, cause: str | None, now: datetime) -> None:
    """Write down that a task ended, in the transaction that ends it."""
    details = {"run": task.run_id, "attempts": task.lease.attempts, "depth": task.depth, "kind": task.kind}
    record = {
        "timestamp": now, "kind": "task", "subject_id": str(task.lease.id), "domain": task.domain,
        "url": task.url, "status": status, "cause": cause, "duration_ms": None, "details": details,
    }  # fmt: skip
    db.connection().execute(_RECORD, record)


def note_run(db: Session, run_id: int, now: datetime) -> None:
    """Write down that a run ended, for whichever of its ends this is."""
    run = db.get_one(Run, run_id, populate_existing=True)
    took = now - run.started_at if run.started_at else None
    details = {"source": run.source, "tasks": tasks.counts(db, run_id), "error": run.last_error}
    record = {
        "timestamp": now, "kind": "run", "subject_id": str(run_id), "domain": run.source, "url": "",
        "status": run.status, "cause": None, "details": details,
        "duration_ms": round(took.total_seconds() * 1000) if took else None,
    }  # fmt: skip
    db.connection().execute(_RECORD, record)
