"""What there is, how it is doing, and what a person should look at."""

from __future__ import annotations

from attrs import frozen
from fastapi import APIRouter, Request, Response

from crawler.views import archive, operations
from crawler.views.archive import ArchiveStats
from crawler.views.operations import Operations
from crawler.web.answering import page, shown
from crawler.web.site import Reading

router = APIRouter()


@frozen(kw_only=True)
class Overview:
    """The whole at a glance."""

    stats: ArchiveStats
    operations: Operations


@page(router, "/")
def overview(request: Request, db: Reading) -> Response:
    """The first page."""
    return shown(request, "overview.html", overview_of(db))


@page(router, "/index", "json")
def index(request: Request, db: Reading) -> Response:
    """The same, as a document."""
    return overview(request, db)


def overview_of(db: Reading) -> Overview:
    """What the overview says; the workshop's says the same."""
    return Overview(stats=archive.stats(db), operations=operations.operations(db))
