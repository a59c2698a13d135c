"""What a page sends and loads: counted, and bounded."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from attrs import define, field, frozen
from playwright.async_api import Error

from crawler import logs
from crawler.rendering.documents import MainDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from playwright.async_api import Page, Request, Response

    from crawler.config import Settings

log = logs.get_logger(__name__)
MEGABYTE = 1024 * 1024
SETTLE_SECONDS = 10.0
_STREAMS = {"eventsource", "websocket"}  # open for as long as the page is
# Sizes are all that is asked; without this the page's process keeps every body once more for whoever may ask.
_NO_BODIES = {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}


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
    broke_off: Callable[[str], bool] = lambda _url: False  # whether an answer is known not to have come whole
    document: MainDocument = field(init=False)
    answer: Response | None = None  # the document's
    begun: int = 0
    blocked: int = 0
    received: int = 0  # bytes of the document and what it loaded, unpacked
    is_download: bool = False
    answers: list[Response] = field(factory=list)  # to whatever was asked
    _under_way: set[Request] = field(factory=set)
    _tasks: set[asyncio.Task[None]] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        self.document = MainDocument(self.url, self.bounds.bytes, self.broke_off)

    @property
    def under_way(self) -> int:
        """How many requests are not answered yet."""
        return len(self._under_way)

    @property
    def is_over(self) -> bool:
        """Whether the page has brought more than it may."""
        return self.received > self.bounds.bytes or self.document.is_too_large

    async def watch(self, page: Page) -> None:
        """Have the page's requests come by here, from its first on."""
        page.on("request", self._began)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.on("response", self._answered)
        page.on("download", lambda _: setattr(self, "is_download", True))
        page.on("dialog", lambda dialog: self._spawn(dialog.dismiss()))
        cdp = await self.document.watch(page, self._spawn)
        cdp.on("Network.dataReceived", lambda event: self._got(page, event))
        await cdp.send("Network.enable", _NO_BODIES)

    def may_send(self, request: Request) -> bool:
        """Whether one of the page's requests goes out."""
        is_media = self.bounds.blocks_media and request.resource_type == "media"
        is_allowed = self.begun <= self.bounds.requests and not is_media and not _is_ahead(request)
        self.blocked += not is_allowed
        return is_allowed

    async def settle(self) -> None:
        """Wait a little for what was begun here; what a dead browser never answers is left."""
        if self._tasks:
            _, unanswered = await asyncio.wait(self._tasks, timeout=SETTLE_SECONDS)
            for task in unanswered:
                task.cancel()

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
            self.answer, self.document.is_there = response, True

    def _got(self, page: Page, event: dict[str, Any]) -> None:
        was_over, self.received = self.is_over, self.received + event.get("dataLength", 0)
        if self.is_over and not was_over:
            self._spawn(page.close())

    def _spawn(self, work: Any) -> None:
        async def quietly() -> None:
            try:
                await work
            except Error as error:  # the page is gone, and with it the question
                log.debug("traffic.unanswered", url=self.url, error=error.message.partition("\n")[0])
            except Exception:
                log.exception("traffic.failed", url=self.url)

        task = asyncio.ensure_future(quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@define(eq=False)
class Watched:
    """The traffic of each page that is being rendered; of one that was, nothing is kept."""

    _by_page: dict[Page, Traffic] = field(factory=dict)

    @contextmanager
    def during(self, page: Page, traffic: Traffic) -> Generator[None]:
        """Have a page's requests decided by its traffic for as long as the block lasts."""
        self._by_page[page] = traffic
        try:
            yield
        finally:
            del self._by_page[page]

    def is_refused(self, request: Request) -> bool:
        """Whether a request is not to go out; those of pages that nobody looks at never do."""
        try:
            traffic = self._by_page.get(request.frame.page)
        except Error:
            return True  # of a frame that is not there yet, or no more
        return traffic is None or not traffic.may_send(request)


def _is_ahead(request: Request) -> bool:
    """Whether the page fetches what nobody has asked for yet."""
    return "prefetch" in (request.headers.get("sec-purpose") or request.headers.get("purpose") or "")
