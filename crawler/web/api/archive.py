"""What is in the archive, counted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from crawler.capture.artifact_types import SCREENSHOT
from crawler.views import archive as views
from crawler.web.answers import shape
from crawler.web.site import Reading, SiteHere

router = APIRouter(prefix="/api", tags=["archive"])
A_MINUTE = "public, max-age=60, s-maxage=300"
Code = Annotated[str, Path(min_length=1, max_length=100)]


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


@router.get(
    "/sources/{code}/editions",
    response_model=list[shape(views.SourceEdition)],  # type: ignore[misc]
)
def editions(site: SiteHere, db: Reading, response: Response, code: Code) -> list[views.SourceEdition]:
    """What each job captured of a source; 404 where there is no such source."""
    response.headers["Cache-Control"] = A_MINUTE
    return views.editions(db, site.settings, code)


@router.get("/sources/{code}/preview", response_class=Response)
def preview(site: SiteHere, db: Reading, code: Code) -> Response:
    """The newest picture of a source's pages; 404 where there is none."""
    found = views.preview(db, code)
    return Response(
        site.blobs.read(found.storage_uri), media_type=SCREENSHOT.content_type,
        headers={"Cache-Control": A_MINUTE, "ETag": f'"{found.checksum}"'},
    )  # fmt: skip
