"""Snapshots for operators: with their places on the server and the holds on them."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from crawler.views import exhibit as views
from crawler.web.answering import page
from crawler.web.pages.snapshot import exhibit_page
from crawler.web.parameters import Id
from crawler.web.site import Reading, SiteHere

router = APIRouter(prefix="/admin", include_in_schema=False)


@page(router, "/snapshots/{snapshot_id}", "json")
def snapshot(request: Request, site: SiteHere, db: Reading, *, snapshot_id: Id, verify: str = "") -> Response:
    """Show everything that is known of a snapshot; with `verify` its body is read again."""
    found = views.exhibit(db, str(snapshot_id))
    return exhibit_page(request, site, found, is_checked=bool(verify))
