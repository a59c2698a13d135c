"""The first page: how much there is, and how new it is."""

from __future__ import annotations

from attrs import frozen
from fastapi import APIRouter, Request, Response

from crawler.views import archive, operations
from crawler.views.archive import ArchiveStats
from crawler.views.operations import Captures
from crawler.web.answering import page, shown
from crawler.web.site import Reading

router = APIRouter()


@frozen(kw_only=True)
class Overview:
    """The archive at a glance, for everybody."""

    stats: ArchiveStats
    captures: Captures


@page(router, "/")
def overview(request: Request, db: Reading) -> Response:
    """Show the first page; how work stands is shown in the workshop."""
    document = Overview(stats=archive.stats(db), captures=operations.captures(db))
    return shown(request, "overview.html", document)


@page(router, "/index", "json")
def index(request: Request, db: Reading) -> Response:
    """Show the same as a document."""
    return overview(request, db)
