"""Plain requests go the guarded way; rendered ones are asked about first; a browser ends with its crawl."""

from __future__ import annotations

from typing import Any
from unittest.mock import AsyncMock

import pytest
from scrapy import Request

from crawler.crawl.answers import SessionStoppedError
from crawler.crawl.context import VIEWPORT
from crawler.middlewares.egress import GuardedHandler
from crawler.rendering import handler
from crawler.rendering.handler import RenderingHandler
from tests.unit.components import awaited

URL = "https://shop.example/"


class Crawl:
    """Stands for a crawler, as far as it is a key."""


class Browser:
    """Renders nothing; remembers what it was asked for."""

    def __init__(self) -> None:
        self.did: list[str] = []

    async def render(self, request: Request) -> str:
        """A page."""
        self.did.append(request.url)
        return "rendered"

    async def end(self) -> None:
        """It is over."""
        self.did.append("ended")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Browser]:
    """A handler of a crawl that has a browser."""
    browsers: Any = handler._browsers
    crawl, browser = Crawl(), Browser()
    found: Any = RenderingHandler.__new__(RenderingHandler)
    found._crawler = crawl
    monkeypatch.setitem(browsers, crawl, browser)

    monkeypatch.setattr(GuardedHandler, "download_request", AsyncMock(return_value="plain"))
    monkeypatch.setattr(GuardedHandler, "close", AsyncMock())
    monkeypatch.setattr(GuardedHandler, "require_lock", lambda _self, _request: None)
    return found, browser


def test_only_what_has_a_window_is_rendered(made: tuple[Any, Browser]) -> None:
    """Everything else never comes near a browser."""
    found, browser = made
    assert awaited(found.download_request(Request(URL))) == "plain"
    assert browser.did == []
    assert awaited(found.download_request(Request(URL, meta={VIEWPORT: "desktop"}))) == "rendered"
    assert browser.did == [URL]


def test_a_session_that_lost_its_domain_is_not_rendered(
    made: tuple[Any, Browser], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked right before."""
    found, browser = made

    def lost(_self: object, _request: Request) -> None:
        raise SessionStoppedError("lost")

    monkeypatch.setattr(GuardedHandler, "require_lock", lost)
    with pytest.raises(SessionStoppedError):
        awaited(found.download_request(Request(URL, meta={VIEWPORT: "desktop"})))
    assert browser.did == []


def test_the_browser_ends_once(made: tuple[Any, Browser]) -> None:
    """Though there is a handler for each scheme."""
    found, browser = made
    awaited(found.close())
    awaited(found.close())
    assert browser.did == ["ended"]
