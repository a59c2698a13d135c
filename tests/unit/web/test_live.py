"""A capture beside the page as it is now, over HTTP: for who has the token, so many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.engines.live import LivePage
from crawler.views import live as views
from crawler.web import live
from tests.unit.archive.captured import SHOP, day
from tests.unit.archive.stored import index_pages, keep
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served

PATH = "/api/snapshots/1/compare-live"
SHOWN = {"Authorization": f"Bearer {TOKEN}"}
PAGE = "<html lang=en><title>Shoes</title><h1>Shoes</h1><p>Red shoes.<p>10 EUR"


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[LivePage]:
    """What the page says now; the last one of these is what is seen."""
    now: list[LivePage] = [LivePage(cause="robots_refused")]
    defaults = views.live_diff.__kwdefaults__ or {}
    assert not defaults  # `look` is the last one by place
    monkeypatch.setattr(views.live_diff, "__defaults__", (lambda _snapshot: now[-1],))
    return now


@pytest.fixture
def shop(served: Served) -> Served:
    """A page that was captured once."""
    keep(served.database, served.blobs, PAGE, SHOP, at=day(1))
    index_pages(served.database, served.blobs)
    return served


def test_then_and_now(shop: Served, looked_at: list[LivePage]) -> None:
    """The same, something else, or why nothing can be said."""
    refused = shop.get(PATH, headers=SHOWN).json()
    assert (refused["changeType"], refused["cause"]) == ("error", "robots_refused")
    assert refused["summary"] == "robots.txt forbids this address to crawlers."
    text = "Shoes\nRed shoes.\n10 EUR"
    looked_at.append(LivePage(url=SHOP, status_code=200, fetched_at=day(9), title="Shoes", text=text))
    assert shop.get(PATH, headers=SHOWN).json()["changeType"] == "unchanged"
    looked_at.append(LivePage(url=SHOP, status_code=200, title="Shoes", text=text.replace("10", "12")))
    other = shop.get(PATH, headers=SHOWN).json()
    assert (other["changeType"], other["addedLines"], other["removedLines"]) == ("updated", 1, 1)
    assert "12" in other["diffHtml"]
    looked_at.append(LivePage(cause="http_error", status_code=404))
    assert shop.get(PATH, headers=SHOWN).json()["summary"] == "The site answers with 404."
    assert shop.get("/api/snapshots/9/compare-live", headers=SHOWN).status_code == 404


def test_who_may(shop: Served, serve: Serve, looked_at: list[LivePage]) -> None:
    """Who shows the token in a header: it has a site visited. A cookie comes with any link, and is none."""
    assert shop.get(PATH).status_code == 401
    login = shop.client.post("/admin/login", data={"token": TOKEN}, headers={"Origin": shop.address})
    assert login.status_code == 303
    assert shop.get(PATH).status_code == 401
    assert 'href="/admin/snapshots/1/live"' in shop.get("/snapshots/1", headers={"Accept": "text/html"}).text
    page = shop.get("/admin/snapshots/1/live", headers={"Accept": "text/html"}).text
    assert "Visit the site and compare" in page
    form_token = page.split('name="form_token" value="')[1].split('"')[0]
    headers = {"Origin": shop.address, "Accept": "text/html"}
    answer = shop.client.post("/admin/snapshots/1/live", data={"form_token": form_token}, headers=headers)
    assert (answer.status_code, "robots.txt forbids" in answer.text) == (200, True)
    assert shop.client.post("/admin/snapshots/1/live", headers={"Origin": shop.address}).status_code == 403
    assert len(looked_at) == 1
    for settings in ({}, {"admin_token": TOKEN, "web_read_only": True}):
        assert serve(**settings).get(PATH, headers=SHOWN).status_code in {401, 403}


@pytest.mark.usefixtures("looked_at")
def test_so_many_at_once(shop: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes then is told when to come again."""
    monkeypatch.setattr(live._free, "_value", 0)  # as if four were at it
    answer = shop.get(PATH, headers=SHOWN)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "5")
