"""What is done on a page from its address to its evidence: wait, clear the view, scroll, look."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import define, field
from playwright.async_api import Error
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import HtmlResponse, Response

from crawler.crawl.answers import OK, SessionStoppedError
from crawler.crawl.rendered import Rendered, remember
from crawler.rendering import waiting
from crawler.rendering.dismissing import Dismisser, answer_vendors
from crawler.rendering.failures import NoPageError, Transient, why_transient
from crawler.rendering.page_scripts import script
from crawler.rendering.pictures import is_blank
from crawler.rendering.waiting import Limits, Look, Place

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Page
    from playwright.async_api import Response as PageResponse
    from scrapy import Request

    from crawler.config import Settings
    from crawler.rendering.traffic import Traffic
    from crawler.rendering.viewports import Viewport
    from crawler.sessions.visit import Visit

    Act = Callable[[], Awaitable[None]]

NAVIGATION_MS = 30_000  # an attempt (SPEC F146)
SCREENSHOT_MS = 30_000
MAX_CHARS = 32 * 1024 * 1024  # of a page's HTML; no plain page may be larger either
EXTRACTIONS = 2  # tries to take a page's evidence (SPEC F149)
FOUND = 302
_ENCODINGS = re.compile(
    r"utf-(?:8|16[bl]e)|windows-\d{3,4}|iso-8859-\d{1,2}|shift_jis|euc-(?:jp|kr)|iso-2022-jp|gbk|gb18030|big5"
    r"|koi8-[ru]|macintosh|ibm866",
    re.ASCII | re.IGNORECASE,
)


class LedAwayError(Exception):
    """The page goes somewhere else: where to, is for Scrapy to follow."""


@define(eq=False)
class Sight:
    """One page that is being looked at; a clock and a window for `waiting`."""

    page: Page
    traffic: Traffic
    settings: Settings
    visit: Visit | None
    viewport: Viewport
    doubts: list[str] = field(factory=list)
    popups: Dismisser = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.popups = Dismisser(self.page, self, self.settings.render_popup_settle_ms / 1000, self.note)

    def note(self, level: str, event_type: str, event: str, **details: Any) -> None:
        """Write a line of the session's log."""
        if self.visit is not None:
            getattr(self.visit.journal, level)(
                event_type, event, url=self.traffic.url, viewport=self.viewport.name, **details
            )

    # ── a clock ──

    def now(self) -> float:
        """Seconds, from whenever."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Come back later, unless the session has ended or the page is gone."""
        self.require()
        await asyncio.sleep(seconds)
        self.require()

    def require(self) -> None:
        """Go on only while there is something to look at, and somebody who wants it."""
        if self.visit is not None and self.visit.stopped:
            raise SessionStoppedError(f"session {self.visit.id} has ended")
        if self.traffic.is_over:
            raise DownloadCancelledError(f"{self.traffic.url} brought more than a page may")
        if self.traffic.document.led_to is not None:
            raise LedAwayError(self.traffic.document.led_to)

    # ── a window ──

    async def look(self) -> Look:
        """What the page is like."""
        try:
            is_loaded, *shape = await self.page.evaluate(script("look"))
        except Error as error:
            if why_transient(error) in {None, Transient.TARGET_CLOSED}:
                raise
            is_loaded, shape = False, []  # between two documents
        traffic = self.traffic
        return Look(is_loaded, traffic.under_way, 2 * traffic.begun - traffic.under_way, tuple(shape))

    async def down(self, share: float) -> Place:
        """Move the window down by a share of its height."""
        return Place(*await self.page.evaluate(script("scroll"), share))

    async def top(self) -> None:
        """Move it back to the top."""
        await self.page.evaluate(script("scroll"), None)


async def seen(request: Request, sight: Sight, act: Act | None = None) -> Response:
    """Go to a page, and give back what it came to be; the request carries its evidence.

    `act` does on a page that is ready what the request itself asks for.
    """
    try:
        return await _seen(request, sight, act)
    except LedAwayError as led:
        return Response(request.url, FOUND, {"Location": str(led)}, request=request)
    except Error:
        sight.require()  # what it was closed for says more
        raise


async def _seen(request: Request, sight: Sight, act: Act | None) -> Response:
    begun = time.monotonic()
    await answer_vendors(sight.page.context, request.url)
    answer = await _gone_to(request.url, sight)
    request.meta["download_latency"] = time.monotonic() - begun
    handed_out = await _handed_out(answer, sight)
    if answer.status != OK or not _is_html(answer):
        return _as_sent(request, answer, handed_out)
    await _settled(sight)
    if act is not None:
        await act()
        await waiting.until_quiet(sight.look, Limits.within(sight.settings.render_settle_ms), sight)
    found = await _evidence(sight)
    shot = await _photographed(sight, found["height"])
    body, charset = _encoded(found["html"], found["charset"])
    sent = sight.traffic.document.body  # of the last one, where the page has loaded itself again
    took = {"render_ms": round(1000 * (time.monotonic() - begun)), "requests": sight.traffic.begun}
    rendered = Rendered(
        viewport=sight.viewport.name, text=found["text"].encode("utf-8", "replace"), screenshot=shot,
        sent=(handed_out if sent is None else sent) or None, sent_type=answer.headers.get("content-type", ""),
        sent_charset="utf-8" if sent is None else found["charset"].lower(),
        timings={name: value for name, value in (found["timings"] | took).items() if value is not None},
        doubts=tuple(sight.doubts),
    )  # fmt: skip
    remember(request, rendered)
    headers = _without_coding(answer.headers, f"text/html; charset={charset}")
    return HtmlResponse(
        request.url, headers=headers, body=body, encoding=charset, request=request, flags=["rendered"]
    )


