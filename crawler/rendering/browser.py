"""The pages of a crawl that are rendered, and the windows through which they are seen.

The browser is started with the first of them. Each session has a context for each of its
viewports, with a door of its own in the enclosure; both are closed when the session ends, however it ends.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import define, field
from playwright.async_api import Error

from crawler import logs
from crawler.crawl.answers import SessionStoppedError
from crawler.crawl.context import EXCHANGES, SESSION, VIEWPORT
from crawler.crawl.rendered import remember, rendered_in
from crawler.rendering.exchanges import exchanges_of, made_of
from crawler.rendering.failures import as_scrapys
from crawler.rendering.program import CONTEXT, Program, in_time
from crawler.rendering.sight import Sight, seen
from crawler.rendering.traffic import MEGABYTE, Bounds, Traffic, Watched
from crawler.rendering.viewports import VIEWPORTS, Viewport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from playwright.async_api import Page
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.rendering.enclosure import Door

PAGE_METHODS = "playwright_page_methods"  # the meta key of what a request does on its page
MOST_HOSTS_TOLD = 10  # in one line of a session's log
LOOK_SECONDS = 0.25
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


@define(eq=False)
class Lifetime:
    """Counts what a browser has rendered, so that what it does not give back stays bounded.

    After so many pages the next one is started when nobody uses it.
    """

    limit: int
    pages: int = 0
    _tasks: set[asyncio.Task[None]] = field(factory=set)

    @property
    def is_over(self) -> bool:
        """Whether it is to be started anew."""
        return self.pages >= self.limit

    async def admit(self, is_used: Callable[[], bool], is_wanted: Callable[[], bool]) -> None:
        """Let a further session in; one that comes to a browser that is to go waits for those in it."""
        # ruff: ignore[async-busy-wait] - three things may end it, and two of them tell nobody
        while self.is_over and is_used() and is_wanted():
            await asyncio.sleep(LOOK_SECONDS)

    async def end(self, let_go: Callable[[], Awaitable[None]]) -> None:
        """Let go of a browser that is old enough; the next page starts another."""
        if not self.is_over:
            return
        log.info("browser.renewed", pages=self.pages)
        self.pages = 0
        await let_go()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside what is going on."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Wait for what is done beside."""
        await asyncio.gather(*self._tasks, return_exceptions=True)


class Browser(Program):
    """Renders requests; plain ones never come here."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = self.shared.settings
        self.watched = Watched()
        self.abort_request = self.watched.is_refused  # asked before each request of a page goes out
        self.windows: dict[str, Window] = {}
        self.room = asyncio.Semaphore(settings.render_pages_at_once)
        self.lifetime = Lifetime(settings.render_browser_pages)
        self.shared.visits.listeners.append(self._heard)

    async def end(self) -> None:
        """Close everything; called once, when the engine has stopped."""
        await self.lifetime.settle()
        await self.let_go()
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
            request.meta[CONTEXT] = window.name
            try:
                async with asyncio.timeout(self.shared.settings.render_page_seconds):
                    answer: Response = await self._download_request(request)
            except (Error, TimeoutError) as error:
                raise as_scrapys(error, window.door, request.url) from error
            finally:
                request.meta.pop(CONTEXT, None)
                window.rendering -= 1
                window.door.cut()
        if window.door.is_over:
            raise as_scrapys(Error("cut off"), window.door, request.url)
        return answer

    async def _download_request_with_page(self, request: Request, page: Page, spider: Spider) -> Response:
        """Called by scrapy-playwright with a page that is nobody else's; it is closed in any case."""
        settings, window = self.shared.settings, self.windows[request.meta[CONTEXT]]
        traffic = Traffic(Bounds.of(settings), request.url, window.door.broke_off)
        visit = self.shared.visits.running.get(window.session)
        sight = Sight(page, traffic, settings, visit, window.viewport)
        with self.watched.during(page, traffic):
            try:
                await traffic.watch(page)
                act = partial(self._apply_page_methods, page, request, spider)
                answer = await seen(request, sight, act if request.meta.get(PAGE_METHODS) else None)
                lost = window.door.not_reached
                if lost and rendered_in(answer) is not None:
                    told = ", ".join(lost[:MOST_HOSTS_TOLD])
                    sight.note("warn", "error", "render.not_reached", hosts=told, count=len(lost))
                if self.shared.is_recorded(window.session):
                    exchanges = await exchanges_of(traffic, window.door.addresses)
                    request.meta[EXCHANGES] = [*exchanges, *made_of(answer)]
                return answer
            finally:
                await self._closed(page, traffic)

    async def _closed(self, page: Page, traffic: Traffic) -> None:
        """Close a page, and what it opened."""
        for each in [other for other in page.context.pages if other is not page] + [page]:
            await in_time(each.close())
        await traffic.settle()
        self.stats.inc_value("vitrine/render/pages")
        self.stats.inc_value("vitrine/render/requests", traffic.begun)
        self.stats.inc_value("vitrine/render/blocked", traffic.blocked)

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

    def context_options(self, name: str) -> dict[str, Any]:
        """Those of a window: its viewport, and the way out through its door."""
        window = self.windows[name]
        options = window.viewport.context(self.browser.version, self.shared.settings)
        return {**options, "proxy": {"server": window.door.url}}

    def _may_send(self, window: Window) -> bool:
        """Whether a context may send anything now: it is being looked at, and its session has its domain."""
        if not (window.rendering and self._is_wanted(window.session)):
            return False
        if not window.session:
            return True
        visits = self.shared.visits
        return visits.domains.may_fetch(visits.running[window.session], window.domain)

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
            if (wrapper := self.context_wrappers.pop(window.name, None)) is not None:
                await in_time(wrapper.context.close())
            await self.enclosure.close_door(window.door)
        if self.lifetime.is_over:
            async with self.context_launch_lock:  # a session that has just come waits until this is done
                if not self.context_wrappers:
                    await self.lifetime.end(self.let_go)
