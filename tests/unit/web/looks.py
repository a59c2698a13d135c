"""`python -m tests.unit.web.looks ADDRESS TOKEN PATH…`: look at pages, and print what is wrong.

A process of its own: Playwright's plain API refuses the loop that the test process has. Each page is looked
at in both themes, wide and narrow: axe's findings, whether it is wider than the window, what the console
says, and every request that leaves for another host.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from crawler.rendering.chromium import launch_options
from scripts.chromium import found_or_installed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

LOOKS = ((1440, "light"), (390, "dark"), (1440, "dark"), (390, "light"))
HEIGHT = 900


def main(address: str, token: str, paths: list[str]) -> list[str]:
    """What is wrong with which page, in which look."""
    program = found_or_installed()
    assert program is not None
    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options(program))
        for look in LOOKS:
            wrong += _look(browser, (address, token), paths, look)
        browser.close()
    return wrong


def _look(browser: Browser, where: tuple[str, str], paths: list[str], look: tuple[int, Any]) -> list[str]:
    (address, token), (width, theme) = where, look
    wrong: list[str] = []
    size: Any = {"width": width, "height": HEIGHT}
    # Pages forbid scripts that are not theirs; axe is one, and gets past that here only.
    with browser.new_context(viewport=size, color_scheme=theme, bypass_csp=True) as context:
        _log_in(context, address, token)
        page = context.new_page()
        page.on(
            "console", lambda said: wrong.append(f"console: {said.text}") if said.type == "error" else None
        )
        page.on("request", lambda sent: _note_stranger(wrong, address, sent.url))
        for path in paths:
            page.goto(address + path)
            found = Axe().run(page).response["violations"]
            wrong += [f"{path} {look}: {one['id']}: {one['nodes'][0]['html']}" for one in found]
            if page.evaluate("document.documentElement.scrollWidth") > width:
                wrong.append(f"{path} {look}: wider than the window")
    return wrong


def _log_in(context: BrowserContext, address: str, token: str) -> None:
    page = context.new_page()
    page.goto(f"{address}/admin/login")
    page.fill("#token", token)
    page.click("main button.primary")
    page.wait_for_url(f"{address}/admin")
    page.close()


def _note_stranger(wrong: list[str], address: str, url: str) -> None:
    if urlsplit(url).scheme in {"http", "https"} and urlsplit(url).netloc != urlsplit(address).netloc:
        wrong.append(f"asked {url}")


if __name__ == "__main__":
    json.dump(main(sys.argv[1], sys.argv[2], sys.argv[3:]), sys.stdout)
