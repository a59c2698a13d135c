"""Archived pages below `/web/`: in their frame, by themselves, and all captures of a URL (RFC 7089).

What is shown of a capture can do nothing, and says so in its own headers. Where `REPLAY_BASE_URL` names an
origin, it is shown there and nowhere else.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse

from crawler.archive import listings
from crawler.archive.asked import (
    FRAMED,
    PREFIX,
    REWRITTEN,
    Asked,
    Kind,
    accepted_time,
    address,
    asked,
    http_date,
    memento_links,
    timemap_address,
    timestamp_of,
)
from crawler.archive.cdx import DEFAULT_LIMIT, MATCH_TYPES, MAX_LIMIT, SORTS, CdxOrder, cdx
from crawler.archive.lookup import all_of, around, span_of
from crawler.archive.missing import Missing, missing_of
from crawler.archive.replay import (
    CaptureDamagedError,
    CaptureGoneError,
    NotCapturedError,
    PurgedError,
    Replay,
)
from crawler.archive.showable import AS_PAGE, AS_TEXT, headers_of
from crawler.errors import CrawlerError, NotFoundError
from crawler.views import replay as views
from crawler.web import errors
from crawler.web.answers import JsonAnswer
from crawler.web.rendering import environment, render_with_urls
from crawler.web.site import Site, SiteHere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawler.archive.replay import Answer

router = APIRouter(tags=["replay"])
LINKS = "application/link-format"
WHOLE_BYTES = 2 * 1024 * 1024
LINES_AT_ONCE = 500
_LINES = {"cdxj": "text/x-cdxj", "json": "application/x-ndjson", "text": "text/plain; charset=utf-8"}
Digits = Query(pattern=r"^\d{0,14}$")


@router.get("/web/cdx", response_class=Response)
def cdx_server(
    request: Request,
    site: SiteHere,
    *,
    url: Annotated[str, Query(min_length=1, max_length=8_192)],
    match_type: Annotated[str, Query(alias="matchType", pattern=f"^({'|'.join(MATCH_TYPES)})$")] = "exact",
    since: Annotated[str, Digits, Query(alias="from")] = "",
    until: Annotated[str, Digits, Query(alias="to")] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT,
    sort: Annotated[str, Query(pattern=f"^({'|'.join(SORTS)})$")] = "default",
    closest: Annotated[str, Digits] = "",
    filters: Annotated[list[str] | None, Query(alias="filter")] = None,
    fields: Annotated[str, Query(max_length=200)] = "",
    output: Annotated[str, Query(pattern=f"^({'|'.join(listings.OUTPUTS)})$")] = "text",
    resume: Annotated[str, Query(alias="resumeKey", max_length=8_192)] = "",
) -> Response:
    """Captures as lines, as pywb's CDX server gives them; `X-Resume-Key` says where the next page begins."""
    order = CdxOrder(
        url, match_type, since, until, limit, sort, closest, listings.filters_of(filters or ()), resume
    )
    wanted = listings.wanted_fields(fields)
    page = cdx(site.database, order)
    text = "".join(listings.line_of(each, output, wanted) for each in page.lines)
    headers: dict[str, str] = {}
    if page.next_key:
        following = request.url.include_query_params(resumeKey=page.next_key)
        headers = {
            "X-Resume-Key": page.next_key,
            "Link": f'<{following.path}?{following.query}>; rel="next"',
        }
    return Response(text, media_type=_LINES[output], headers=headers)


@router.get("/web/", include_in_schema=False)
def entry(request: Request, url: Annotated[str, Query(max_length=8_192)] = "") -> Response:
    """Ask for a URL, or lead to all captures of the one that was given."""
    if url.strip():
        return RedirectResponse(f"{PREFIX}*/{asked(url.strip()).url}", 302)
    return render_with_urls(request, "replay/entry.html")


