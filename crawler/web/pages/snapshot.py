"""One snapshot as an exhibit: its story, its proofs, and how long it stays."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from crawler.views import exhibit as views
from crawler.web.answering import page, shown
from crawler.web.parameters import Id
from crawler.web.site import Reading, SiteHere

router = APIRouter()


@page(router, "/snapshots/{snapshot_id}", "json")
def snapshot(request: Request, site: SiteHere, db: Reading, *, snapshot_id: Id, verify: str = "") -> Response:
    """Everything that is known of it; with `verify` its body is read again."""
    given = str(snapshot_id)
    found = views.exhibit(db, given)
    checked = views.verified(site.database, site.blobs, given) if verify else None
    headers = views.headers_of(site.database, given)
    return shown(request, "snapshot.html", found, headers=headers, checked=checked)
