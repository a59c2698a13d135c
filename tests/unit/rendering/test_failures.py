"""What a browser's failures mean: to the crawl, and to who takes evidence."""

from __future__ import annotations

import pytest
from attrs import evolve
from playwright.async_api import Error
from playwright.async_api import TimeoutError as PageTimeoutError

from crawler.capture.failures import Cause
from crawler.crawl.answers import cause_of_error
from crawler.middlewares.navigation import RETRYABLE
from crawler.rendering.enclosure import Door, Trouble
from crawler.rendering.failures import NoBrowserError, NoPageError, Transient, as_scrapys, why_transient

URL = "https://shop.example/a"
CLOSED = "Target page, context or browser has been closed"


def meant(error: Exception, trouble: Trouble | None = None, **door: int) -> tuple[Cause, bool]:
    """The cause of a page that failed so, and whether it is tried again."""
    door_of = evolve(Door(lambda: True, 100), received=door.get("received", 0))
    if trouble is not None:
        door_of.note("shop.example", trouble, "said so")
    failure = as_scrapys(error, door_of, URL)
    return cause_of_error(failure), isinstance(failure, RETRYABLE)


@pytest.mark.parametrize(
    ("error", "trouble", "expected"),
    [
        (PageTimeoutError("Timeout 30000ms exceeded"), None, (Cause.TIMEOUT, True)),
        (TimeoutError(), None, (Cause.TIMEOUT, True)),
        (Error("net::ERR_CONNECTION_RESET"), None, (Cause.CONNECTION_FAILED, True)),
        (Error("Page crashed"), None, (Cause.CONNECTION_FAILED, True)),
        (Error(CLOSED), None, (Cause.CONNECTION_FAILED, True)),
        (Error("net::ERR_EMPTY_RESPONSE"), Trouble.REFUSED, (Cause.EGRESS_REFUSED, False)),
        (Error("net::ERR_TUNNEL_CONNECTION_FAILED"), Trouble.UNKNOWN, (Cause.UNKNOWN_HOST, True)),
        (Error("net::ERR_EMPTY_RESPONSE"), Trouble.UNREACHABLE, (Cause.CONNECTION_FAILED, True)),
        (Error("net::ERR_EMPTY_RESPONSE"), Trouble.TOO_SLOW, (Cause.TIMEOUT, True)),
        (Error("net::ERR_EMPTY_RESPONSE"), Trouble.CLOSED, (Cause.INTERRUPTED, False)),
    ],
)
def test_a_page_that_could_not_be_rendered_fails_as_any_other(
    error: Exception, trouble: Trouble | None, expected: tuple[Cause, bool]
) -> None:
    """What the enclosure knows says more than what the browser says; what may pass is asked again."""
    assert meant(error, trouble) == expected


def test_a_page_that_brought_too_much_is_too_large() -> None:
    """Whatever the browser makes of it."""
    assert meant(Error("net::ERR_EMPTY_RESPONSE"), received=101) == (Cause.TOO_LARGE, False)


def test_what_is_no_page_and_what_has_no_browser_say_so() -> None:
    """Neither is tried again."""
    assert cause_of_error(NoPageError("a file")) is Cause.NOT_HTML
    assert cause_of_error(NoBrowserError("none")) is Cause.NO_BROWSER
    assert not [kind for kind in (NoPageError, NoBrowserError) if issubclass(kind, RETRYABLE)]


@pytest.mark.parametrize(
    ("said", "transient"),
    [
        ("Page.evaluate: Execution context was destroyed, most likely because of a navigation",
         Transient.CONTEXT_DESTROYED),
        (f"Page.evaluate: {CLOSED}", Transient.TARGET_CLOSED),
        ("Page.screenshot: Target crashed", Transient.TARGET_CLOSED),
        ('Navigation to "a" is interrupted by another navigation to "b"', Transient.NAVIGATION),
        ("Unable to retrieve content because the page is navigating and changing the content.",
         Transient.NAVIGATION),
        ("Frame was detached", Transient.NAVIGATION),
        ("Page.evaluate: TypeError: x is not a function", None),
        ("net::ERR_FAILED", None),
    ],
)  # fmt: skip
def test_three_errors_pass(said: str, transient: Transient | None) -> None:
    """And no others (SPEC F149)."""
    assert why_transient(Error(said)) is transient
