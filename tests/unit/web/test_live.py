"""A capture beside the page as it is now: for who shows the token, so many at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from crawler.engines.live import LivePage
from crawler.views import live as views
from crawler.web import live
from tests.unit.archive.captured import SHOP, day
from tests.unit.archive.stored import index_pages, keep
from tests.unit.web.conftest import TOKEN
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.web.conftest import Serve, Served

    Look = Callable[[int], LivePage]

PATH = "/api/snapshots/1/compare-live"
TOLD = {"Authorization": f"Bearer {TOKEN}"}
PAGE = "<html lang=en><title>Shoes</title><h1>Shoes</h1><p>Red shoes.<p>10 EUR"


@pytest.fixture
def sees(monkeypatch: pytest.MonkeyPatch) -> Callable[[Look], None]:
    """Sets what a visit of the site sees; no site is visited."""
    real = views.live_diff

    def see(look: Look) -> None:
        monkeypatch.setattr(
            views, "live_diff", lambda database, settings, given: real(database, settings, given, look)
        )

    return see


@pytest.fixture
def shop(served: Served) -> Served:
    """A page that was captured once."""
    keep(served.database, served.blobs, PAGE, SHOP, at=day(1))
    index_pages(served.database, served.blobs)
    return served


def test_only_who_shows_the_token_has_a_site_visited(
    shop: Served, serve: Serve, sees: Callable[[Look], None]
) -> None:
    """In a header, or with the form of the page that asks first: a cookie comes with any link."""
    text = "Shoes\nRed shoes.\n12 EUR"
    visits: list[int] = []

    def look(number: int) -> LivePage:
        visits.append(number)
        return LivePage(url=SHOP, status_code=200, title="Shoes", text=text)

    sees(look)
    assert shop.get(PATH).status_code == 401
    login = shop.client.post("/admin/login", data={"token": TOKEN}, headers={"Origin": shop.address})
    assert login.status_code == 303
    assert shop.get(PATH).status_code == 401
    page = shop.get("/admin/snapshots/1/live", headers={"Accept": "text/html"}).text
    assert "Visit the site and compare" in page
    assert shop.client.post("/admin/snapshots/1/live", headers={"Origin": shop.address}).status_code == 403
    for settings in ({}, {"admin_token": TOKEN, "web_read_only": True}):
        assert serve(**settings).get(PATH, headers=TOLD).status_code in {401, 403}
    assert visits == []
    form = {"form_token": page.split('name="form_token" value="')[1].split('"')[0]}
    headers = {"Origin": shop.address, "Accept": "text/html"}
    answer = shop.client.post("/admin/snapshots/1/live", data=form, headers=headers)
    assert (answer.status_code, "12" in answer.text) == (200, True)
    found = shop.get(PATH, headers=TOLD).json()
    assert (found["changeType"], found["addedLines"], found["removedLines"]) == ("updated", 1, 1)
    assert "12" in found["diffHtml"]
    assert visits == [1, 1]
    assert shop.get("/api/snapshots/9/compare-live", headers=TOLD).status_code == 404


def test_only_so_many_sites_are_visited_at_once(shop: Served, sees: Callable[[Look], None]) -> None:
    """Whoever comes then is told when to come again."""
    over = threading.Event()
    visits: list[int] = []

    def look(number: int) -> LivePage:
        visits.append(number)
        over.wait(60)
        return LivePage(cause="robots_refused")

    sees(look)
    with ThreadPoolExecutor(live.AT_ONCE) as threads:
        first = [threads.submit(shop.get, PATH, headers=TOLD) for _ in range(live.AT_ONCE)]
        try:
            wait_for(lambda: len(visits) == live.AT_ONCE)
            answer = shop.get(PATH, headers=TOLD)
        finally:
            over.set()
        assert {each.result().json()["cause"] for each in first} == {"robots_refused"}
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "5")
    assert shop.get(PATH, headers=TOLD).status_code == 200
