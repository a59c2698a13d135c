"""The sites of which something was captured, and the pages of one."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from attrs import frozen
from fastapi import APIRouter, Query, Request, Response

from crawler.archive.search import SearchOrder
from crawler.errors import NotFoundError
from crawler.views import archive, search
from crawler.views.archive import SourceSummary
from crawler.views.paging import numbered
from crawler.views.search import FoundSnapshot
from crawler.web.answering import Rows, page, shown
from crawler.web.parameters import number_of, pager
from crawler.web.site import Reading

router = APIRouter()
PAGE_SIZE = 50
COLUMNS = ("source", "name", "snapshots", "first", "last")


@frozen(kw_only=True)
class SiteDocument:
    """A site, and the newest captures of its pages."""

    source: SourceSummary
    pages: list[FoundSnapshot]
    pages_total: int


@page(router, "/sites", "json", "csv")
def sites(request: Request, db: Reading) -> Response:
    """All of them."""
    found = archive.sources(db)
    rows = [(s.source_code, s.source_name, s.record_count, s.first_capture, s.last_capture) for s in found]
    return shown(request, "sites.html", found, Rows(COLUMNS, rows))


@page(router, "/sites/{code}", "json")
def site(
    request: Request, db: Reading, code: str, number: Annotated[str, Query(alias="page", max_length=20)] = "1"
) -> Response:
    """One of them, page by page."""
    summary = next(iter(archive.sources(db, code)), None)
    if summary is None:
        raise NotFoundError("nothing of that site was captured", hint="/sites has all that there are")
    wanted = numbered(number_of(number), PAGE_SIZE)
    order = SearchOrder(
        source=summary.source_code,
        view="pages",
        sort="newest",
        with_non_2xx=True,
        page=wanted.number,
        page_size=PAGE_SIZE,
    )
    found = search.results(db, order)
    document = SiteDocument(source=summary, pages=found.results, pages_total=found.total)
    return shown(
        request,
        "site.html",
        document,
        **pager(f"/sites/{quote(code)}", {}, wanted, listed=len(found.results), total=found.total),
    )
