"""Exceptions: what in a run is worth a person's look, and whether somebody has looked.

To show one more column takes the column in `crawler/db/models/runs.py`, a migration, and a field of the same
name here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import select

from crawler.db.models import CrawlException
from crawler.views.documents import documents
from crawler.views.paging import ALL, Newest, of_url, page

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.views.paging import Wanted

NEWEST = Newest(
    table=CrawlException,
    by=(CrawlException.id,),
    time=CrawlException.last_at,
    domain=of_url(CrawlException.url),
)


@frozen(kw_only=True)
class ExceptionDocument:
    """Something in a run, however often it came."""

    id: int
    run_id: int
    stage: str
    url: str
    message: str
    times: int
    context: dict[str, Any]
    created_at: datetime
    last_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None
    resolution: str | None


def newest(
    db: Session,
    wanted: Wanted = ALL,
    *,
    run_id: int | None = None,
    stage: str | None = None,
    open_only: bool = True,
) -> list[ExceptionDocument]:
    """The newest first, of a run or a stage or of all; those that are resolved only where asked for."""
    query = select(CrawlException)
    query = query.where(CrawlException.run_id == run_id) if run_id is not None else query
    query = query.where(CrawlException.stage == stage) if stage else query
    query = query.where(CrawlException.resolved_at.is_(None)) if open_only else query
    cut = page(db, query, NEWEST, wanted)
    return [document for _, document in documents(db, cut, ExceptionDocument)]
