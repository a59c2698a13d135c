"""What a site asks for with Retry-After holds for every request to its domain."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Spider, signals
from scrapy.core.downloader import Slot
from scrapy.http.request import NO_CALLBACK

from crawler.middlewares.domain_gate import LEAST_DELAY
from crawler.middlewares.retry_after import RetryAfterMiddleware
from crawler.spiders.visiting import VisitingSpider
from tests.unit.components import a_request, a_visit, an_answer, awaited, crawl_parts


def delays_after(status: int, asked: str = "120", **request: Any) -> list[tuple[str, float, str]]:
    """The delays that the gate hears of."""
    parts = crawl_parts()
    asking = a_request("https://www.shop.example/", parts.visits.add(a_visit()), **request)
    answer = an_answer(asking, b"<p>hi", status, Retry_After=asked)
    assert awaited(parts.make(RetryAfterMiddleware).process_response(asking, answer)) is answer
    return parts.visits.delays


@pytest.mark.parametrize("status", [404, 500, 502, 503, 429])
@pytest.mark.parametrize("callback", [None, NO_CALLBACK])
def test_every_error_may_ask_for_a_delay(status: int, callback: Any) -> None:
    """Other processes wait for it, too; robots.txt's answer counts like a page's."""
    assert delays_after(status, callback=callback) == [("shop.example", 120.0, "Retry-After")]


def test_a_page_that_is_there_asks_for_nothing() -> None:
    """Whatever its headers say; nor does nonsense."""
    assert delays_after(200) == delays_after(503, "soon") == []


@pytest.mark.parametrize(
    ("status", "delay", "own", "waits"),
    [
        (429, 1.0, True, 5),
        (404, 3.0, True, 5),
        (503, LEAST_DELAY, True, 5),
        (200, 1.0, True, 0),
        (429, 1.0, False, 0),
    ],
)
def test_what_waits_for_its_turn_waits_longer(status: int, delay: float, *, own: bool, waits: float) -> None:
    """A spider's next request is in Scrapy's queue, and would be sent while the answer is looked at."""
    parts = crawl_parts()
    parts.crawler.spidercls = Spider if own else VisitingSpider
    slot = Slot(1, delay, 0.5)
    parts.crawler.engine = SimpleNamespace(downloader=SimpleNamespace(slots={"shop.example": slot}))
    middleware = parts.make(RetryAfterMiddleware)
    request = a_request(meta={"download_slot": "shop.example"})
    parts.crawler.signals.send_catch_log(
        signal=signals.response_downloaded, spider=None, request=request,
        response=an_answer(request, b"<p>hi", status, Retry_After="5"),
    )  # fmt: skip
    least = slot.lastseen + slot.delay / 2 - time.monotonic()
    assert waits - 1 < least <= waits if waits else slot.lastseen == 0
    assert slot.delay >= delay
    assert isinstance(middleware, RetryAfterMiddleware)  # the signals do not hold it
