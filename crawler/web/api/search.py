"""The search, for programs (SPEC 79-87)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from attrs import evolve
from fastapi import APIRouter, Query

from crawler.archive.search import MAX_PAGE_SIZE, SearchOrder
from crawler.db.engine import Transaction
from crawler.views import search as views
from crawler.web.answers import shape
from crawler.web.errors import InvalidRequestError
from crawler.web.parameters import PageNumber, Since, SourceCode, Until
from crawler.web.site import Reading, Site, SiteHere

R = TypeVar("R", bound=views.SearchResults)
router = APIRouter(prefix="/api", tags=["search"])
MAX_QUERY_CHARS = 256
Text = Annotated[str | None, Query(min_length=1, max_length=MAX_QUERY_CHARS, description="Words, or a URL.")]


@router.get("/search", response_model=shape(views.SearchResults, without=("answered_by", "explain")))
def search(
    db: Reading,
    site: SiteHere,
    *,
    q: Text = None,
    source: SourceCode = None,
    sort: Literal["relevance", "newest"] | None = None,
    view: Literal["snapshots", "pages"] = "snapshots",
    with_non_2xx: Annotated[bool, Query(alias="includeNon2xx")] = False,
    with_repeats: Annotated[bool, Query(alias="includeDuplicates")] = False,
    since: Since = None,
    until: Until = None,
    page: PageNumber = 1,
    page_size: Annotated[int, Query(alias="pageSize", ge=1, le=MAX_PAGE_SIZE)] = 20,
) -> views.SearchResults:
    """Find snapshots; any text is a question, and a page past the end is empty."""
    if since and until and since > until:
        raise InvalidRequestError("Invalid date range: 'from' must be <= 'to'.")
    order = SearchOrder(
        q or "", source, since, until, view, sort, with_non_2xx, page, page_size, with_repeats=with_repeats
    )
    return counted(site, db, order, views.results)


def counted(
    site: Site, db: Transaction, order: SearchOrder, find: Callable[[Transaction, SearchOrder], R]
) -> R:
    """What a search finds, with how long it took among the metrics."""
    figures = site.figures
    order = evolve(order, fast_pages=site.settings.pages_fastpath)
    figures.searches.inc()
    try:
        with figures.search_seconds.time():
            found = find(db, order)
    except Exception:
        figures.search_errors.inc()
        raise
    figures.search_modes.labels(found.answered_by or "nothing").inc()
    return found
