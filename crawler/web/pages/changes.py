"""What changed: the feed by days, and two captures of a page side by side."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from crawler.archive.asked import capture_date
from crawler.errors import NotFoundError
from crawler.views import archive
from crawler.views import changes as views
from crawler.views.paging import numbered
from crawler.web import feeds
from crawler.web.answering import Rows, page, shown
from crawler.web.parameters import Id, chips, day_of, number_of, pager
from crawler.web.site import Reading, SiteHere

if TYPE_CHECKING:
    from collections.abc import Sequence

router = APIRouter()
PAGE_SIZE = 50
MAX_CHOICES = 200
LABELS = {"source": "site {}", "from": "from {}", "to": "to {}", "all": "unchanged ones too"}
COLUMNS = (
    "change_id", "to_capture_timestamp", "to_date_precision", "source_code", "change_type", "summary",
    "normalized_url_group", "from_snapshot_id", "to_snapshot_id", "added_lines", "removed_lines",
    "change_ratio",
)  # fmt: skip
Field = Annotated[str, Query(max_length=200)]


@page(router, "/changes", "json", "csv")
def changes(
    request: Request,
    db: Reading,
    site: SiteHere,
    *,
    source: Field = "",
    since: Annotated[str, Query(alias="from", max_length=40)] = "",
    until: Annotated[str, Query(alias="to", max_length=40)] = "",
    with_all: Annotated[str, Query(alias="all", max_length=10)] = "",
    number: Annotated[str, Query(alias="page", max_length=20)] = "1",
) -> Response:
    """Changes, the newest first; what cannot be understood is told, and left out."""
    given = {"source": source, "from": since, "to": until, "all": with_all}
    asked = {name: value.strip() for name, value in given.items() if value.strip()}
    remarks: list[str] = []
    order = views.FeedOrder(
        source=asked.get("source"), latest=False, with_unchanged="all" in asked,
        since=day_of(asked.get("from", ""), remarks), until=day_of(asked.get("to", ""), remarks),
        wanted=numbered(number_of(number), PAGE_SIZE),
    )  # fmt: skip
    try:
        found = views.feed(db, site.settings, order)
    except NotFoundError:
        remarks.append("There is no such site.")
        found = views.Feed(enabled=True, total=0, page=1, page_size=PAGE_SIZE, results=[])
    rows = Rows(COLUMNS, [[getattr(each, name) for name in COLUMNS] for each in found.results])
    return shown(
        request, "changes.html", found, rows, days=_by_days(found.results), remarks=remarks,
        asked={**dict.fromkeys(given, ""), **asked}, sources=archive.names(db),
        chips=chips("/changes", asked, LABELS), path_of=feeds.path_of,
        **pager("/changes", asked, order.wanted, listed=len(found.results), total=found.total),
        query=urlencode({"source": asked["source"]}) if "source" in asked else "",
    )  # fmt: skip


def _by_days(
    found: Sequence[views.ChangeDocument],
) -> list[tuple[str, list[views.ChangeDocument]]]:
    """Return them by days, or by the month or the year if no more is known."""
    days = groupby(found, key=lambda each: capture_date(each.to_capture_timestamp, each.to_date_precision))
    return [(day, list(each)) for day, each in days]


@page(router, "/diff/{before}/{after}", "json")
def diff(request: Request, db: Reading, site: SiteHere, *, before: Id, after: Id) -> Response:
    """What differs between two captures of one page."""
    found = views.diff(db, site.settings, str(before), str(after))
    try:
        others = views.timeline(db, site.settings, str(after)).snapshots[-MAX_CHOICES:]
    except NotFoundError:  # it is in no group any more
        others = []
    return shown(
        request, "diff.html", found, lines=feeds.diff_html(found.sections),
        others=others,
    )  # fmt: skip


@router.get("/diff", include_in_schema=False)
def choose(
    before: Annotated[int, Query(alias="from", ge=1)], after: Annotated[int, Query(alias="to", ge=1)]
) -> Response:
    """Lead to the comparison of the two that were chosen."""
    return Response(status_code=303, headers={"Location": f"/diff/{before}/{after}"})
