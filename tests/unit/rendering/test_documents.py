"""A page's document goes where it was sent, and is kept as it came."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, cast

import pytest
from playwright.async_api import Error

from crawler.rendering.documents import MOST_RELOADS, PIECE_BYTES, MainDocument, _is_short
from tests.unit.components import awaited

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

URL = "https://shop.example/a?b=1"
MAIN = "the main frame"
LATIN = "<p>Größe</p>".encode("latin-1")
PDF = {"name": "content-type", "value": "application/pdf"}
KEPT = {"name": "Content-Disposition", "value": "attachment"}
HTML = {"name": "Content-Type", "value": "text/html; charset=iso-8859-1"}


class Session:
    """Stands for the browser's side of a page."""

    def __init__(self, body: bytes | None = b"") -> None:
        self.body = body
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def send(self, method: str, told: dict[str, Any]) -> dict[str, Any]:
        """Note what is answered, and hand out the body in pieces."""
        if method == "Fetch.takeResponseBodyAsStream":
            if self.body is None:
                raise Error("there is none")
            return {"stream": "s"}
        if method == "IO.read":
            piece, self.body = (self.body or b"")[: told["size"]], (self.body or b"")[told["size"] :]
            return {"data": b64encode(piece).decode(), "base64Encoded": True, "eof": not self.body}
        if method != "IO.close":
            self.sent.append((method, told))
        return {}


def judged(
    document: MainDocument, url: str = URL, frame: str = MAIN, body: bytes | None = b"", **event: Any
) -> tuple[str, dict[str, Any]]:
    """What is answered when a document is asked for, or has come."""
    session = Session(body)
    asked = {"requestId": "1", "request": {"url": url}, "frameId": frame, **event}
    awaited(document.judge(cast("CDPSession", session), MAIN, asked))
    [answer] = session.sent
    return answer


def asked(document: MainDocument, url: str, *, frame: str = MAIN, redirected: bool = False) -> str:
    """What is answered when a document is asked for."""
    event: dict[str, Any] = {"redirectedRequestId": "0"} if redirected else {}
    method, told = judged(document, url, frame, **event)
    return "goes" if method == "Fetch.continueRequest" else str(told["errorReason"])


def a_document() -> MainDocument:
    """Of a page that has asked for nothing yet."""
    return MainDocument(URL, most_bytes=3 * PIECE_BYTES)


def test_a_document_goes_where_it_was_sent_and_nowhere_else() -> None:
    """Its first request, its frames, itself again twice; anything else is taken down for the crawl."""
    document = a_document()
    assert asked(document, URL) == "goes"
    document.is_there = True
    assert asked(document, "https://other.example/frame", frame="another") == "goes"
    assert document.led_to is None
    assert [asked(document, f"{URL}#part") for _ in range(MOST_RELOADS + 1)] == ["goes"] * MOST_RELOADS + [
        "Aborted"
    ]
    document = a_document()
    document.is_there = True
    assert asked(document, "https://shop.example/c") == "Aborted"
    assert asked(document, "https://shop.example/d") == "Aborted"
    assert document.led_to == "https://shop.example/c"  # the first


@pytest.mark.parametrize("url", [URL, "http://169.254.169.254/", "https://www.shop.example/a?b=1"])
def test_a_redirect_is_never_followed_in_the_browser(url: str) -> None:
    """Gate, robots.txt and egress rule are asked about it first."""
    document = a_document()
    assert asked(document, url, redirected=True) == "Aborted"
    assert document.led_to == url


def test_a_document_is_kept_as_it_was_sent() -> None:
    """To the byte; the browser gets the same, without the headers that speak of its packing."""
    document, body = a_document(), LATIN * (PIECE_BYTES // len(LATIN) + 1)
    packed = [{"name": "content-encoding", "value": "br"}, {"name": "Content-Length", "value": "7"}]
    cookies = [{"name": "Set-Cookie", "value": "a=1"}, {"name": "Set-Cookie", "value": "b=2"}]
    method, told = judged(
        document, body=body, responseStatusCode=404, responseHeaders=[HTML, *packed, *cookies],
        responseStatusText="Gone fishing",
    )  # fmt: skip
    assert document.body == body
    assert (method, told["responseCode"], told["responsePhrase"]) == (
        "Fetch.fulfillRequest",
        404,
        "Gone fishing",
    )
    assert told["responseHeaders"] == [HTML, *cookies]
    assert b64decode(told["body"]) == body


@pytest.mark.parametrize(
    "event",
    [
        {"responseStatusCode": 302, "responseHeaders": [HTML]},
        {"responseErrorReason": "ConnectionRefused"},
        {"responseStatusCode": 200, "responseHeaders": []},
        {"responseStatusCode": 200, "responseHeaders": [PDF]},
        {"responseStatusCode": 200, "responseHeaders": [HTML, KEPT]},
        {"responseStatusCode": 200, "responseHeaders": [HTML], "frame": "another"},
        {"responseStatusCode": 200, "responseHeaders": [HTML], "body": None},
    ],
)  # fmt: skip
def test_what_is_no_page_is_left_to_the_browser(event: dict[str, Any]) -> None:
    """Redirects, failures, files, frames, and what has no body."""
    document = a_document()
    assert judged(document, **event)[0] == "Fetch.continueRequest"
    assert document.body is None


def test_a_document_that_breaks_off_has_failed() -> None:
    """At once, so that it can be tried again; the browser does not wait for the rest."""

    class Broken(Session):
        async def send(self, method: str, told: dict[str, Any]) -> dict[str, Any]:
            if method == "IO.read":
                raise Error("the stream is closed")
            return await super().send(method, told)

    session: Any = Broken()
    event = {"requestId": "1", "request": {"url": URL}, "frameId": MAIN, "responseStatusCode": 200}
    awaited(a_document().judge(session, MAIN, {**event, "responseHeaders": [HTML]}))
    assert [(method, told["errorReason"]) for method, told in session.sent] == [
        ("Fetch.failRequest", "ConnectionClosed")
    ]


def test_a_document_that_unpacks_to_too_much_goes_nowhere() -> None:
    """It is not read to its end either."""
    document = a_document()
    session: Any = Session(b"x" * (9 * PIECE_BYTES))
    event = {"requestId": "1", "request": {"url": URL}, "frameId": MAIN, "responseStatusCode": 200}
    awaited(document.judge(session, MAIN, {**event, "responseHeaders": [HTML]}))
    assert [method for method, _ in session.sent] == ["Fetch.failRequest"]
    assert (document.is_too_large, document.body) == (True, None)
    assert len(session.body) >= 5 * PIECE_BYTES


@pytest.mark.parametrize(
    ("headers", "short"),
    [
        ({"Content-Length": "5"}, True),
        ({"Content-Length": "4"}, False),
        ({"Content-Length": "9" * 5000}, False),
        ({"Content-Length": "5", "Transfer-Encoding": "chunked"}, False),
        ({"Content-Length": "5", "Content-Encoding": "gzip"}, False),
    ],
)
def test_what_came_is_held_against_what_was_said(headers: dict[str, str], *, short: bool) -> None:
    """Where the length is the body's own."""
    event = {"responseHeaders": [{"name": name, "value": value} for name, value in headers.items()]}
    assert _is_short(event, b"page") is short
