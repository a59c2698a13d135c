"""A page is rendered only where it is asked for in a viewport, and while its session holds its domain."""

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


class Crawl:
    """Stands for a crawler, as far as it is a key."""


def test_a_page_is_rendered_only_while_its_session_holds_its_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked right before; plain requests never come near a browser."""
    browsers: Any = handler._browsers
    render = AsyncMock(return_value="rendered")
    found: Any = RenderingHandler.__new__(RenderingHandler)
    found._crawler = crawl = Crawl()
    monkeypatch.setitem(browsers, crawl, type("Browser", (), {"render": render}))
    monkeypatch.setattr(GuardedHandler, "download_request", AsyncMock(return_value="plain"))
    holds = [True, False]

    def require_lock(_self: object, _request: Request) -> None:
        if not holds.pop(0):
            raise SessionStoppedError("lost")

    monkeypatch.setattr(GuardedHandler, "require_lock", require_lock)
    plain = Request("https://shop.example/")
    in_browser = plain.replace(meta={VIEWPORT: "desktop"})
    assert [awaited(found.download_request(each)) for each in (plain, in_browser)] == ["plain", "rendered"]
    with pytest.raises(SessionStoppedError):
        awaited(found.download_request(in_browser))
    assert render.await_count == 1
