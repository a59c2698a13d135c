"""What changed, for programs (SPEC 92-95, 158)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from attrs import frozen
from fastapi import APIRouter, Query, Request, Response

from crawler.archive.asked import http_date, time_of, timestamp_of, url_of
from crawler.archive.changes import DIFF_VERSION
from crawler.archive.replay import Replay
from crawler.clock import utc_now
from crawler.db.models import Snapshot
from crawler.errors import CrawlerError, NotFoundError
from crawler.html.content import NORMALIZATION
from crawler.views import changes as views
from crawler.views import snapshots as snapshot_views
from crawler.views.paging import Wanted, numbered
from crawler.views.snapshots import SnapshotSummary
from crawler.web import feeds
from crawler.web.answers import JsonAnswer, shape, tagged
from crawler.web.api.snapshots import UNKNOWN
from crawler.web.errors import InvalidRequestError
from crawler.web.parameters import MAX_NUMBER, Id, PageNumber, Since, SourceCode, Until
from crawler.web.site import Reading, SiteHere

router = APIRouter(prefix="/api", tags=["changes"])


class PairError(CrawlerError):
    """Snapshot pair not available."""

    code = "snapshot_pair"
    http_status = 400


@frozen(kw_only=True)
class Compared:
    """Two captures of a page, and what differs."""

    event: views.ChangeDocument | None
    from_snapshot: views.ComparedSnapshot | None
    to_snapshot: views.ComparedSnapshot
    diff_format: str | None
    diff_html: str | None
    diff_truncated: bool
    diff_version: str
    normalization_version: str
    change_type: str
    summary: str


@frozen(kw_only=True)
class Resolved:
    """The capture that is nearest to a time, and where it is seen."""

    found: bool
    url: str
    capture_timestamp: datetime | None
    date_precision: str | None  # year, month, day or minute, where no more is known
    snapshot_id: int | None
    browse_url: str | None


@router.get("/changes", response_model=shape(views.Feed))
def changes(
    db: Reading,
    site: SiteHere,
    *,
    source: SourceCode = None,
    job: Annotated[int | None, Query(alias="jobId", ge=1, le=MAX_NUMBER)] = None,
    latest: bool | None = None,
    with_unchanged: Annotated[bool, Query(alias="includeUnchanged")] = False,
    since: Since = None,
    until: Until = None,
    page: PageNumber = 1,
    page_size: Annotated[int, Query(alias="pageSize", ge=1, le=views.MAX_PAGE_SIZE)] = 20,
) -> views.Feed:
    """Changes, the newest first; without any filter, of each source those of its newest indexed job."""
    if since and until and since > until:
        raise InvalidRequestError("Invalid date range: 'from' must be <= 'to'.")
    order = views.FeedOrder(
        source=source, job=job, latest=latest, with_unchanged=with_unchanged, since=since, until=until,
        wanted=numbered(page, page_size),
    )  # fmt: skip
    return views.feed(db, site.settings, order)


@router.get("/changes/compare", response_model=shape(Compared))
def compare(
    request: Request,
    db: Reading,
    site: SiteHere,
    *,
    to_snapshot: Annotated[int, Query(alias="toSnapshotId", ge=1, le=MAX_NUMBER)],
    from_snapshot: Annotated[int | None, Query(alias="fromSnapshotId", ge=1, le=MAX_NUMBER)] = None,
) -> Response:
    """What differs between a capture and the one before it, or any other of the same page; with an ETag."""
    return tagged(request, shape(Compared), _compared(db, site, to_snapshot, from_snapshot))


def _compared(db: Reading, site: SiteHere, to_snapshot: int, from_snapshot: int | None) -> Compared:
    if not site.settings.change_tracking_enabled:
        raise NotFoundError("Change tracking is disabled")
    event = views.event_of(db, to_snapshot)
    other = from_snapshot or (event.from_snapshot_id if event else None)
    try:
        if other is None:
            other = views.before(db, str(to_snapshot))
        if other is None:
            return _first(db, site, to_snapshot, event)
        found = views.diff(db, site.settings, str(other), str(to_snapshot))
    except NotFoundError:
        raise NotFoundError("Change event not found") from None
    except views.NotComparableError as error:
        raise PairError("Snapshot pair not available", hint=str(error)) from None
    is_shown = event is not None and event.from_snapshot_id == other
    return Compared(
        event=event if is_shown else None, from_snapshot=found.from_snapshot, to_snapshot=found.to_snapshot,
        diff_format="html" if found.sections else None,
        diff_html=str(feeds.diff_html(found.sections)) if found.sections else None,
        diff_truncated=found.is_cut, diff_version=found.diff_version, summary=found.summary,
        normalization_version=found.normalization_version, change_type=found.change_type,
    )  # fmt: skip


def _first(db: Reading, site: SiteHere, snapshot: int, event: views.ChangeDocument | None) -> Compared:
    """The first capture of a page, with which there is nothing to compare."""
    return Compared(
        event=event, from_snapshot=None, to_snapshot=views.side(db, site.settings, str(snapshot)),
        diff_format=None, diff_html=None, diff_truncated=False, diff_version=DIFF_VERSION,
        normalization_version=NORMALIZATION, change_type="new_page",
        summary="First archived capture for this page.",
    )  # fmt: skip


@router.get("/changes/rss", response_class=Response)
def rss(request: Request, db: Reading, site: SiteHere, source: SourceCode = None) -> Response:
    """The newest changes as RSS."""
    return Response(feeds.rss(_newest(db, site, source), _origin(request)), media_type="application/rss+xml")


@router.get("/changes/atom", response_class=Response)
def atom(request: Request, db: Reading, site: SiteHere, source: SourceCode = None) -> Response:
    """The newest changes as Atom."""
    text = feeds.atom(_newest(db, site, source), _origin(request), utc_now())
    return Response(text, media_type="application/atom+xml")


@router.get("/changes/feed.json")
def json_feed(request: Request, db: Reading, site: SiteHere, source: SourceCode = None) -> JsonAnswer:
    """The newest changes as JSON Feed."""
    document = feeds.json_feed(_newest(db, site, source), _origin(request))
    return JsonAnswer(document, media_type="application/feed+json")


def _newest(db: Reading, site: SiteHere, source: str | None) -> list[views.ChangeDocument]:
    order = views.FeedOrder(source=source, latest=False, wanted=Wanted(limit=views.FEED_ENTRIES))
    return views.feed(db, site.settings, order).results


def _origin(request: Request) -> str:
    return str(request.base_url).rstrip("/")


@router.get("/snapshots/{snapshot_id}/timeline", response_model=shape(views.Timeline))
def timeline(db: Reading, site: SiteHere, snapshot_id: Id) -> views.Timeline:
    """All captures of a snapshot's page, the oldest first."""
    return views.timeline(db, site.settings, str(_known(db, snapshot_id)))


