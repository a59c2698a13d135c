"""What a page sends and loads: counted, bounded, and kept to its own document."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from attrs import define, field, frozen
from playwright.async_api import Error

from crawler.urls import spelling

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page, Request, Response

    from crawler.config import Settings

MEGABYTE = 1024 * 1024
MOST_RELOADS = 2
_STREAMS = {"eventsource", "websocket"}  # open for as long as the page is
_SESSION = "Fetch.requestPaused"


@frozen
class Bounds:
    """What a page may do."""

    requests: int
    bytes: int
    blocks_media: bool

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """As the operator wants it."""
        return cls(
            settings.render_max_requests, settings.render_max_mb * MEGABYTE, settings.render_block_media
        )


@define(eq=False, slots=False)  # Playwright sets attributes on who listens
class Traffic:
    """One page's requests."""

    bounds: Bounds
    url: str  # of the document that was asked for
    answer: Response | None = None  # the document's
    led_to: str | None = None  # where the document wanted to go, by header or by script
    begun: int = 0
    blocked: int = 0
    received: int = 0  # bytes of the document and what it loaded, unpacked
    reloads: int = 0
    is_download: bool = False
    answers: list[Response] = field(factory=list)  # to whatever was asked
    _under_way: set[Request] = field(factory=set)
    _tasks: set[asyncio.Task[None]] = field(factory=set)

    @property
    def under_way(self) -> int:
        """How many requests are not answered yet."""
        return len(self._under_way)

    @property
    def is_over(self) -> bool:
        """Whether the page has brought more than it may."""
        return self.received > self.bounds.bytes

    async def watch(self, page: Page) -> None:
        """Have the page's requests come by here, from its first on."""
        page.on("request", self._began)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.on("response", self._answered)
        page.on("download", lambda _: setattr(self, "is_download", True))
        page.on("dialog", lambda dialog: self._spawn(dialog.dismiss()))
        cdp = await page.context.new_cdp_session(page)
        frame = (await cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        cdp.on(_SESSION, lambda event: self._spawn(self._judge(cdp, frame, event)))
        cdp.on("Network.dataReceived", lambda event: self._got(page, event))
        await cdp.send("Network.enable")
        documents = {"resourceType": "Document", "requestStage": "Request"}
        await cdp.send("Fetch.enable", {"patterns": [documents]})

    def may_send(self, request: Request) -> bool:
        """Whether one of the page's requests goes out."""
        is_media = self.bounds.blocks_media and request.resource_type == "media"
        is_allowed = self.begun <= self.bounds.requests and not is_media and not _is_ahead(request)
        self.blocked += not is_allowed
        return is_allowed

    async def settle(self) -> None:
        """Wait for what was begun here."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ── the document goes where it was sent, and nowhere else: redirects are Scrapy's to follow ──

    async def _judge(self, cdp: CDPSession, main_frame: str, event: dict[str, Any]) -> None:
        """Let a document be asked for that is the one wanted; of another one only the address is taken."""
        request_id, url = event["requestId"], event["request"]["url"]
        is_main = event.get("frameId") == main_frame
        if not is_main or self._is_wanted(url, is_redirect=bool(event.get("redirectedRequestId"))):
            await cdp.send("Fetch.continueRequest", {"requestId": request_id})
            return
        self.led_to = self.led_to or url
        await cdp.send("Fetch.failRequest", {"requestId": request_id, "errorReason": "Aborted"})

    def _is_wanted(self, url: str, *, is_redirect: bool) -> bool:
        if self.answer is None:
            return not is_redirect
        self.reloads += 1
        return not is_redirect and self.reloads <= MOST_RELOADS and spelling(url) == spelling(self.url)

    # ── events ──

    def _began(self, request: Request) -> None:
        self.begun += 1
        if request.resource_type not in _STREAMS:
            self._under_way.add(request)

    def _ended(self, request: Request) -> None:
        self._under_way.discard(request)

    def _answered(self, response: Response) -> None:
        request = response.request
        self.answers.append(response)
        try:
            is_document = request.is_navigation_request() and request.frame.parent_frame is None
        except Error:
            return  # of a frame that is gone
        if is_document:
            self.answer = response

    def _got(self, page: Page, event: dict[str, Any]) -> None:
        was_over, self.received = self.is_over, self.received + event.get("dataLength", 0)
        if self.is_over and not was_over:
            self._spawn(page.close())

    def _spawn(self, work: Any) -> None:
        async def quietly() -> None:
            with suppress(Error):  # the page is gone, and with it the question
                await work

        task = asyncio.ensure_future(quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _is_ahead(request: Request) -> bool:
    """Whether the page fetches what nobody has asked for yet."""
    return "prefetch" in (request.headers.get("sec-purpose") or request.headers.get("purpose") or "")
