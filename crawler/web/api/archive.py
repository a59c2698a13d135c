"""What is in the archive, counted."""

from __future__ import annotations

from fastapi import APIRouter, Response

from crawler.views import archive as views
from crawler.web.answers import shape
from crawler.web.site import Reading

router = APIRouter(prefix="/api", tags=["archive"])
A_MINUTE = "public, max-age=60, s-maxage=300"


@router.get("/stats", response_model=shape(views.ArchiveStats))
def stats(db: Reading, response: Response) -> views.ArchiveStats:
    """The size of the archive, and how old its newest capture is."""
    response.headers["Cache-Control"] = A_MINUTE
    return views.stats(db)


@router.get("/sources", response_model=list[shape(views.SourceSummary)])  # type: ignore[misc]
def sources(db: Reading, response: Response) -> list[views.SourceSummary]:
    """The sources that something was captured of."""
    response.headers["Cache-Control"] = A_MINUTE
    return views.sources(db)
