"""One snapshot: what is known of it, and its body as it was captured (SPEC 74-77)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from crawler import logs
from crawler.errors import NotFoundError
from crawler.html.parse import as_utf8
from crawler.views import snapshots as views
from crawler.web.answers import shape
from crawler.web.parameters import Id
from crawler.web.site import Reading, SiteHere

log = logs.get_logger(__name__)
router = APIRouter(prefix="/api", tags=["snapshots"])
# An archived page is a stranger's: it runs nothing, sends nothing, and asks nobody for anything.
STRANGER = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
UNKNOWN = "Snapshot not found"


@router.get("/snapshot/{snapshot_id}", response_model=shape(views.SnapshotSummary))
def snapshot(db: Reading, snapshot_id: Id) -> views.SnapshotSummary:
    """What is known of a snapshot."""
    try:
        return views.summary(db, str(snapshot_id))
    except NotFoundError:
        raise NotFoundError(UNKNOWN) from None


@router.get("/snapshots/raw/{snapshot_id}", response_class=Response)
def raw(request: Request, site: SiteHere, snapshot_id: Id) -> Response:
    """The HTML of a snapshot as it was captured, in UTF-8; it can do nothing."""
    try:
        found = views.raw(site.database, site.blobs, str(snapshot_id))
    except views.NoBodyError as error:
        # The reason may name a path, which the log keeps.
        log.warning("http.failed", path=request.url.path, code=error.reason, error=str(error))
        message = f"the body of snapshot {snapshot_id} is not there: {error.reason}"
        raise BodyNotThereError(message, error.reason) from None
    except NotFoundError:
        raise NotFoundError(UNKNOWN) from None
    headers = {"Content-Security-Policy": STRANGER, "Cross-Origin-Resource-Policy": "same-origin"}
    return Response(
        as_utf8(found.body, found.charset), media_type="text/html; charset=utf-8", headers=headers
    )


class BodyNotThereError(NotFoundError):
    """The body is not there; the code says why."""

    code = "no_body"

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.code = reason  # type: ignore[misc]
