"""Pages as a browser has them: axe finds nothing, nothing is too wide, nobody else is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.archive.stored import index_pages, keep
from tests.unit.web.conftest import TOKEN
from tests.unit.web.inside import a_job

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.programs.browser import InBrowser
    from tests.unit.web.conftest import Served

ROOT = Path(__file__).parents[3]
ABOUT = "<p>A chair of beech, made by hand in a small town.</p>" * 5
PAGES = (
    "/", "/search", "/search?q=beech", "/search?q=beech&from=2030-01-01", "/sites", "/sites/shop.example",
    "/snapshots/1?verify=1", "/changes",
    "/web/*/https://shop.example/p", "/web/2026/https://shop.example/p",
    "/web/2026/https://shop.example/never", "/web/2026mp_/https://shop.example/never",
    "/-/", "/-/patterns", "/-/keyboard", "/nothing", "/admin", "/admin/jobs",
    "/admin/jobs/1", "/admin/runs", "/admin/sessions", "/admin/domains", "/admin/domains/shop.example",
    "/admin/sources", "/admin/warcs", "/admin/retention?plan=1", "/admin/audit", "/admin/system",
    "/admin/holds/new", "/admin/snapshots/1/live",
)  # fmt: skip


@pytest.fixture
def filled(served: Served) -> Served:
    """A shop with a chair, a job that failed, and a source with a name that is far too long."""
    keep(served.database, served.blobs, f"<title>A chair</title><main><h1>A chair</h1>{ABOUT}</main>")
    index_pages(served.database, served.blobs)
    a_job(served, "failed", pages_crawled=1_234_567)
    return served


@pytest.mark.soak(minutes=10)
@pytest.mark.usefixtures("chromium")
def test_pages_can_be_read_by_everybody(filled: Served) -> None:
    """Axe finds nothing wrong, light and dark, wide and narrow; no other host is asked."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.web.looks", filled.address, TOKEN, *PAGES],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    found: list[str] = json.loads(done.stdout)
    assert [each for each in found if "404" not in each] == []  # the console's word for /nothing


@pytest.mark.soak(minutes=2)
def test_a_page_is_found_with_the_mouse_alone(filled: Served, in_browser: InBrowser) -> None:
    """Without scripts: what a page said on a day, its other captures, and its evidence."""

    def look(page: Page) -> str:
        page.goto(filled.address)
        page.click("text=1 site")
        page.click("main >> text=shop.example")
        page.click("th >> text=A chair")
        page.wait_for_url("**/web/*/https://shop.example/p")
        page.goto(f"{filled.address}/search?q=beech")
        page.click("text=Evidence")
        page.click("text=Verify now")
        page.wait_for_url("**verify=1")
        return page.inner_text("main")

    assert "byte for byte" in in_browser(look, java_script_enabled=False)


@pytest.mark.soak(minutes=2)
def test_shortcuts_and_the_theme_need_no_mouse(filled: Served, in_browser: InBrowser) -> None:
    """`/` goes to the search field, where keys are letters again; the theme is remembered."""

    def look(page: Page) -> tuple[str, str, str]:
        page.goto(f"{filled.address}/sites")
        page.keyboard.press("/")
        page.keyboard.type("g s /")
        typed = page.input_value("#top-q")
        page.click("[data-theme-toggle]")
        page.click("[data-theme-toggle]")
        page.reload()
        theme = str(page.evaluate("document.documentElement.dataset.theme"))
        page.keyboard.press("g")
        page.keyboard.press("s")
        page.wait_for_url("**/search")
        return typed, theme, page.url

    typed, theme, url = in_browser(look)
    assert (typed, theme, url) == ("g s /", "dark", f"{filled.address}/search")
