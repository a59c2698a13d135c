"""An enclosed browser that looks at pages as a crawl's does, in a loop of its own."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field, frozen
from playwright.async_api import async_playwright
from scrapy import Request

from crawler.access.egress import EgressPolicy
from crawler.config import load_settings
from crawler.crawl.rendered import rendered_in
from crawler.demo import NETWORK, serve
from crawler.rendering.chromium import BOUNDED_FLAGS, FENCED_FLAGS, launch_options
from crawler.rendering.enclosure import Enclosure, Rules
from crawler.rendering.program import prepare
from crawler.rendering.sight import Sight, seen
from crawler.rendering.traffic import Bounds, Traffic
from crawler.rendering.viewports import DESKTOP
from tests.unit.components import a_visit, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Iterator
    from pathlib import Path

    from playwright.async_api import Browser, Page, Route
    from scrapy.http import Response

    from crawler.crawl.rendered import Rendered
    from crawler.demo import DemoServer
    from crawler.rendering.viewports import Viewport

PATIENCE_SECONDS = 180
# Everything that is waited for, at a tenth of what a crawl takes.
QUICK = {
    "render_idle_ms": 150, "render_stable_ms": 200, "render_min_ms": 500, "render_ready_max_ms": 4000,
    "render_scroll_wait_ms": 250, "render_bottom_ms": 200, "render_settle_ms": 1000,
    "render_popup_settle_ms": 100,
}  # fmt: skip

# For what is there as soon as a page is.
AT_A_GLANCE: dict[str, Any] = {
    "render_min_ms": 0, "render_idle_ms": 50, "render_stable_ms": 50, "render_scroll_steps": 0,
    "render_settle_ms": 0,
}  # fmt: skip


@frozen
class Seen:
    """What came of looking at a page."""

    response: Response
    rendered: Rendered | None
    log: list[tuple[str, dict[str, Any]]]
    traffic: Traffic
    hosts: set[str]  # that anything was wanted of

    @property
    def events(self) -> list[str]:
        """What was logged, in order."""
        return [event for event, _ in self.log]


@define
class Looker:
    """A browser, and the loop that it lives in."""

    loop: asyncio.AbstractEventLoop
    program: Path
    browser: Browser = field(init=False)
    enclosure: Enclosure = field(init=False)

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Have something done in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_SECONDS)

    def look(
        self, url: str, viewport: Viewport = DESKTOP, *, allowed: str = NETWORK,
        meanwhile: Callable[[Page], Coroutine[Any, Any, None]] | None = None,
        context: dict[str, Any] | None = None, **settings: Any,
    ) -> Seen:  # fmt: skip
        """Look at a page in a context of its own."""
        return self.do(self._look(url, viewport, allowed, meanwhile, context or {}, settings))  # type: ignore[no-any-return]

    async def _passed_on(self, route: Route, traffic: Traffic) -> None:
        """What scrapy-playwright does with a page's requests."""
        await (route.continue_() if traffic.may_send(route.request) else route.abort())

    async def _look(
        self, url: str, viewport: Viewport, allowed: str, meanwhile: Any, more: dict[str, Any],
        settings: dict[str, Any],
    ) -> Seen:  # fmt: skip
        told = load_settings({**QUICK, **settings})
        enclosure = Enclosure(Rules(EgressPolicy.of([allowed])))
        # It counts what goes over the wire; wider than the page's own limit, or either may be the first.
        door = await enclosure.open_door(lambda: True, 2 * told.render_max_mb * 1024 * 1024)
        options = viewport.context(self.browser.version, told) | more
        context = await self.browser.new_context(**options, proxy={"server": door.url})
        visit, request = a_visit(), Request(url)
        try:
            await prepare(context)
            page = await context.new_page()
            traffic = Traffic(Bounds.of(told), url, door.broke_off)
            await page.route("**", lambda route: self._passed_on(route, traffic))
            await traffic.watch(page)
            beside = asyncio.ensure_future(meanwhile(page)) if meanwhile else None
            response = await seen(request, Sight(page, traffic, told, visit, viewport))
            if beside is not None:
                await beside
        finally:
            await context.close()
            await enclosure.close()
        hosts = set(door.addresses) | set(door.troubles)
        return Seen(response, rendered_in(response), lines_of(visit), traffic, hosts)


@contextmanager
def a_loop() -> Generator[asyncio.AbstractEventLoop]:
    """An event loop in a thread, beside pytest's."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="looking")
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture(scope="module")
def looker(chromium: Path) -> Iterator[Looker]:
    """A browser that is enclosed as a crawl's is."""
    with a_loop() as loop:
        looker = Looker(loop, chromium)

        async def start() -> Any:
            playwright = await async_playwright().start()
            options = launch_options(chromium, *FENCED_FLAGS, *BOUNDED_FLAGS)
            looker.browser = await playwright.chromium.launch(
                **options, proxy={"server": "http://127.0.0.1:9"}
            )
            return playwright

        playwright = looker.do(start())
        yield looker
        looker.do(looker.browser.close())
        looker.do(playwright.stop())


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoServer]:
    """The demo's shops, each at an address of its own."""
    with serve(addressing="addresses") as server:
        yield server
