"""The server speaks HTTP/1.1 as a web server should."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from crawler.demo.wire import BadRequestError, parse_request
from tests.unit.demo.asking import ask, send

if TYPE_CHECKING:
    from crawler.demo import DemoServer


def test_a_page_comes_with_its_exact_length(demo: DemoServer) -> None:
    """And says what it is."""
    answer = ask(demo.url("plain"))
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert int(answer.headers["Content-Length"]) == len(answer.body)


def test_head_has_the_headers_of_get_and_no_body(demo: DemoServer) -> None:
    """Its length included."""
    url = demo.url("german")
    head, get = ask(url, "HEAD"), ask(url)
    assert head.headers.items() == get.headers.items()
    assert head.body == b""


def test_gzip_is_sent_only_to_those_who_take_it(demo: DemoServer) -> None:
    """And it is the same page."""
    url = demo.url("polish")
    plain, packed = ask(url), ask(url, Accept_Encoding="br, gzip;q=0.5")
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert int(packed.headers["Content-Length"]) == len(packed.body) < len(plain.body)
    assert gzip.decompress(packed.body) == plain.body


def test_an_endless_request_is_told_so(demo: DemoServer) -> None:
    """With status 431, before it fills the memory."""
    raw = b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000
    assert send(demo.front, raw=raw).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("head", [b"", b"GET /", b"GET / HTTP/2\r\n", b"GET / HTTP/1.1\r\nno colon\r\n"])
def test_broken_heads_are_refused(head: bytes) -> None:
    """Rather than guessed at."""
    with pytest.raises(BadRequestError):
        parse_request(head)