@router.get("/snapshots/{snapshot_id}/latest", response_model=shape(SnapshotSummary))
def latest(
    db: Reading,
    snapshot_id: Id,
    require_html: Annotated[bool, Query(alias="requireHtml")] = True,  # ruff: ignore[boolean-default-value-positional-argument] - a query's
) -> SnapshotSummary:
    """The newest capture of a snapshot's page."""
    found = views.latest(db, str(_known(db, snapshot_id)), require_html=require_html)
    return snapshot_views.summary(db, str(found.id))


def _known(db: Reading, snapshot_id: int) -> int:
    if db.get(Snapshot, snapshot_id) is None:
        raise NotFoundError(UNKNOWN)
    return snapshot_id


@router.get("/replay/resolve", response_model=shape(Resolved))
def resolve(
    site: SiteHere,
    db: Reading,
    response: Response,
    *,
    url: Annotated[str, Query(min_length=1, max_length=8_192)],
    timestamp: Annotated[str, Query(pattern=r"^\d{14}$")],
    job: Annotated[int | None, Query(alias="jobId", ge=1, le=MAX_NUMBER)] = None,
) -> Resolved:
    """The capture of a URL that is nearest to a time; of one job's only, if it is named."""
    at, url = time_of(timestamp), url_of(url)
    if job is not None:
        found = views.nearest_of_job(db, url, at, job)
        return _resolved(site, url, found)
    try:
        capture = Replay(site.database, site.blobs).choose(url, at).capture
    except NotFoundError:
        return _resolved(site, url, None)
    response.headers["Memento-Datetime"] = http_date(capture.captured_at)
    return Resolved(
        found=True, url=capture.url, capture_timestamp=capture.captured_at,
        date_precision=capture.precision,
        snapshot_id=views.snapshot_of(db, capture.record_id),
        browse_url=views.browse_address(site.settings, capture.url, timestamp_of(capture.captured_at)),
    )  # fmt: skip


def _resolved(site: SiteHere, url: str, snapshot: Snapshot | None) -> Resolved:
    if snapshot is None:
        return Resolved(
            found=False, url=url, capture_timestamp=None, date_precision=None, snapshot_id=None,
            browse_url=None,
        )  # fmt: skip
    return Resolved(
        found=True, url=snapshot.url, capture_timestamp=snapshot.captured_at,
        date_precision=snapshot.date_precision, snapshot_id=snapshot.id,
        browse_url=views.browse_url(site.settings, snapshot),
    )  # fmt: skip
