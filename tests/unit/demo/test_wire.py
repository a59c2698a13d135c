"""The server speaks HTTP/1.1 as a web server should."""

from __future__ import annotations

import gzip
import socket
from contextlib import closing
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawler.demo.wire import BadRequestError, parse_request
from tests.unit.demo.asking import ask, read, send
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from crawler.demo import DemoServer


def test_a_page_comes_with_its_exact_length(demo: DemoServer) -> None:
    """And says what it is."""
    answer = ask(demo.url("plain"))
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert int(answer.headers["Content-Length"]) == len(answer.body)


def test_many_requests_share_a_connection(demo: DemoServer) -> None:
    """Keep-alive is the default, also across answers that are errors."""
    with closing(HTTPConnection(urlsplit(demo.url("plain")).netloc, timeout=PATIENCE_SECONDS)) as connection:
        ports = set()
        for path in ("/", "/nowhere", "/about", "/robots.txt"):
            connection.request("GET", path)
            connection.getresponse().read()
            ports.add(connection.sock.getsockname()[1])
    assert len(ports) == 1


def test_requests_sent_ahead_are_answered_in_order(demo: DemoServer) -> None:
    """A client may send without waiting."""
    host = urlsplit(demo.url("plain")).netloc.encode()
    first = b"GET /nowhere HTTP/1.1\r\nHost: %s\r\n\r\n" % host
    last = b"GET /about HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host
    said = send(demo.url("plain"), raw=first + last)
    assert said.index(b"HTTP/1.1 404") < said.index(b"HTTP/1.1 200")


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


def test_gzip_of_quality_zero_is_refused(demo: DemoServer) -> None:
    """That is how a client says no."""
    assert "Content-Encoding" not in ask(demo.url("plain"), Accept_Encoding="gzip;q=0").headers


def test_equal_requests_get_equal_bytes(demo: DemoServer) -> None:
    """Headers included: nothing on the wire depends on the time."""
    raw = b"GET /about HTTP/1.0\r\nHost: plain.localhost\r\n\r\n"
    assert send(demo.front, raw=raw) == send(demo.front, raw=raw)


def test_what_is_not_http_is_told_so(demo: DemoServer) -> None:
    """With status 400."""
    assert send(demo.front, raw=b"HELO shop\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_an_endless_request_is_told_so(demo: DemoServer) -> None:
    """With status 431, before it fills the memory."""
    raw = b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000
    assert send(demo.front, raw=raw).startswith(b"HTTP/1.1 431 ")


def test_nothing_can_be_bought(demo: DemoServer) -> None:
    """The form is for show."""
    answer = ask(demo.url("plain", "/cart/add"), "POST")
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"


def test_a_client_that_hangs_up_in_mid_request_does_no_harm(demo: DemoServer) -> None:
    """The next one is served."""
    parts = urlsplit(demo.front)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_SECONDS) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHo")
    assert read(demo.url("plain"))


def test_a_proxys_spelling_of_the_target_is_understood() -> None:
    """A whole URL in the request line is a path all the same."""
    request = parse_request(b"GET http://plain.localhost/a%20b?c=1 HTTP/1.1\r\nHost: plain.localhost\r\n\r\n")
    assert (request.path, request.query) == ("/a b", {"c": "1"})


@pytest.mark.parametrize("head", [b"", b"GET /", b"GET / HTTP/2\r\n", b"GET / HTTP/1.1\r\nno colon\r\n"])
def test_broken_heads_are_refused(head: bytes) -> None:
    """Rather than guessed at."""
    with pytest.raises(BadRequestError):
        parse_request(head)
