"""Each scenario does on the wire what its line in the table says."""

from __future__ import annotations

import zlib
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.unit.demo.asking import ask, read
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from crawler.demo import DemoServer

PAGE = "/products/fogbound-tumbler"


def shown(demo: DemoServer, scenario: str, rest: str = PAGE) -> str:
    """The URL by which the plain shop shows a scenario."""
    return demo.url("plain", f"/scenario/{scenario}{rest}")


@pytest.mark.parametrize(
    ("scenario", "status", "retry_after"),
    [
        ("404", 404, None),
        ("403", 403, None),
        ("429", 429, "2"),
        ("429-bare", 429, None),
        ("503", 503, "2"),
        ("503-recovers", 503, "1"),
    ],
)
def test_refusals(demo: DemoServer, scenario: str, status: int, retry_after: str | None) -> None:
    """By prefix in any shop, and everywhere in the shop of that name."""
    for url in (shown(demo, scenario), demo.url(scenario), demo.url(scenario, PAGE)):
        answer = ask(url)
        assert answer.status == status
        assert answer.headers["Retry-After"] == retry_after
        demo.forget()


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_truncated_promises_more_than_it_sends(demo: DemoServer, coding: str) -> None:
    """Half of the body comes, packed or not."""
    for url in (demo.url("truncated"), shown(demo, "truncated")):
        with pytest.raises(IncompleteRead) as caught:
            ask(url, Accept_Encoding=coding)
        assert len(caught.value.partial) - (caught.value.expected or 0) in {-1, 0}


@pytest.mark.parametrize(
    ("scenario", "declared", "sent"),
    [("charset", "utf-8", "windows-1252"), ("charset-reversed", "iso-8859-1", "utf-8")],
)
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_charset_is_declared_wrongly(
    demo: DemoServer, scenario: str, declared: str, sent: str, coding: str
) -> None:
    """In the header and in the page, and the bytes are others."""
    answer = ask(demo.url("french", f"/scenario/{scenario}/"), Accept_Encoding=coding)
    body = zlib.decompress(answer.body, 31) if coding == "gzip" else answer.body
    assert answer.headers["Content-Type"] == f"text/html; charset={declared}"
    assert f'<meta charset="{declared}">'.encode() in body
    assert "Maison Aubépine".encode(sent) in body


def test_endless_goes_on_until_one_leaves(demo: DemoServer) -> None:
    """And the server is none the worse for it."""
    netloc = urlsplit(demo.url("endless")).netloc
    with closing(HTTPConnection(netloc, timeout=PATIENCE_SECONDS)) as connection:
        connection.request("GET", "/")
        response = connection.getresponse()
        assert response.headers["Transfer-Encoding"] == "chunked"
        assert len(response.read(5_000_000)) == 5_000_000
        response.close()
    assert read(demo.url("plain"))


def test_the_gzip_bomb_unfolds_to_what_it_says(demo: DemoServer) -> None:
    """It is valid gzip to its last byte, so that only a limit protects from it."""
    answer = ask(shown(demo, "gzip-bomb", "/?mb=3"))
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.body) < 20_000
    unfolded = zlib.decompress(answer.body, 31)
    assert len(unfolded) > 3 << 20
    assert unfolded.startswith(b"<!doctype html>")
