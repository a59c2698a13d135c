"""Exceptions: what in a run is worth a person's look, and whether somebody has looked.

To show one more column takes the column in `crawler/db/models/runs.py`, a migration, and a field of the same
name here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import select, true

from crawler.db.models import CrawlException
from crawler.views.paging import Resource, having, of_url

if TYPE_CHECKING:
    from datetime import datetime


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


EXCEPTIONS = Resource(
    table=CrawlException,
    by=(CrawlException.id,),
    time=CrawlException.last_at,
    domain=of_url(CrawlException.url),
    query=select(CrawlException),
    document=ExceptionDocument,
    filters={
        "run_id": having(CrawlException.run_id), "stage": having(CrawlException.stage),
        "open_only": lambda _, is_so: CrawlException.resolved_at.is_(None) if is_so else true(),
    },
)  # fmt: skip
