"""When a page is tried again, for how long, and who hears of it (SPEC F146-148)."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.http.request import NO_CALLBACK

from crawler.capture.failures import Cause
from crawler.crawl.answers import BadRequestUrlError
from crawler.leases.backoff import Backoff
from crawler.middlewares import navigation
from crawler.middlewares.navigation import ATTEMPT, ATTEMPTS_ALLOWED, BEGUN, RELOADED, NavigationMiddleware
from crawler.spiders.visiting import VisitingSpider
from tests.unit.components import a_request, a_visit, an_answer, awaited, crawl_parts, lines_of

if TYPE_CHECKING:
    from scrapy import Request

    from tests.unit.components import Parts

CAPTCHA = b"<html><body><h1>Attention required</h1></body></html>"


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Parts:
    """A crawl that waits for nothing."""
    monkeypatch.setattr(navigation, "BACKOFF", Backoff(0))
    monkeypatch.setattr(navigation, "RELOAD_AFTER_SECONDS", 0.0)
    parts = crawl_parts()
    parts.crawler.spidercls = VisitingSpider
    return parts


def judged(parts: Parts, request: Request, status: int = 200, body: bytes = b"<p>hi", **headers: str) -> Any:
    """What becomes of an answer."""
    middleware = parts.make(NavigationMiddleware)
    return awaited(middleware.process_response(request, an_answer(request, body, status, **headers)))


def failed(parts: Parts, request: Request, error: Exception) -> Any:
    """What becomes of a request that failed."""
    return awaited(parts.make(NavigationMiddleware).process_exception(request, error))


@pytest.mark.parametrize("status", [200, 404, 410, 500, 502])
def test_an_answer_is_passed_on(parts: Parts, status: int) -> None:
    """Whatever it is worth; trying again would not help."""
    answer = judged(parts, a_request(), status)
    assert answer.status == status


@pytest.mark.parametrize(("status", "is_robots"), [(404, False), (503, False), (429, True)])
def test_a_session_waits_as_long_as_its_site_asks(parts: Parts, status: int, *, is_robots: bool) -> None:
    """Whether that page is tried again or not; robots.txt's answer counts like a page's."""
    visit = parts.visits.add(a_visit())
    request = a_request(visit=visit, callback=NO_CALLBACK if is_robots else None)
    began = time.monotonic()
    answer = judged(parts, request, status, Retry_After="1")
    assert time.monotonic() - began >= 1
    assert hasattr(answer, "status") == (is_robots or status not in {503, 429})


@pytest.mark.parametrize("location", ["file:///etc/passwd", "FTP://shop.example/x", "data:text/html,hi"])
def test_a_redirect_out_of_the_web_is_a_bad_url(parts: Parts, location: str) -> None:
    """Scrapy leaves it as it is, and nobody could say what was wrong with the page."""
    with pytest.raises(BadRequestUrlError, match="redirected to a"):
        judged(parts, a_request(), 302, Location=location)


@pytest.mark.parametrize(
    ("status", "reason"), [(403, "status_403_503"), (503, "status_403_503"), (429, "status_429")]
)
def test_a_page_that_keeps_us_out_is_tried_three_times(parts: Parts, status: int, reason: str) -> None:
    """Then its last answer is what there is."""
    visit = parts.visits.add(a_visit())
    second = judged(parts, a_request(visit=visit), status)
    third = judged(parts, second, status)
    assert [again.meta[ATTEMPT] for again in (second, third)] == [2, 3]
    assert all(again.dont_filter for again in (second, third))
    assert judged(parts, third, status).status == status
    events = [(event, details["reason"], details["attempt"]) for event, details in lines_of(visit)]
    assert events == [
        ("navigation.retry", reason, 1), ("navigation.retry", reason, 2), ("navigation.gave_up", reason, 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DownloadTimeoutError("30 s"), "navigation_timeout"),
        (DownloadConnectionRefusedError("no"), "net_err"),
        (CannotResolveHostError("no"), "net_err"),
    ],
)
def test_a_failed_connection_is_tried_again(parts: Parts, error: Exception, reason: str) -> None:
    """And told with what it was."""
    visit = parts.visits.add(a_visit())
    assert failed(parts, a_request(visit=visit), error).meta[ATTEMPT] == 2
    [(event, details)] = lines_of(visit)
    assert (event, details["reason"], details["error"]) == ("navigation.retry", reason, type(error).__name__)


def test_what_was_refused_is_not_tried_again(parts: Parts) -> None:
    """Nor robots.txt, which the next request asks for again."""
    assert failed(parts, a_request(), IgnoreRequest("Forbidden by robots.txt")) is None
    robots = a_request("https://shop.example/robots.txt", callback=NO_CALLBACK)
    assert failed(parts, robots, DownloadTimeoutError("30 s")) is None
    assert judged(parts, robots, 503).status == 503


def test_a_task_has_one_attempt_a_lease(parts: Parts) -> None:
    """Its further attempts are the run's business."""
    request = a_request(meta={ATTEMPTS_ALLOWED: 1})
    assert judged(parts, request, 503).status == 503
    assert failed(parts, request, DownloadTimeoutError("30 s")) is None
    assert judged(parts, request, body=CAPTCHA).status == 200


def test_a_page_has_ninety_seconds_for_all_its_attempts(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its clock starts with the first of them, and is not set back by a redirect."""
    now = SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(navigation, "time", now)
    middleware = parts.make(NavigationMiddleware)
    request, later = a_request(), a_request()
    awaited(middleware.process_request(request))
    now.monotonic = lambda: 1091.0
    awaited(middleware.process_request(request))
    awaited(middleware.process_request(later))
    assert (request.meta[BEGUN], later.meta[BEGUN]) == (1000.0, 1091.0)
    assert judged(parts, request, 503).status == 503
    assert judged(parts, later, 503).meta[ATTEMPT] == 2


def test_a_pause_longer_than_a_page_has_is_not_waited_for(parts: Parts) -> None:
    """The page is not tried again."""
    assert judged(parts, a_request("https://www.shop.example/"), 429, Retry_After="120").status == 429


def test_a_bot_block_is_loaded_once_more(parts: Parts) -> None:
    """A second one is an answer."""
    visit = parts.visits.add(a_visit())
    again = judged(parts, a_request(visit=visit), body=CAPTCHA)
    assert again.meta[RELOADED] is True
    assert judged(parts, again, body=CAPTCHA).body == CAPTCHA
    assert [event for event, _ in lines_of(visit)] == ["navigation.reload"]


@pytest.mark.parametrize("how", ["visit stopped", "shutting down", "spider closing"])
def test_nobody_waits_for_an_attempt_that_would_be_in_vain(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The end of the session or of the crawl cuts the wait short."""
    monkeypatch.setattr(navigation, "BACKOFF", Backoff(30))
    visit = parts.visits.add(a_visit())
    if how == "visit stopped":
        visit.stop(Cause.LOCK_LOST)
    elif how == "shutting down":
        parts.crawler.engine.running = False
    else:
        parts.crawler.engine._slot.closing = object()
    assert judged(parts, a_request(visit=visit), 503).status == 503
