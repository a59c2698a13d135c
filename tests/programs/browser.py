"""A Chromium for tests that look at pages, beside whatever event loop the tests have.

Playwright's plain API refuses a thread in which a loop runs, as pytest-twisted's does: it gets its own.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest
from playwright.sync_api import sync_playwright

from crawler.rendering.chromium import install_command, launch_options
from scripts.chromium import found_or_installed
from tests.databases import do_without
from tests.servers import MissingServerError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from playwright.sync_api import Page

Seen = TypeVar("Seen")
PATIENCE_SECONDS = 120


class InBrowser(Protocol):
    """Calls a function with a new page; keywords are those of Playwright's `new_context`."""

    def __call__(self, look: Callable[[Page], Seen], /, **context: Any) -> Seen:
        """What it returns."""


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Chromium's program: found, or installed."""
    found = found_or_installed()
    if found is None:
        do_without(MissingServerError(f"no Chromium for the tests; {install_command()}"))
    return found


@pytest.fixture(scope="session")
def in_browser(chromium: Path) -> Generator[InBrowser]:
    """Runs `look(page)` on a new page of a browser, and gives what it returns."""
    with own_browser(chromium) as run:
        yield run


@contextmanager
def own_browser(program: Path) -> Generator[InBrowser]:
    """A browser that lives as long as the block."""
    with ThreadPoolExecutor(1, "browser") as thread:
        playwright = thread.submit(lambda: sync_playwright().start()).result(PATIENCE_SECONDS)
        browser = thread.submit(lambda: playwright.chromium.launch(**launch_options(program))).result()

        def look_at(look: Callable[[Page], Seen], /, **context: Any) -> Seen:
            return thread.submit(_looked, look, context).result(PATIENCE_SECONDS)

        def _looked(look: Callable[[Page], Seen], context: dict[str, Any]) -> Seen:
            with browser.new_context(**context) as opened:
                return look(opened.new_page())

        try:
            yield look_at
        finally:
            thread.submit(browser.close).result(PATIENCE_SECONDS)
            thread.submit(playwright.stop).result(PATIENCE_SECONDS)