@router.get("/web/{rest:path}", response_class=Response)
def web(request: Request, site: SiteHere, rest: str) -> Response:
    """A capture (`TIME/URL`, `TIMEmp_/URL`, `TIMEid_/URL`), all (`*/URL`), a TimeMap, or a TimeGate."""
    found = asked(_as_sent(request) or rest)
    if found.kind is Kind.CAPTURE and found.modifier != FRAMED:
        return _content(request, site, found)
    return _told(request, lambda: _PAGES[found.kind](request, site, found))


def _as_sent(request: Request) -> str:
    """What stands behind `/web/` in the address, with every character as it was sent."""
    raw: bytes = request.scope.get("raw_path") or b""
    query: bytes = request.scope["query_string"]
    path = raw.decode("utf-8", "replace").removeprefix(PREFIX)
    return path + (f"?{query.decode('utf-8', 'replace')}" if query else "")


# ── by itself ──


def _content(request: Request, site: Site, found: Asked) -> Response:
    """What is shown within the frame; where it has an origin of its own, only there."""
    origin = site.settings.replay_origin
    here = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if origin and here.lower() != origin.lower():
        return RedirectResponse(address(found.url, found.timestamp, found.modifier, origin), 302)
    try:
        answer = _replay(request, site).content(found)
        known = [("ETag", tag) for name, tag in answer.headers if name == "ETag"]
        if known and known[0][1] in request.headers.get("if-none-match", ""):
            return _with(answer.headers, Response(status_code=304))
        return _with(answer.headers, _body_of(answer))
    except CrawlerError as error:
        return _note(request, error)


def _body_of(answer: Answer) -> Response:
    """Whole, unless it is large: each piece of a stream is another turn of the loop."""
    pieces = iter(answer.body)
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > WHOLE_BYTES:
            return StreamingResponse(chain(held, pieces), answer.status)
    return Response(b"".join(held), answer.status)


def _in_pieces(lines: Iterable[str]) -> Iterator[str]:
    """Lines, the first ones soon and then many at once."""
    held: list[str] = []
    most = 10
    for line in lines:
        held.append(line)
        if len(held) >= most:
            yield "".join(held)
            held, most = [], LINES_AT_ONCE
    yield "".join(held)


def _with(headers: list[tuple[str, str]], response: Response) -> Response:
    for name, value in headers:
        response.headers[name] = value
    return response


def _note(request: Request, error: CrawlerError) -> Response:
    """Why a part of a page is not there; told by what can do as little as that part."""
    errors.note_failure(request, error)
    error = errors.public(request, error)
    beside = [("X-Vitrine-Code", error.code), ("Cross-Origin-Resource-Policy", "cross-origin")]
    if errors.wants_page(request):
        text = environment().get_template("replay/note.html").render(error=error)
        return _with([*headers_of(AS_PAGE), *beside], Response(text, error.http_status))
    answer = JsonAnswer(errors.error_document(error), error.http_status)
    kept = [pair for pair in headers_of(AS_TEXT) if pair[0] != "Content-Type"]
    return _with([*kept, *beside], answer)


def _replay(request: Request, site: Site) -> Replay:
    return Replay(site.database, site.blobs, pages=_pages_origin(request, site))


def _pages_origin(request: Request, site: Site) -> str:
    """Where frames are: here, unless content has an origin of its own."""
    return site.settings.pages_origin or str(request.base_url).rstrip("/")


# ── what stands around captures ──


def _told(request: Request, page: Callable[[], Response]) -> Response:
    """A page, or why it is not there, with what there is beside it."""
    try:
        return page()
    except (NotCapturedError, CaptureGoneError, CaptureDamagedError, PurgedError) as error:
        if not errors.wants_page(request):
            raise
        stone = error.stone if isinstance(error, CaptureGoneError) else None
        shown = {"error": error, "url": error.url, "stone": stone, "near_by": views.places(error.near_by)}
        return render_with_urls(request, "replay/absent.html", status_code=error.http_status, **shown)


