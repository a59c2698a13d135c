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
from crawler.rendering.sight import Sight, _encoded, seen
from crawler.rendering.traffic import Bounds, Traffic
from crawler.rendering.viewports import DESKTOP
from tests.unit.components import a_visit, awaited

URL = "https://shop.example/"
GONE = Error("Target page, context or browser has been closed")
FOUND = {
    "size": 12, "html": "<h1>Größe</h1>", "text": "Größe", "charset": "windows-1252", "height": 900,
    "timings": {"load_ms": 7, "first_byte_ms": None},
}  # fmt: skip


class Answer:
    """A document's answer."""

    def __init__(self, status: int = 200, kind: str = "text/html", body: Any = b"<p>sent") -> None:
        self.status, self._body = status, body
        self.headers = {"content-type": kind, "content-encoding": "br", "content-length": "3", "x-a": "b"}

    async def body(self) -> bytes:
        """What was sent."""
        if isinstance(self._body, Exception):
            raise self._body
        return bytes(self._body)


class Page:
    """A page that gives what it is told to; an error in a list is raised."""

    def __init__(self, *found: Any, answer: Any = None, shot: Any = b"no picture") -> None:
        self.found, self.answer, self.shot = list(found), answer or Answer(), shot
        self.clip: Any = None
        self.context = SimpleNamespace(add_cookies=self._nothing)
        self.url, self.frames = URL, list[Any]()

    async def _nothing(self, *_: Any) -> None:
        """Done."""

    async def goto(self, *_: Any, **__: Any) -> Any:
        """Go there."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return None if self.answer == "nothing" else self.answer

    async def evaluate(self, _script: str, _limit: Any = None) -> Any:
        """Its next evidence."""
        found = self.found.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def screenshot(self, **options: Any) -> Any:
        """Its picture."""
        self.clip = options["clip"]
        if isinstance(self.shot, Exception):
            raise self.shot
        return self.shot


@pytest.fixture(autouse=True)  # ruff: ignore[pytest-fixture-autouse] - no test here waits
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are quiet at once, and have no popups."""
    nothing = AsyncMock(return_value=())
    for name in ("until_quiet", "scroll_through"):
        monkeypatch.setattr(f"crawler.rendering.sight.waiting.{name}", nothing)
    for name in ("clear", "hide_overlays"):
        monkeypatch.setattr(f"crawler.rendering.sight.Dismisser.{name}", nothing)


def sight_of(page: Page, **settings: Any) -> Sight:
    """Somebody who looks at it."""
    traffic = Traffic(Bounds(100, 1000, blocks_media=True), URL)
    made: Any = page
    return Sight(made, traffic, load_settings(settings), a_visit(), DESKTOP)


def look(page: Page, sight: Sight | None = None, **settings: Any) -> tuple[Request, Any]:
    """What comes of a page."""
    request = Request(URL)
    answer = awaited(seen(request, sight or sight_of(page, **settings)))
    return request, answer


def test_a_page_comes_with_its_evidence() -> None:
    """In its own encoding; headers say of the body what is so."""
    page = Page(FOUND)
    sight = sight_of(page)
    sight.traffic.document.body = b"<p>to the byte"
    request, answer = look(page, sight)
    assert isinstance(answer, HtmlResponse)
    assert (answer.body, answer.encoding, answer.flags) == (
        "<h1>Größe</h1>".encode("cp1252"),
        "windows-1252",
        ["rendered"],
    )
    assert answer.headers["Content-Type"] == b"text/html; charset=windows-1252"
    assert [name in answer.headers for name in ("Content-Encoding", "Content-Length", "X-A")] == [
        False,
        False,
        True,
    ]
    rendered = rendered_in(answer)
    assert rendered is not None
    assert (rendered.text, rendered.sent, rendered.sent_charset) == (
        "Größe".encode(),
        b"<p>to the byte",
        "windows-1252",
    )
    assert rendered.timings.keys() == {"load_ms", "render_ms", "requests"}
    assert request.meta["download_latency"] >= 0


@pytest.mark.parametrize(
    ("charset", "expected"),
    [
        ("UTF-8", "UTF-8"), ("Shift_JIS", "utf-8"), ("gb18030", "gb18030"), ("windows-9999", "utf-8"),
        ("undefined", "utf-8"), ("idna", "utf-8"), ("punycode", "utf-8"), ("a\0b", "utf-8"), ("", "utf-8"),
        ("utf-8\r\nSet-Cookie: x", "utf-8"), ("utf-8\n", "utf-8"), ("x" * 100_000, "utf-8"),
    ],
)  # fmt: skip
def test_only_what_browsers_know_is_an_encoding(charset: str, expected: str) -> None:
    """A page's script may have written the name: it ends no visit, and no header."""
    assert _encoded("Größe", charset) == ("Größe".encode(expected), expected)


def test_why_a_page_was_closed_says_more_than_that_it_is() -> None:
    """A session that ended, and a page that brought too much."""
    ended = sight_of(page := Page(GONE))
    assert ended.visit is not None
    ended.visit.stop(Cause.LOCK_LOST)
    with pytest.raises(SessionStoppedError):
        look(page, ended)
    large = sight_of(page := Page(GONE))
    large.traffic.received = 10**9
    with pytest.raises(DownloadCancelledError):
        look(page, large)
    with pytest.raises(Error, match="has been closed"):
        look(Page(GONE))


def test_a_page_that_grew_beyond_all_bounds_is_given_up() -> None:
    """Its script says how large it is, and does not hand it over."""
    with pytest.raises(DownloadCancelledError):
        look(Page({"size": 10**9}))


def test_a_picture_that_fails_is_a_doubt() -> None:
    """So is one with nothing on it."""
    for shot, doubt in ((Error("Timeout 30000ms exceeded"), "screenshot_failed"), (b"", "screenshot_blank")):
        _, answer = look(Page(FOUND, shot=shot))
        rendered = rendered_in(answer)
        assert rendered is not None
        assert rendered.doubts == (doubt,)
