"""Windows: one for each session and viewport, closed with its session, and silent when nobody looks."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from playwright.async_api import Error
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import HtmlResponse

from crawler.capture.failures import Cause
from crawler.config import load_settings
from crawler.crawl.answers import SessionStoppedError
from crawler.crawl.context import SESSION, VIEWPORT
from crawler.rendering.browser import Browser, Lifetime
from crawler.rendering.traffic import Watched
from tests.unit.components import Visits, a_visit, awaited

URL = "https://shop.example/"


class Door:
    """A way out of the enclosure."""

    def __init__(self, url: str, may_send: Any) -> None:
        self.url, self.may_send = url, may_send
        self.is_over, self.troubles, self.did = False, dict[str, Any](), list[str]()

    def begin_page(self) -> None:
        """From now on it counts anew."""
        self.did.append("begun")

    def cut(self) -> None:
        """Nothing goes through any more."""
        self.did.append("cut")


class Enclosure:
    """Opens doors, and knows which are open."""

    def __init__(self) -> None:
        self.open: list[Door] = []

    async def open_door(self, may_send: Any, _most: int) -> Door:
        """One more."""
        await asyncio.sleep(0)
        door = Door(f"http://door-{len(self.open)}", may_send)
        self.open.append(door)
        return door

    async def close_door(self, door: Door) -> None:
        """One less."""
        self.open.remove(door)

    async def close(self) -> None:
        """None is left."""
        self.open.clear()


class SessionVisits(Visits):
    """Visits that have their domains."""

    domains: Any = None


@pytest.fixture
def browser() -> Any:
    """One whose pages are answered by the test."""
    made: Any = Browser.__new__(Browser)
    visits = SessionVisits()
    visits.domains = SimpleNamespace(may_fetch=lambda _visit, domain: domain == "shop.example")
    made.shared = SimpleNamespace(settings=load_settings({}), visits=visits)
    made.enclosure, made.watched, made.windows = Enclosure(), Watched(), {}
    made.room, made.lifetime = asyncio.Semaphore(2), Lifetime(100)
    made.context_wrappers, made.context_launch_lock = {}, asyncio.Lock()
    made.config = SimpleNamespace(launch_options={})
    made.stats = SimpleNamespace(inc_value=lambda *_: None)
    made.browser = SimpleNamespace(version="150.0.1", close=AsyncMock())

    async def answered(request: Request) -> HtmlResponse:
        await asyncio.sleep(0)
        return HtmlResponse(request.url, request=request)

    made._download_request = answered
    return made


def a_request(visit: Any = None, viewport: str = "desktop") -> Request:
    """For a page in a window."""
    return Request(
        URL, meta={SESSION: visit.id if visit else "", VIEWPORT: viewport, "download_slot": "shop.example"}
    )


def render(browser: Any, request: Request) -> Any:
    """What comes of it."""
    return awaited(browser.render(request))


def test_a_session_has_a_window_for_each_viewport(browser: Any) -> None:
    """Used for all of its pages; another session's is another."""
    one, two = (browser.shared.visits.add(a_visit(domain)) for domain in ("shop.example", "other.example"))
    for visit, viewport in ((one, "desktop"), (one, "mobile"), (one, "desktop"), (two, "desktop")):
        render(browser, a_request(visit, viewport))
    assert list(browser.windows) == [f"{one.id}:desktop", f"{one.id}:mobile", f"{two.id}:desktop"]
    assert len(browser.enclosure.open) == 3
    assert browser.lifetime.pages == 4
    assert browser.enclosure.open[0].did == ["begun", "cut"] * 2
    options = browser.context_options(f"{one.id}:mobile")
    assert (options["is_mobile"], options["proxy"]) == (True, {"server": "http://door-1"})


def test_a_page_that_brought_too_much_is_none(browser: Any) -> None:
    """Though an answer came."""
    visit = browser.shared.visits.add(a_visit())
    render(browser, a_request(visit))
    browser.enclosure.open[0].is_over = True
    with pytest.raises(DownloadCancelledError):
        render(browser, a_request(visit))


def test_a_session_that_has_ended_gets_no_page(browser: Any) -> None:
    """Neither one that was stopped, nor one that nobody knows."""
    stopped = browser.shared.visits.add(a_visit())
    stopped.stop(Cause.LOCK_LOST)
    for visit in (stopped, a_visit()):
        with pytest.raises(SessionStoppedError):
            render(browser, a_request(visit))
    assert browser.lifetime.pages == 0


def test_a_window_sends_only_while_somebody_looks_through_it(browser: Any) -> None:
    """While its session has its domain; a crawl by Scrapy alone has no session."""
    visit = browser.shared.visits.add(a_visit())
    seen = []

    async def answered(request: Request) -> HtmlResponse:
        await asyncio.sleep(0)
        seen.append([door.may_send() for door in browser.enclosure.open])
        return HtmlResponse(request.url, request=request)

    browser._download_request = answered
    render(browser, a_request(visit))
    browser.windows[f"{visit.id}:desktop"].domain = "elsewhere.example"
    elsewhere = a_request(visit)
    elsewhere.meta["download_slot"] = "elsewhere.example"
    render(browser, elsewhere)
    render(browser, a_request())
    assert seen == [[True], [False], [False, True]]
    assert [door.may_send() for door in browser.enclosure.open] == [False, False]
    visit.stop(Cause.LOCK_LOST)
    window = browser.windows[f"{visit.id}:desktop"]
    window.rendering, window.domain = 1, "shop.example"
    assert not window.door.may_send()


def test_windows_go_with_their_sessions(browser: Any) -> None:
    """But for one in which a page is open; a context that does not close is left."""
    visits = browser.shared.visits
    ended, busy, going_on = (visits.add(a_visit(f"{name}.example")) for name in ("a", "b", "c"))
    for visit in (ended, busy, going_on):
        render(browser, a_request(visit))
        close = AsyncMock(side_effect=Error("has been closed"))
        wrapper = SimpleNamespace(context=SimpleNamespace(close=close))
        browser.context_wrappers[f"{visit.id}:desktop"] = wrapper
    browser.windows[f"{busy.id}:desktop"].rendering = 1
    for visit in (ended, busy):
        del visits.known[visit.id], visits.running[visit.id]
    awaited(browser._sweep())
    left = [f"{visit.id}:desktop" for visit in (busy, going_on)]
    assert list(browser.windows) == list(browser.context_wrappers) == left
    assert len(browser.enclosure.open) == 2


def test_an_old_browser_goes_when_its_last_window_has(browser: Any) -> None:
    """Not before: somebody looks through it."""
    visit = browser.shared.visits.add(a_visit())
    browser.lifetime = Lifetime(1)
    render(browser, a_request(visit))
    browser.context_wrappers[f"{visit.id}:desktop"] = SimpleNamespace(
        context=SimpleNamespace(close=AsyncMock())
    )
    awaited(browser._sweep())
    assert hasattr(browser, "browser")
    browser.shared.visits.known.clear()
    awaited(browser._sweep())
    assert (hasattr(browser, "browser"), browser.lifetime.pages) == (False, 0)


# ── a browser that has rendered enough is replaced when nobody is in it ──