async def _gone_to(url: str, sight: Sight) -> PageResponse:
    """The document that stands at an address."""
    try:
        answer = await sight.page.goto(url, wait_until="domcontentloaded", timeout=NAVIGATION_MS)
    except Error as error:
        sight.require()
        if sight.traffic.is_download or "Download is starting" in error.message:
            raise NoPageError(f"{url} is a file to be kept") from None
        raise
    sight.require()
    if answer is None:
        raise NoPageError(f"{url} gave no document")
    return answer


async def _settled(sight: Sight) -> None:
    """Wait until the page is ready, go through it once, and let it settle at its top."""
    settings = sight.settings
    missing = await waiting.until_quiet(sight.look, Limits.ready(settings), sight)
    if missing:
        sight.note("warn", "timeout", "render.not_ready", still=",".join(missing))
    popups = sight.popups
    await popups.clear()
    await waiting.scroll_through(sight, waiting.Scroll.of(settings), sight)
    await popups.clear()
    await popups.hide_overlays()
    await waiting.until_quiet(sight.look, Limits.within(settings.render_settle_ms), sight)


async def _evidence(sight: Sight) -> dict[str, Any]:
    """What stands on the page; taken once more after an error that passes (SPEC F149)."""
    for attempt in range(1, EXTRACTIONS + 1):
        try:
            found: dict[str, Any] = await sight.page.evaluate(script("evidence"), MAX_CHARS)
        except Error as error:
            reason = why_transient(error)
            if reason in {None, Transient.TARGET_CLOSED} or attempt == EXTRACTIONS:
                raise
            sight.note("info", "retry", "extraction.retry", reason=reason, attempt=attempt)
            await waiting.until_quiet(sight.look, Limits.within(sight.settings.render_settle_ms), sight)
            await sight.popups.clear()
            await sight.popups.hide_overlays()
        else:
            if "html" not in found:
                raise DownloadCancelledError(f"{sight.traffic.url} grew to {found['size']} characters")
            sight.require()
            return found
    raise AssertionError("unreachable")


async def _photographed(sight: Sight, height: int) -> bytes | None:
    """A picture of the whole page, within bounds; its failure is a doubt about the page, and no more."""
    most, viewport = sight.settings.render_screenshot_max_px, sight.viewport
    clip: Any = None if height <= most else {"x": 0, "y": 0, "width": viewport.width, "height": most}
    try:
        png: bytes = await sight.page.screenshot(
            type="png", full_page=True, clip=clip, animations="disabled", caret="hide", scale="css",
            timeout=SCREENSHOT_MS,
        )  # fmt: skip
    except Error as error:
        sight.note("warn", "error", "screenshot.failed", error=str(error).partition("\n")[0])
        sight.doubts.append("screenshot_failed")
        return None
    if is_blank(png):
        sight.doubts.append("screenshot_blank")
    return png


# ── answers, as Scrapy has them ──


def _is_html(answer: PageResponse) -> bool:
    kind = answer.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    return kind in {"", "text/html", "application/xhtml+xml"}


async def _handed_out(answer: PageResponse, sight: Sight) -> bytes:
    """The document as its server sent it; else as the browser hands it out: its text in UTF-8, or nothing."""
    if sight.traffic.document.body is not None:
        return sight.traffic.document.body
    try:
        return await answer.body()
    except Error:
        return b""


def _as_sent(request: Request, answer: PageResponse, body: bytes) -> Response:
    kind = answer.headers.get("content-type", "")
    headers = _without_coding(answer.headers, kind)
    if _is_html(answer):
        return HtmlResponse(request.url, answer.status, headers, body, request=request, encoding="utf-8")
    return Response(request.url, answer.status, headers, body, request=request)


def _without_coding(headers: dict[str, str], content_type: str) -> dict[str, str]:
    """An answer's headers, which do not say of its body what is no longer so."""
    kept = {
        name: value for name, value in headers.items() if name not in {"content-encoding", "content-length"}
    }
    return {**kept, "content-type": content_type}


def _encoded(text: str, charset: str) -> tuple[bytes, str]:
    """A text in its page's own encoding, which its markup names; in UTF-8 where that does not hold it.

    A script of the page may have had its say in the name: only what browsers know is one.
    """
    if _ENCODINGS.fullmatch(charset):
        with suppress(LookupError, UnicodeEncodeError):
            return text.encode(charset), charset
    return text.encode("utf-8", "replace"), "utf-8"
