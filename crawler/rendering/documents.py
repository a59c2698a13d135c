"""A page's document: asked for where it was wanted and nowhere else, and kept as its server sent it.

A browser hands out documents as text that it has decoded. What the server sent is taken before that, from
where the answer arrives, unpacked but otherwise to the byte, over TLS as well; then the browser has it.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import define
from playwright.async_api import Error

from crawler.urls import spelling

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import CDPSession, Page

MOST_RELOADS = 2
MOST_DIGITS = 18  # of a length that means something
PIECE_BYTES = 1024 * 1024
PAUSED = "Fetch.requestPaused"
_KINDS = ("text/html", "application/xhtml+xml")
_REDIRECTS = range(300, 400)
# What is true of a body on the wire, and not of one that was unpacked.
OF_PACKING = {"content-encoding", "content-length", "transfer-encoding"}


@define(eq=False)
class MainDocument:
    """The document that a page is, or would like to become."""

    url: str  # that was asked for
    most_bytes: int
    broke_off: Callable[[str], bool] = lambda _url: False  # whether an answer is known not to have come whole
    body: bytes | None = None  # as its server sent it; None where that could not be taken
    led_to: str | None = None  # where it wanted to go, by header or by script
    reloads: int = 0
    is_there: bool = False  # a document has come
    is_too_large: bool = False

    async def watch(self, page: Page, spawn: Any) -> CDPSession:
        """Be asked about every document of a page, before it is asked for and before it is shown."""
        cdp = await page.context.new_cdp_session(page)
        frame = (await cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        cdp.on(PAUSED, lambda event: spawn(self.judge(cdp, frame, event)))
        stages = [{"resourceType": "Document", "requestStage": stage} for stage in ("Request", "Response")]
        await cdp.send("Fetch.enable", {"patterns": stages})
        return cdp

    async def judge(self, cdp: CDPSession, main_frame: str, event: dict[str, Any]) -> None:
        """Let a document be asked for that is the one wanted; of another one only the address is taken."""
        request_id, url = event["requestId"], event["request"]["url"]
        is_main = event.get("frameId") == main_frame
        if "responseStatusCode" in event or "responseErrorReason" in event:
            if is_main and _is_taken(event):
                await self._take(cdp, event)
            else:
                await cdp.send("Fetch.continueRequest", {"requestId": request_id})
            return
        if not is_main or self._is_wanted(url, is_redirect=bool(event.get("redirectedRequestId"))):
            await cdp.send("Fetch.continueRequest", {"requestId": request_id})
            return
        self.led_to = self.led_to or url
        await cdp.send("Fetch.failRequest", {"requestId": request_id, "errorReason": "Aborted"})

    def _is_wanted(self, url: str, *, is_redirect: bool) -> bool:
        if not self.is_there:
            return not is_redirect
        self.reloads += 1
        return not is_redirect and self.reloads <= MOST_RELOADS and spelling(url) == spelling(self.url)

    async def _take(self, cdp: CDPSession, event: dict[str, Any]) -> None:
        """Keep an answer's body, and hand it on to the browser; one that is too large goes nowhere."""
        request_id = event["requestId"]
        try:
            stream = (await cdp.send("Fetch.takeResponseBodyAsStream", {"requestId": request_id}))["stream"]
        except Error:  # it has none
            await cdp.send("Fetch.continueRequest", {"requestId": request_id})
            return
        try:
            body = await self._read(cdp, stream)
        except Error:
            body, is_whole = b"", False
        else:
            is_whole = body is None or not (_is_short(event, body) or self.broke_off(event["request"]["url"]))
        if not is_whole:
            await cdp.send("Fetch.failRequest", {"requestId": request_id, "errorReason": "ConnectionClosed"})
            return
        if body is None:
            self.is_too_large = True
            await cdp.send("Fetch.failRequest", {"requestId": request_id, "errorReason": "Aborted"})
            return
        self.body = body
        headers = [each for each in event["responseHeaders"] if each["name"].lower() not in OF_PACKING]
        answer = {
            "requestId": request_id,
            "responseCode": event["responseStatusCode"],
            "responseHeaders": headers,
            "body": b64encode(body).decode("ascii"),
        }
        if phrase := event.get("responseStatusText"):
            answer["responsePhrase"] = phrase
        await cdp.send("Fetch.fulfillRequest", answer)

    async def _read(self, cdp: CDPSession, stream: str) -> bytes | None:
        """All that a stream brings; None where that is more than a page may."""
        body = bytearray()
        try:
            while len(body) <= self.most_bytes:
                piece = await cdp.send("IO.read", {"handle": stream, "size": PIECE_BYTES})
                data = piece["data"]
                body += b64decode(data) if piece.get("base64Encoded") else data.encode()
                if piece["eof"]:
                    return bytes(body)
            return None
        finally:
            with suppress(Error):
                await cdp.send("IO.close", {"handle": stream})


def _is_taken(event: dict[str, Any]) -> bool:
    """Whether an answer is a page: no redirect, no file to be kept, nothing of an unknown kind."""
    if event.get("responseStatusCode", _REDIRECTS.start) in _REDIRECTS:
        return False
    headers = _headers_of(event)
    is_kept = headers.get("content-disposition", "").lstrip().lower().startswith("attachment")
    return not is_kept and headers.get("content-type", "").lstrip().lower().startswith(_KINDS)


def _is_short(event: dict[str, Any], body: bytes) -> bool:
    """Whether an answer broke off: the browser hands out what came of it, and does not say so."""
    headers = _headers_of(event)
    if "content-encoding" in headers or "transfer-encoding" in headers:  # the length is not the body's
        return False
    length = headers.get("content-length", "")
    return length.isdecimal() and len(length) <= MOST_DIGITS and len(body) < int(length)


def _headers_of(event: dict[str, Any]) -> dict[str, str]:
    return {each["name"].lower(): each["value"] for each in event.get("responseHeaders", ())}
