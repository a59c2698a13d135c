"""A capture beside the page as it is now, for who has the token: it has a site visited."""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import HTTPException

from crawler.db import lookup
from crawler.db.models import Snapshot
from crawler.retention.holds import note_action
from crawler.views import changes
from crawler.views import live as views
from crawler.web import feeds
from crawler.web.access import WHO, Change, by_header, workshop
from crawler.web.answering import shown
from crawler.web.answers import JsonAnswer, shape
from crawler.web.parameters import Id
from crawler.web.site import Reading, SiteHere

if TYPE_CHECKING:
    from crawler.views.live import LiveDiff
    from crawler.web.site import Site

AT_ONCE = 4
AGAIN_SECONDS = "5"
router = APIRouter()
_free = BoundedSemaphore(AT_ONCE)


@router.get(
    "/api/snapshots/{snapshot_id}/compare-live",
    tags=["changes"],
    dependencies=[Depends(by_header)],
    response_model=shape(views.LiveDiff),
)
def compare_live(site: SiteHere, snapshot_id: Id) -> JsonAnswer:
    """What differs between a capture and its page as it is now; the page is visited as crawls visit it."""
    found = _looked(site, snapshot_id)
    document = shape(views.LiveDiff).model_validate(found).model_dump(mode="json", by_alias=True)
    html = str(feeds.diff_html(found.sections)) if found.sections else None
    return JsonAnswer({**document, "diffHtml": html})


@router.get("/admin/snapshots/{snapshot_id}/live", include_in_schema=False, dependencies=[Depends(workshop)])
def ask_live(request: Request, db: Reading, site: SiteHere, *, snapshot_id: Id) -> Response:
    """Say what would happen, before a site is visited."""
    return shown(request, "live_ask.html", changes.side(db, site.settings, str(snapshot_id)))


@router.post("/admin/snapshots/{snapshot_id}/live", include_in_schema=False)
def compare_live_page(request: Request, site: SiteHere, _fields: Change, *, snapshot_id: Id) -> Response:
    """The same for people."""
    found = _looked(site, snapshot_id)
    return shown(request, "live.html", found, lines=feeds.diff_html(found.sections))


def _looked(site: Site, snapshot_id: int) -> LiveDiff:
    if not _free.acquire(blocking=False):
        busy = "so many pages are looked at as may be at once"
        raise HTTPException(429, busy, headers={"Retry-After": AGAIN_SECONDS})
    try:
        with site.database.write() as db:
            found = lookup.find(db, Snapshot, str(snapshot_id))
            note_action(db, "snapshot.compare_live", f"snapshot {found.id}", actor=WHO, now=db.now)
        return views.live_diff(site.database, site.settings, str(snapshot_id))
    finally:
        _free.release()
