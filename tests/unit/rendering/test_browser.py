"""Windows: one for each session and viewport, silent unless its session holds the domain, closed with it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from playwright.async_api import Error
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError
from scrapy.http import HtmlResponse

from crawler.capture.failures import Cause
from crawler.config import load_settings
from crawler.crawl.answers import SessionStoppedError
from crawler.crawl.context import SESSION, VIEWPORT
from crawler.crawl.rendered import Rendered, remember, rendered_in
from crawler.rendering.browser import Browser, Lifetime
from crawler.rendering.traffic import Watched
from tests.unit.components import Visits, a_visit, awaited


class SessionVisits(Visits):
    """Visits that hold one domain."""

    domains: Any = SimpleNamespace(may_fetch=lambda _visit, domain: domain == "shop.example")


class Enclosure:
    """Opens doors, and knows which are open."""

    def __init__(self) -> None:
        self.open: list[Any] = []

    async def open_door(self, may_send: Any, _most: int) -> Any:
        """One more."""
        door = Mock(url=f"http://door-{len(self.open)}", may_send=may_send, is_over=False, troubles={})
        self.open.append(door)
        return door

    async def close_door(self, door: Any) -> None:
        """One less."""
        self.open.remove(door)


@pytest.fixture
def browser() -> Any:
    """One whose pages are answered by the test."""
    made: Any = Browser.__new__(Browser)
    made.shared = SimpleNamespace(settings=load_settings({}), visits=SessionVisits())
    made.enclosure, made.watched, made.windows = Enclosure(), Watched(), {}
    made.room, made.lifetime = asyncio.Semaphore(2), Lifetime(100)
    made.context_wrappers, made.context_launch_lock = {}, asyncio.Lock()
    made.config, made.stats = SimpleNamespace(launch_options={}), Mock()
    made.browser = SimpleNamespace(version="150.0.1", close=AsyncMock())
    made._download_request = AsyncMock(side_effect=lambda asked: HtmlResponse(asked.url, request=asked))
    return made


def a_request(visit: Any = None, viewport: str = "desktop", domain: str = "shop.example") -> Request:
    """For a page in a window."""
    meta = {SESSION: visit.id if visit else "", VIEWPORT: viewport, "download_slot": domain}
    return Request("https://shop.example/", meta=meta)


def render(browser: Any, request: Request) -> Any:
    """What comes of it."""
    return awaited(browser.render(request))


async def told(browser: Any, event: str) -> None:
    """Let it hear of something that the visits tell."""
    browser._heard(event, id="any")
    await browser.lifetime.settle()


def test_a_session_has_a_window_for_each_viewport(browser: Any) -> None:
    """Used for all of its pages, and with a way out of its own; another session's is another."""
    one, two = (browser.shared.visits.add(a_visit(domain)) for domain in ("shop.example", "other.example"))
    for visit, viewport in ((one, "desktop"), (one, "mobile"), (one, "desktop"), (two, "desktop")):
        request = a_request(visit, viewport)
        remember(request, Rendered("desktop", screenshot=b"of an earlier attempt"))
        assert rendered_in(render(browser, request)) is None
    assert list(browser.windows) == [f"{one.id}:desktop", f"{one.id}:mobile", f"{two.id}:desktop"]
    assert len(browser.enclosure.open) == 3
    options = browser.context_options(f"{one.id}:mobile")
    assert (options["is_mobile"], options["proxy"]) == (True, {"server": "http://door-1"})


def test_a_page_that_fails_or_brings_too_much_is_an_error_of_scrapys(browser: Any) -> None:
    """And its window is cut off from the network."""
    visit = browser.shared.visits.add(a_visit())
    render(browser, a_request(visit))
    [door] = browser.enclosure.open
    door.is_over = True
    with pytest.raises(DownloadCancelledError):
        render(browser, a_request(visit))
    door.is_over = False
    browser._download_request.side_effect = TimeoutError()
    with pytest.raises(DownloadTimeoutError):
        render(browser, a_request(visit))
    assert door.cut.call_count == door.begin_page.call_count == 3
    assert not door.may_send()


def test_a_session_that_has_ended_gets_no_page(browser: Any) -> None:
    """Neither one that was stopped, nor one that nobody knows."""
    stopped = browser.shared.visits.add(a_visit())
    stopped.stop(Cause.LOCK_LOST)
    for visit in (stopped, a_visit()):
        with pytest.raises(SessionStoppedError):
            render(browser, a_request(visit))
    assert not browser._download_request.called


def test_a_window_sends_only_while_a_page_of_its_domain_is_open_in_it(browser: Any) -> None:
    """And its session has not lost the domain meanwhile; a crawl by Scrapy alone has no session."""
    visit, seen = browser.shared.visits.add(a_visit()), []

    def answered(asked: Request) -> HtmlResponse:
        seen.append([door.may_send() for door in browser.enclosure.open])
        if asked.meta.get("stops"):
            visit.stop(Cause.LOCK_LOST)
            seen.append([door.may_send() for door in browser.enclosure.open])
        return HtmlResponse(asked.url, request=asked)

    browser._download_request.side_effect = answered
    for request in (a_request(visit), a_request(visit, domain="elsewhere.example"), a_request()):
        render(browser, request)
    assert seen == [[True], [False], [False, True]]
    assert [door.may_send() for door in browser.enclosure.open] == [False, False]
    last = a_request(visit)
    last.meta["stops"] = True
    render(browser, last)
    assert seen[3:] == [[True, False], [False, False]]


def test_windows_are_closed_with_their_sessions(browser: Any) -> None:
    """But for one in which a page is open; a context that does not close is left."""
    visits = browser.shared.visits
    ended, busy, going_on = (visits.add(a_visit(f"{name}.example")) for name in ("a", "b", "c"))
    for visit in (ended, busy, going_on):
        render(browser, a_request(visit))
        context = SimpleNamespace(close=AsyncMock(side_effect=Error("has been closed")))
        browser.context_wrappers[f"{visit.id}:desktop"] = SimpleNamespace(context=context)
    browser.windows[f"{busy.id}:desktop"].rendering = 1
    for visit in (ended, busy):
        del visits.known[visit.id], visits.running[visit.id]
    awaited(told(browser, "ended"))
    left = [f"{visit.id}:desktop" for visit in (busy, going_on)]
    assert list(browser.windows) == list(browser.context_wrappers) == left
    assert len(browser.enclosure.open) == 2


def test_an_old_browser_is_replaced_once_its_last_window_is_closed(browser: Any) -> None:
    """Not before: somebody looks through it."""
    visit = browser.shared.visits.add(a_visit())
    browser.lifetime = Lifetime(1)
    render(browser, a_request(visit))
    context = SimpleNamespace(close=AsyncMock())
    browser.context_wrappers[f"{visit.id}:desktop"] = SimpleNamespace(context=context)
    awaited(told(browser, "ended"))
    assert hasattr(browser, "browser")
    browser.shared.visits.known.clear()
    awaited(told(browser, "ended"))
    assert (hasattr(browser, "browser"), browser.lifetime.pages) == (False, 0)


def test_a_session_waits_for_an_old_browser_to_be_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it has ended itself; a young browser takes everybody."""
    monkeypatch.setattr("crawler.rendering.browser.LOOK_SECONDS", 0)
    looks = iter([True, True, False])
    awaited(Lifetime(2, pages=1).admit(lambda: True, lambda: True))
    awaited(Lifetime(2, pages=2).admit(lambda: next(looks), lambda: True))
    assert next(looks, None) is None
    awaited(Lifetime(2, pages=2).admit(lambda: True, lambda: False))
