"""A page's document goes where it was sent, and is kept as it came."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any, cast

import pytest
from playwright.async_api import Error

from crawler.rendering.documents import MOST_RELOADS, PIECE_BYTES, MainDocument
from tests.unit.components import awaited

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

URL = "https://shop.example/a?b=1"
MAIN = "the main frame"


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
