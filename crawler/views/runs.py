"""Runs: how each stands, and what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.catalogue.run_report import report_of, summary_of
from crawler.runs import rows

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


def newest(db: Session, now: datetime, *, source: str | None = None, limit: int) -> list[dict[str, Any]]:
    """The newest runs first, of one source where that is wanted."""
    return [summary_of(db, one.run, now) for one in rows.listing(db, now, source=source, limit=limit)]


def shown(db: Session, now: datetime, given: str) -> dict[str, Any]:
    """Everything that is worth telling of a run: the one with this number, or the newest of this source."""
    return report_of(db, rows.find(db, given), now)
