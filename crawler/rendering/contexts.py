"""A browsing context before its first page: what no page in it may do."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from playwright.async_api import Error

from crawler.rendering.dismissing import remembered_answers
from crawler.rendering.page_scripts import script

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page, Route


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
