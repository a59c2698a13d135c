"""What is made of a page that a browser shows: evidence, doubts, and whatever goes wrong on the way."""

from __future__ import annotations

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
from crawler.crawl.rendered import rendered_in
from crawler.rendering.sight import Sight, seen
from crawler.rendering.traffic import Bounds, Traffic
from crawler.rendering.viewports import DESKTOP
from tests.unit.components import a_visit, awaited

URL = "https://shop.example/"
GONE = Error("Target page, context or browser has been closed")
FOUND = {
    "size": 12, "html": "<h1>Größe</h1>", "text": "Größe", "charset": "windows-1252", "height": 900,
    "timings": {"load_ms": 7, "first_byte_ms": None},
}  # fmt: skip


@pytest.fixture(autouse=True)  # ruff: ignore[pytest-fixture-autouse] - no test here waits
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are quiet at once, and have no popups."""
    nothing = AsyncMock(return_value=())
    for name in (
        "waiting.until_quiet",
        "waiting.scroll_through",
        "Dismisser.clear",
        "Dismisser.hide_overlays",
    ):
        monkeypatch.setattr(f"crawler.rendering.sight.{name}", nothing)


def sight_of(found: Any, shot: Any = b"no picture") -> Sight:
    """Somebody who looks at a page with this evidence, which may be an error."""
    headers = {"content-type": "text/html", "content-encoding": "br", "content-length": "3", "x-a": "b"}
    answer = SimpleNamespace(status=200, headers=headers, body=AsyncMock(return_value=b"<p>sent"))
    page: Any = SimpleNamespace(
        goto=AsyncMock(return_value=answer), evaluate=AsyncMock(side_effect=[found]),
        screenshot=AsyncMock(side_effect=[shot]), context=SimpleNamespace(add_cookies=AsyncMock()),
        url=URL, frames=[],
    )  # fmt: skip
    traffic = Traffic(Bounds(100, 1000, blocks_media=True), URL)
    return Sight(page, traffic, load_settings({}), a_visit(), DESKTOP)


def look(sight: Sight) -> Any:
    """What comes of a page."""
    return awaited(seen(Request(URL), sight))


def test_a_page_comes_with_its_evidence() -> None:
    """In its own encoding; headers say of the body what is so."""
    sight = sight_of(FOUND)
    sight.traffic.document.body = b"<p>to the byte"
    answer = look(sight)
    assert (answer.body, answer.encoding) == ("<h1>Größe</h1>".encode("cp1252"), "windows-1252")
    assert answer.headers["Content-Type"] == b"text/html; charset=windows-1252"
    assert [name in answer.headers for name in ("Content-Encoding", "Content-Length", "X-A")] == [
        False, False, True,
    ]  # fmt: skip
    rendered = rendered_in(answer)
    assert rendered is not None
    assert (rendered.text, rendered.sent) == ("Größe".encode(), b"<p>to the byte")
    assert rendered.timings.keys() == {"load_ms", "render_ms", "requests"}


@pytest.mark.parametrize(
    ("charset", "expected"),
    [
        ("UTF-8", "utf-8"), ("Shift_JIS", "utf-8"), ("gb18030", "gb18030"), ("windows-9999", "utf-8"),
        ("undefined", "utf-8"), ("idna", "utf-8"), ("punycode", "utf-8"), ("a\0b", "utf-8"), ("", "utf-8"),
        ("utf-8\r\nSet-Cookie: x", "utf-8"), ("utf-8\n", "utf-8"), ("x" * 100_000, "utf-8"),
    ],
)  # fmt: skip
def test_only_what_browsers_know_is_an_encoding(charset: str, expected: str) -> None:
    """A page's script may have written the name: it ends no visit, and no header."""
    answer = look(sight_of({**FOUND, "html": "Größe", "charset": charset}))
    assert answer.body == "Größe".encode(expected)
    assert answer.headers["Content-Type"].decode().lower() == f"text/html; charset={expected}"


def test_half_a_character_is_no_error() -> None:
    """Scripts make them."""
    assert look(sight_of({**FOUND, "html": "a\ud800", "charset": "utf-8"})).body == b"a?"


def test_why_a_page_was_closed_says_more_than_that_it_is() -> None:
    """A session that ended, and a page that brought too much."""
    ended = sight_of(GONE)
    assert ended.visit is not None
    ended.visit.stop(Cause.LOCK_LOST)
    with pytest.raises(SessionStoppedError):
        look(ended)
    large = sight_of(GONE)
    large.traffic.received = 10**9
    with pytest.raises(DownloadCancelledError):
        look(large)
    with pytest.raises(Error, match="has been closed"):
        look(sight_of(GONE))


def test_a_page_that_grew_beyond_all_bounds_is_given_up() -> None:
    """Its script says how large it is, and does not hand it over."""
    with pytest.raises(DownloadCancelledError):
        look(sight_of({"size": 10**9}))


@pytest.mark.parametrize(
    ("shot", "doubt"),
    [(Error("Timeout 30000ms exceeded"), "screenshot_failed"), (b"", "screenshot_blank")],
)
def test_a_picture_that_fails_or_shows_nothing_is_a_doubt(shot: Any, doubt: str) -> None:
    """The page is kept all the same."""
    rendered = rendered_in(look(sight_of(FOUND, shot)))
    assert rendered is not None
    assert rendered.doubts == (doubt,)


def test_a_spiders_own_meta_of_that_name_is_no_evidence() -> None:
    """Whatever it keeps there."""
    request = Request(URL, meta={"rendered": True})
    assert rendered_in(HtmlResponse(URL, request=request)) is None
