"""The demo shop over five of its days, walked with the mouse: from the calendar to a page to what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.e2e.demo_days import SHOP, archived, visited
from tests.unit.web.conftest import serving_on
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from crawler.demo import DemoServer
    from tests.programs.browser import InBrowser


def test_from_the_calendar_to_a_page_to_what_changed(
    shops: DemoServer, sqlite_database: str, tmp_path: Path, in_browser: InBrowser
) -> None:
    """It looks like the shop, though nobody is asked but the archive; prices are those of the day."""
    with serving_on(sqlite_database, tmp_path / "home") as serve:
        served = serve()
        answers = list(visited(shops, 5, most=12))
        shops.forget()
        archived(served.database, served.stores.settings, tmp_path / "job", iter(answers))
        home = shops.url(SHOP)
        seen = in_browser(lambda page: _walk(page, served.address, home))
    assert seen["asked elsewhere"] == set()
    assert seen["errors"] == []
    assert len(seen["changed days"]) == 4
    assert (seen["title"], seen["pictures"] > 0) == ("Tide & Tally", True)
    assert seen["captured"].startswith("Captured 2026-05-03 12:")
    before, after = seen["prices"]
    assert before != after
    assert "£" in before
    assert seen["price shown"] in after


def _walk(page: Page, address: str, home: str) -> dict[str, Any]:
    """What somebody sees who clicks from the calendar on."""
    asked: set[str] = set()
    errors: list[str] = []
    page.on("request", lambda request: asked.add(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{address}/web/*/{home}")
    seen: dict[str, Any] = {"changed days": page.locator(".month td a.changed").all_inner_texts()}
    page.get_by_role("link", name="3", exact=True).click()
    shop = page.frame_locator("iframe")
    seen["title"] = shop.locator("a.sign").inner_text()
    picture = shop.locator("main img").first
    picture.scroll_into_view_if_needed()
    seen["pictures"] = wait_for(lambda: picture.evaluate("it => it.complete && it.naturalWidth"), 60)
    shop.locator("main a[href*='/products/']").first.click()
    page.wait_for_url("**/products/**")
    seen["captured"] = page.locator(".banner strong").inner_text()
    seen["price shown"] = shop.locator("main :text('£')").first.inner_text()
    page.get_by_role("link", name="What changed").click()
    seen["prices"] = (page.locator(".diff del").inner_text(), page.locator(".diff ins").inner_text())
    seen["asked elsewhere"] = {url for url in asked if not url.startswith((address, "data:"))}
    seen["errors"] = errors
    return seen
