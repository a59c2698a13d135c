"""Search: words, phrases, expressions, URLs; the whole question stands in the address."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from crawler.archive.facets import Facets
from crawler.archive.query import imbalance, is_url
from crawler.archive.search import SORTS, VIEWS, SearchOrder
from crawler.views import archive
from crawler.views import search as views
from crawler.views.paging import numbered
from crawler.web.answering import Rows, page, shown
from crawler.web.api.search import MAX_QUERY_CHARS, counted
from crawler.web.parameters import address_of, chips, day_of, number_of, pager
from crawler.web.site import Reading, SiteHere

router = APIRouter()
PAGE_SIZE = 20
COLUMNS = ("id", "url", "captured_at", "title", "source", "status", "language", "snippet")
NAMES = ("q", "source", "from", "to", "view", "sort", "all")
LABELS = {
    "q": "“{}”", "from": "from {}", "to": "to {}", "source": "site {}", "view": "by {}", "all": "errors too",
}  # fmt: skip
Field = Annotated[str, Query(max_length=4096)]


@page(router, "/search", "json", "csv")
def search(
    request: Request,
    db: Reading,
    site: SiteHere,
    *,
    q: Field = "",
    source: Field = "",
    since: Annotated[str, Query(alias="from", max_length=40)] = "",
    until: Annotated[str, Query(alias="to", max_length=40)] = "",
    view: Field = "",
    sort: Field = "",
    with_all: Annotated[str, Query(alias="all", max_length=10)] = "",
    number: Annotated[str, Query(alias="page", max_length=20)] = "1",
) -> Response:
    """What was found; what cannot be understood is told beside the field, and left out."""
    given = dict(zip(NAMES, (q, source, since, until, view, sort, with_all), strict=True))
    asked = {name: value.strip() for name, value in given.items() if value.strip()}
    order, remarks = _understood(asked, number)
    found = counted(site, db, order, views.with_facets)
    return shown(
        request, "search.html", found, _rows(found), order=order, asked={**dict.fromkeys(NAMES, ""), **asked},
        remarks=remarks, sources=archive.names(db), chips=chips("/search", asked, LABELS),
        **pager(
            "/search", asked, numbered(order.page, PAGE_SIZE), listed=len(found.results), total=found.total
        ),
        api=f"/api/search?{_api_query(asked)}", narrowings=_narrowings(asked, order, found.facets),
    )  # fmt: skip


def _understood(asked: dict[str, str], number: str) -> tuple[SearchOrder, list[str]]:
    remarks: list[str] = []
    text = asked.get("q", "")
    if len(text) > MAX_QUERY_CHARS and not is_url(text):
        remarks.append(f"Only the first {MAX_QUERY_CHARS} characters were looked for.")
    if problem := imbalance(text):
        remarks.append(f"In the search {problem}; its words alone were looked for.")
    since, until = day_of(asked.get("from", ""), remarks), day_of(asked.get("to", ""), remarks)
    if since and until and since > until:
        remarks.append("The first day is after the last one; both were left out.")
        since = until = None
    view, sort = asked.get("view", ""), asked.get("sort", "")
    order = SearchOrder(
        text, asked.get("source"), since, until, view if view in VIEWS else VIEWS[0],
        sort if sort in SORTS else None, "all" in asked, number_of(number), PAGE_SIZE,
    )  # fmt: skip
    return order, remarks


def _rows(found: object) -> Rows:
    hits = getattr(found, "results", [])
    return Rows(
        COLUMNS,
        [
            (hit.id, hit.original_url, hit.capture_timestamp, hit.title, hit.source_code, hit.status_code,
             hit.language, hit.snippet)
            for hit in hits
        ],
    )  # fmt: skip


def _narrowings(
    asked: dict[str, str], order: SearchOrder, facets: Facets | None
) -> list[tuple[str, list[tuple[str, int, str]]]]:
    """By what the hits can be narrowed down: each part with its count, and the address that asks for it.

    A page's newest capture of a year is another one than its newest, so of pages years are not counted.
    """
    if facets is None:
        return []
    by_site = [
        (each.label, each.count, address_of("/search", {**asked, "source": each.value}, 1))
        for each in facets.sources
    ]
    by_year = [
        (each.label, each.count, address_of("/search", {**asked, **_days_of(each.value)}, 1))
        for each in facets.years
    ]
    parts = [("Sites", by_site)]
    if order.view == VIEWS[0] and not (order.since or order.until):
        parts.append(("Years", by_year))
    return [(name, some) for name, some in parts if len(some) > 1]


def _days_of(year: str) -> dict[str, str]:
    return {"from": f"{year:0>4}-01-01", "to": f"{year:0>4}-12-31"}


def _api_query(asked: dict[str, str]) -> str:
    fields = {name: value for name, value in asked.items() if name != "all"}
    return urlencode({**fields, **({"includeNon2xx": "true"} if "all" in asked else {})})
