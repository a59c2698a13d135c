"""The browser of a crawl: scrapy-playwright's, enclosed, bounded, and started anew when it fails or is old.

It is started with the first page that is to be rendered. Each session has a context for each of its
viewports, with a door of its own in the enclosure; both are closed when the session ends, however it ends.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from attrs import define, field
from playwright.async_api import Error
from scrapy_playwright.handler import BrowserContextWrapper, ScrapyPlaywrightDownloadHandler

from crawler import logs
from crawler.access.egress import EgressPolicy
from crawler.crawl.answers import SessionStoppedError
from crawler.crawl.context import EXCHANGES, SESSION, VIEWPORT, CrawlContext
from crawler.errors import ConfigError
from crawler.rendering.chromium import BOUNDED_FLAGS, FENCED_FLAGS, launch_options, require_chromium
from crawler.rendering.contexts import prepare
from crawler.rendering.enclosure import Door, Enclosure, Rules
from crawler.rendering.exchanges import exchanges_of, made_of
from crawler.rendering.failures import NoBrowserError, as_scrapys
from crawler.rendering.lifetime import Lifetime
from crawler.rendering.rendered import remember
from crawler.rendering.sight import Sight, seen
from crawler.rendering.traffic import MEGABYTE, Bounds, Traffic
from crawler.rendering.viewports import VIEWPORTS, Viewport
from crawler.rendering.wire import Upstream

if TYPE_CHECKING:
    from playwright.async_api import Page
    from playwright.async_api import Request as PageRequest
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response


CLOSE_SECONDS = 10.0
_CONTEXT = "playwright_context"
log = logs.get_logger(__name__)


@define(eq=False)
class Window:
    """A session's context in one viewport."""

    session: str
    viewport: Viewport
    door: Door = field(init=False)
    domain: str = ""  # that its page is of
    rendering: int = 0  # pages that are open in it

    @property
    def name(self) -> str:
        """Its context's name."""
        return f"{self.session}:{self.viewport.name}"


