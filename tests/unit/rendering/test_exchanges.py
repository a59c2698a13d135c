"""What a browser hands out becomes answers as they went over the wire, as far as that is known."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.async_api import Error
from scrapy import Request
from scrapy.http import HtmlResponse

from crawler.crawl.rendered import Rendered, remember
from crawler.rendering import exchanges
from crawler.rendering.exchanges import exchanges_of, made_of
from tests.unit.components import awaited

URL = "https://shop.example/"
UTF8 = "größe".encode()


class Message:
    """A request or an answer, as Playwright has it."""

    def __init__(self, headers: list[tuple[str, str]], **known: Any) -> None:
        self.known = headers
        self.headers = dict(known.pop("first", headers))
        self.is_slow = known.pop("is_slow", False)
        for name, value in known.items():
            setattr(self, name, value)

    async def headers_array(self) -> list[dict[str, str]]:
        """All of them, as often as they came."""
        if self.is_slow:
            await asyncio.sleep(3600)
        return [{"name": name, "value": value} for name, value in self.known]

    async def body(self) -> bytes:
        """What came, unpacked."""
        found: Any = self.__dict__["_body"]
        if isinstance(found, Exception):
            raise found
        return bytes(found)


def an_answer(body: Any = UTF8, *headers: tuple[str, str], kind: str = "document", **more: Any) -> Any:
    """An answer with its request."""
    asked = Message(
        [(":method", "GET"), ("accept", "*/*")], resource_type=kind, method="GET", post_data_buffer=None
    )
    said = list(headers) or [("Content-Type", "text/html; charset=latin-1")]
    given = {"url": URL, "status": 200, "status_text": "OK", "request": asked, "_body": body}
    return Message(said, **{**given, **more})


def found(*answers: Any, sent: bytes | None = None) -> list[Any]:
    """What becomes of a page's answers; the first is its document."""
    document = SimpleNamespace(body=sent)
    traffic: Any = SimpleNamespace(answers=answers, document=document, answer=answers[0] if answers else None)
    return awaited(exchanges_of(traffic, {"shop.example": "192.0.2.7"}))


def test_a_text_that_was_decoded_says_so() -> None:
    """It is UTF-8 now; what was kept as it was sent keeps its own charset; a picture is no text."""
    [decoded] = found(an_answer())
    assert dict(decoded.headers)[b"Content-Type"] == b"text/html; charset=utf-8"
    [as_sent] = found(an_answer(), sent="größe".encode("latin-1"))
    assert dict(as_sent.headers)[b"Content-Type"] == b"text/html; charset=latin-1"
    picture = an_answer(b"\xff", ("Content-Type", "image/png"), kind="fetch")
    assert dict(found(an_answer(), picture)[1].headers)[b"Content-Type"] == b"image/png"


def test_headers_of_packing_do_not_go_with_a_body_that_is_unpacked() -> None:
    """Nor do those of HTTP/2; others stay as often as they came."""
    headers = [
        ("content-encoding", "br"),
        ("Content-Length", "3"),
        (":status", "200"),
        ("set-cookie", "a"),
        ("set-cookie", "b"),
    ]
    [made] = found(an_answer(b"ok", *headers))
    assert made.headers == ((b"set-cookie", b"a"), (b"set-cookie", b"b"))
    assert (made.request_headers, made.ip_address) == (((b"accept", b"*/*"),), "192.0.2.7")


def test_headers_that_the_browser_tells_as_one_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line break in one would be the beginning of another, or of the body."""
    monkeypatch.setattr(exchanges, "HEADERS_SECONDS", 0.001)
    [made] = found(an_answer(b"ok", is_slow=True, first=[("set-cookie", "a=1\nb=2"), ("odd", "\ud800")]))
    assert made.headers == ((b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"odd", b"?"))


@pytest.mark.parametrize(
    ("headers", "truncated"), [([("location", "/x")], None), ([("content-type", "image/png")], "unspecified")]
)
def test_a_body_that_the_browser_let_go(headers: list[tuple[str, str]], truncated: str | None) -> None:
    """A redirect has none; of anything else it is told."""
    [made] = found(an_answer(Error("gone"), *headers))
    assert (made.body, made.truncated) == (b"", truncated)


def test_bodies_are_bounded_and_only_the_web_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of one page's together."""
    monkeypatch.setattr(exchanges, "MOST_BYTES", 5)
    made = found(an_answer(b"123"), an_answer(b"456"), an_answer(b"7"), an_answer(b"", url="blob:x"))
    assert [(each.body, each.truncated) for each in made] == [
        (b"123", None),
        (b"45", "length"),
        (b"", "length"),
    ]


def test_what_was_made_of_a_page_never_went_over_a_wire() -> None:
    """Its document as it stood, and its picture where there is one."""
    request = Request(URL)
    answer = HtmlResponse(URL, body=b"<p>", headers={"Content-Type": "text/html"}, request=request)
    assert made_of(answer) == []
    remember(request, Rendered("desktop", screenshot=b"png"))
    assert [each.body for each in made_of(answer)] == [b"<p>", b"png"]
    remember(request, Rendered("desktop"))
    assert len(made_of(answer)) == 1
