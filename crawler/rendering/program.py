"""The browser's program: started enclosed, started anew when it has died, let go when it has done enough.

scrapy-playwright holds the browser and its contexts. What it cannot know is decided here: that a dead one is
none at once, whatever else is under way, and that what drives the browser may die, or grow, like the browser.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error
from scrapy_playwright.handler import BrowserContextWrapper, ScrapyPlaywrightDownloadHandler

from crawler import logs
from crawler.access.egress import EgressPolicy
from crawler.crawl.context import CrawlContext
from crawler.errors import ConfigError
from crawler.rendering.chromium import BOUNDED_FLAGS, FENCED_FLAGS, launch_options, require_chromium
from crawler.rendering.dismissing import remembered_answers
from crawler.rendering.enclosure import Enclosure, Rules
from crawler.rendering.failures import NoBrowserError, Transient, why_transient
from crawler.rendering.page_scripts import script
from crawler.rendering.wire import Upstream

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, Page, Route
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from crawler.rendering.enclosure import Door

CLOSE_SECONDS = 10.0
LAUNCHES = 2  # of one browser: a machine that is busy may be too slow the first time
CONTEXT = "playwright_context"  # the meta key of a context's name
log = logs.get_logger(__name__)


class Program(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # it has no types
    """One browser at a time, and what drives it."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.shared = CrawlContext.of(crawler)
        settings = self.shared.settings
        self.process_request_headers = None  # those of the browser, as a shopper's
        self.config.launch_options = {}  # known while there is something that drives a browser
        self.enclosure = Enclosure(
            Rules(EgressPolicy.of(settings.egress_allow), Upstream.of(settings.proxy_url))
        )
        self.nowhere: Door | None = None  # where a browser's own doings are led

    def context_options(self, name: str) -> dict[str, Any]:
        """Playwright's options of the context with that name."""
        raise NotImplementedError

    async def let_go(self) -> None:
        """End the browser and what drives it, whatever state they are in; the next page starts both anew."""
        self.context_wrappers.clear()
        if (browser := self.__dict__.pop("browser", None)) is not None:
            await in_time(browser.close())
        if self.config.launch_options:
            self.config.launch_options = {}
            await in_time(self.browser_provider.close())

    # ── called by scrapy-playwright ──

    async def _create_page(self, request: Request, spider: Spider) -> Page:
        """For each attempt at a page; a context that is gone is not asked again."""
        try:
            page: Page = await super()._create_page(request, spider)
        except Error as error:
            if why_transient(error) is Transient.TARGET_CLOSED:
                self.context_wrappers.pop(request.meta[CONTEXT], None)
            raise
        return page

    # ruff: ignore[unused-method-argument] - its signature
    async def _create_browser_context(
        self, name: str, context_kwargs: dict[str, Any] | None, spider: Spider | None = None
    ) -> BrowserContextWrapper:
        """For a name that has no context, or none any more; one at a time."""
        await self._start()
        try:
            wrapper = await super()._create_browser_context(name, self.context_options(name), spider)
            await prepare(wrapper.context)
        except Error as error:
            if why_transient(error) is Transient.TARGET_CLOSED:
                await self.let_go()  # it is dead, or what drives it is
            raise
        return wrapper

    def _browser_disconnected_callback(self, browser: PlaywrightBrowser) -> None:
        """When a browser is gone: at once nothing of it is used any more.

        scrapy-playwright's own closes its contexts first, and then forgets whichever browser there is.
        """
        if getattr(self, "browser", None) is browser:
            log.info("browser.gone")
            del self.browser
            self.context_wrappers.clear()

    # ── starting ──

    async def _start(self) -> None:
        """Have a browser, unless none starts."""
        for attempt in range(1, LAUNCHES + 1):
            await self._prepare()
            try:
                await self._maybe_launch_browser()
            except Error as error:
                await self.let_go()
                if attempt == LAUNCHES:
                    raise NoBrowserError(f"Chromium does not start: {_first_line(error)}") from error
            else:
                return

    async def _prepare(self) -> None:
        """Have at hand what drives a browser, and the options of one that nothing leads out of."""
        if self.config.launch_options:
            return
        try:
            program = require_chromium(self.shared.settings.chromium_path)
        except ConfigError as error:
            raise NoBrowserError(f"{error}: {error.hint}") from error
        if self.nowhere is None:
            self.nowhere = await self.enclosure.open_door(lambda: False, 0)
        options = launch_options(program, *FENCED_FLAGS, *BOUNDED_FLAGS)
        await self._launch()
        _heed_death(self.browser_provider)
        self.config.launch_options = {**options, "proxy": {"server": self.nowhere.url}}


async def prepare(context: BrowserContext) -> None:
    """Shut a context's further ways out; a page that is ours has its own, which come first."""
    await context.add_init_script(f"({script('before')})()")
    await context.add_init_script(remembered_answers())
    await context.route("**/*", _refuse)
    context.on("page", _close_opened)


async def _refuse(route: Route) -> None:
    """A window that a page opened loads nothing."""
    with suppress(Error):
        await route.abort()


async def _close_opened(page: Page) -> None:
    with suppress(Error):
        if await page.opener() is not None:
            await page.close()


async def in_time(closing: Awaitable[None]) -> None:
    """Wait until something is closed; what does not close, or was closed already, is left."""
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await closing


def _heed_death(provider: Any) -> None:
    """Have somebody know that the driver ended: Ctrl-C ends it, too, and asyncio would call that an error."""
    with suppress(AttributeError):
        # ruff: ignore[private-member-access] - Playwright has it for itself, and may keep it elsewhere tomorrow
        ended = provider.playwright_context_manager._client._transport.on_error_future
        ended.add_done_callback(lambda future: future.cancelled() or future.exception())


def _first_line(error: Error) -> str:
    return error.message.partition("\n")[0]