class Browser(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # it has no types
    """Renders requests; plain ones never come here."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.shared = CrawlContext.of(crawler)
        settings = self.shared.settings
        self.process_request_headers = None  # those of the browser, as a shopper's
        self.abort_request = self._is_refused
        self.config.launch_options = {}  # known once there is an enclosure
        self.windows: dict[str, Window] = {}
        self.traffic: WeakKeyDictionary[Page, Traffic] = WeakKeyDictionary()
        policy = EgressPolicy.of(settings.egress_allow)
        self.enclosure = Enclosure(Rules(policy, Upstream.of(settings.proxy_url)))
        self.room = asyncio.Semaphore(settings.render_pages_at_once)
        self.lifetime = Lifetime(settings.render_browser_pages)
        self.shared.visits.listeners.append(self._heard)

    async def end(self) -> None:
        """Close everything; called once, when the engine has stopped."""
        await self.lifetime.settle()
        await self.close()
        await self.enclosure.close()

    # ── a page ──

    async def render(self, request: Request) -> Response:
        """The page that a request asks for, as it is seen through its viewport."""
        remember(request, None)
        window = await self._window(request)
        async with self.room:
            window.domain = request.meta.get("download_slot", "")
            window.door.begin_page()
            window.rendering += 1
            self.lifetime.pages += 1
            request.meta[_CONTEXT] = window.name
            try:
                async with asyncio.timeout(self.shared.settings.render_page_seconds):
                    answer: Response = await self._download_request(request)
            except (Error, TimeoutError) as error:
                raise as_scrapys(error, window.door, request.url) from error
            finally:
                request.meta.pop(_CONTEXT, None)
                window.rendering -= 1
                window.door.cut()
        if window.door.is_over:
            raise as_scrapys(Error("cut off"), window.door, request.url)
        return answer

    # ruff: ignore[unused-method-argument] - scrapy-playwright's signature
    async def _download_request_with_page(self, request: Request, page: Page, spider: Spider) -> Response:
        """Called by scrapy-playwright with a page that is nobody else's; it is closed in any case."""
        settings, window = self.shared.settings, self.windows[request.meta[_CONTEXT]]
        traffic = Traffic(Bounds.of(settings), request.url)
        self.traffic[page] = traffic
        visit = self.shared.visits.running.get(window.session)
        sight = Sight(page, traffic, settings, visit, window.viewport)
        try:
            await traffic.watch(page)
            answer = await seen(request, sight)
            if self.shared.is_recorded(window.session):
                exchanges = await exchanges_of(traffic, window.door.addresses)
                request.meta[EXCHANGES] = [*exchanges, *made_of(answer)]
            return answer
        finally:
            await self._closed(page, traffic)

    async def _closed(self, page: Page, traffic: Traffic) -> None:
        """Close a page, and what it opened."""
        for each in [other for other in page.context.pages if other is not page] + [page]:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await each.close()
        await traffic.settle()
        self.stats.inc_value("vitrine/render/pages")
        self.stats.inc_value("vitrine/render/requests", traffic.begun)
        self.stats.inc_value("vitrine/render/blocked", traffic.blocked)

    def _is_refused(self, request: PageRequest) -> bool:
        """Asked by scrapy-playwright before each request of a page goes out."""
        try:
            traffic = self.traffic.get(request.frame.page)
        except Error:
            return True  # of a frame that is not there yet, or no more
        return traffic is None or not traffic.may_send(request)

    # ── contexts ──

    async def _window(self, request: Request) -> Window:
        """The context of the request's session in its viewport; its door is opened if it has none yet."""
        session, viewport = request.meta.get(SESSION, ""), VIEWPORTS[request.meta[VIEWPORT]]
        await self._sweep()
        if not any(each.session == session for each in self.windows.values()):
            await self.lifetime.admit(lambda: bool(self.windows), lambda: self._is_wanted(session))
        if (window := self.windows.get(f"{session}:{viewport.name}")) is None:
            window = Window(session, viewport)
            window.door = await self.enclosure.open_door(
                partial(self._may_send, window), self.shared.settings.render_max_mb * MEGABYTE
            )
            self.windows[window.name] = window
        if not self._is_wanted(session):
            raise SessionStoppedError(f"session {session} has ended")
        return window

    def _is_wanted(self, session: str) -> bool:
        """Whether a session goes on; a crawl by Scrapy alone has none."""
        visit = self.shared.visits.running.get(session)
        return not session or (visit is not None and not visit.stopped)

    def _may_send(self, window: Window) -> bool:
        """Whether a context may send anything now: it is being looked at, and its session has its domain."""
        if not (window.rendering and self._is_wanted(window.session)):
            return False
        if not window.session:
            return True
        visits = self.shared.visits
        return visits.domains.may_fetch(visits.running[window.session], window.domain)

    async def _began(self) -> None:
        """Have Playwright at hand, and a browser to be started that nothing leads out of."""
        if self.config.launch_options:
            return
        nowhere = await self.enclosure.open_door(lambda: False, 0)
        try:
            program = require_chromium(self.shared.settings.chromium_path)
        except ConfigError as error:
            raise NoBrowserError(f"{error}: {error.hint}") from error
        options = launch_options(program, *FENCED_FLAGS, *BOUNDED_FLAGS)
        await self._launch()
        self.config.launch_options = {**options, "proxy": {"server": nowhere.url}}

    # ruff: ignore[unused-method-argument] - scrapy-playwright's signature
    async def _create_browser_context(
        self, name: str, context_kwargs: dict[str, Any] | None, spider: Spider | None = None
    ) -> BrowserContextWrapper:
        """Called by scrapy-playwright, for a name that has no context, or none any more."""
        await self._began()
        try:
            await self._maybe_launch_browser()
        except Error as error:
            raise NoBrowserError(f"Chromium does not start: {error.message.partition(chr(10))[0]}") from error
        window = self.windows[name]
        options = window.viewport.context(self.browser.version, self.shared.settings)
        options["proxy"] = {"server": window.door.url}
        wrapper = await super()._create_browser_context(name, options, spider)
        await prepare(wrapper.context)
        return wrapper

    def _heard(self, event: str, **_fields: Any) -> None:
        """Called by the visits: what belongs to a session that has ended goes."""
        if event == "ended":
            self.lifetime.spawn(self._sweep())

    async def _sweep(self) -> None:
        """Close the contexts of sessions that do not run any more."""
        known = self.shared.visits.known
        gone = [w for w in self.windows.values() if w.session and w.session not in known and not w.rendering]
        for window in gone:
            self.windows.pop(window.name, None)
            if (wrapper := self.context_wrappers.get(window.name)) is not None:
                with suppress(Error, TimeoutError):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await wrapper.context.close()
            await self.enclosure.close_door(window.door)
        if not self.windows and hasattr(self, "browser"):
            await self.lifetime.end(self.browser)
