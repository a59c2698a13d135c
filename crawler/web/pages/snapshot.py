"""One snapshot as an exhibit: its story, its proofs, and how long it stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from crawler.views import exhibit as views
from crawler.web.answering import page, shown
from crawler.web.parameters import Id
from crawler.web.site import Reading, Site, SiteHere

if TYPE_CHECKING:
    from crawler.views.exhibit import PublicExhibit

router = APIRouter()


@page(router, "/snapshots/{snapshot_id}", "json")
def snapshot(request: Request, site: SiteHere, db: Reading, *, snapshot_id: Id, verify: str = "") -> Response:
    """Show what everybody may read of it; with `verify` page and file are compared with their digests."""
    found = views.public_exhibit(db, str(snapshot_id))
    return exhibit_page(request, site, found, is_checked=bool(verify))


def exhibit_page(request: Request, site: Site, found: PublicExhibit, *, is_checked: bool) -> Response:
    """Return the page of an exhibit, or its document."""
    given = str(found.snapshot.id)
    checked = None
    if is_checked:
        is_stored = not site.settings.web_read_only
        checked = views.verified(site.database, site.blobs, given, is_stored=is_stored)
    found = views.as_read(site.database, site.blobs, found)
    headers = views.headers_of(site.database, given)
    return shown(request, "snapshot.html", found, headers=headers, checked=checked)