def _frame(request: Request, site: Site, found: Asked) -> Response:
    """A capture in its frame: which one it is, what is missing, what came before and after."""
    replay = _replay(request, site)
    chosen = replay.choose(found.url, found.at)
    capture = chosen.capture
    if capture.is_redirect and (location := replay.leads_to(capture, FRAMED)):
        return RedirectResponse(location, 302)
    timestamp = timestamp_of(capture.captured_at)
    inside = Asked(Kind.CAPTURE, capture.url, timestamp, REWRITTEN)
    answer = replay.content(inside)
    with site.database.read() as db:
        frame = views.frame(db, chosen, found.at)
        links = memento_links(capture.url, _pages_origin(request, site), capture.captured_at, frame.around)
    missing = missing_of(replay, answer.shown, timestamp) if answer.shown else Missing()
    source = address(capture.url, timestamp, REWRITTEN, site.settings.replay_origin)
    page = render_with_urls(
        request, "replay/frame.html", frame=frame, source=source, missing=missing, shown=answer.shown,
        is_shown=("Content-Disposition", "attachment") not in answer.headers,
    )  # fmt: skip
    return _with([("Memento-Datetime", http_date(capture.captured_at)), ("Link", links)], page)


def _timegate(request: Request, site: Site, found: Asked) -> Response:
    """Lead to the capture that is nearest to the time that a client accepts; else to the newest."""
    at = accepted_time(request.headers.get("accept-datetime"))
    capture = _replay(request, site).choose(found.url, at).capture
    with site.database.read() as db:
        links = memento_links(
            capture.url, _pages_origin(request, site), capture.captured_at, around(db, capture)
        )
    location = address(capture.url, timestamp_of(capture.captured_at))
    headers = {"Vary": "accept-datetime", "Link": links, "Cache-Control": "no-cache"}
    return RedirectResponse(location, 302, headers)


def _timemap(request: Request, site: Site, found: Asked) -> Response:
    """All captures of a URL, a page of rows at a time."""
    with site.database.read() as db:
        span = span_of(db, found.url)
    if span is None:
        raise _absent(request, site, found)
    captures = all_of(site.database, found.url)
    if found.form == "link":
        origin = _pages_origin(request, site)
        return StreamingResponse(
            _in_pieces(listings.link_timemap(found.url, origin, span, captures)), media_type=LINKS
        )
    return StreamingResponse(
        _in_pieces(listings.lines_timemap(captures, found.form)), media_type=_LINES[found.form]
    )


def _absent(request: Request, site: Site, found: Asked) -> NotFoundError:
    """Why there is no capture of a URL."""
    _replay(request, site).choose(found.url, None)  # which says so
    return NotFoundError(f"there is no capture of {found.url}")


def _calendar(request: Request, site: Site, found: Asked) -> Response:
    """All captures of a URL by their days, a year at a time."""
    year = int(found.timestamp[:4]) if len(found.timestamp) >= 4 else None  # ruff: ignore[magic-value-comparison] - digits of a year
    with site.database.read() as db:
        calendar = views.calendar(db, found.url, year)
    if calendar is None:
        raise _absent(request, site, found)
    more: dict[str, Any] = {"timemap": timemap_address(found.url)}
    return render_with_urls(request, "replay/calendar.html", calendar=calendar, url=found.url, **more)


_PAGES: dict[Kind, Callable[[Request, Site, Asked], Response]] = {
    Kind.CAPTURE: _frame,
    Kind.TIMEGATE: _timegate,
    Kind.TIMEMAP: _timemap,
    Kind.CALENDAR: _calendar,
}


class ContentOnly:
    """Keeps the origin of archived pages for them alone: nothing else is served there."""

    def __init__(self, app: Any, origin: str) -> None:
        self._app = app
        self._origin = origin.lower()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request for content pass, and answer none for anything else there."""
        if scope["type"] == "http" and self._origin:
            request = Request(scope)
            here = f"{request.url.scheme}://{request.headers.get('host', '')}".lower()
            if here == self._origin and not _is_content(request):
                missing = NotFoundError("there is nothing here but archived pages")
                answer = _note(request, missing)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _is_content(request: Request) -> bool:
    if not request.scope["path"].startswith(PREFIX):
        return False
    try:
        found = asked(_as_sent(request))
    except CrawlerError:
        return False
    return found.kind is Kind.CAPTURE and found.modifier != FRAMED
