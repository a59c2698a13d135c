"""Connections whose requests never end, or never were one."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from crawler.web import patience
from tests.waiting import wait_for

if TYPE_CHECKING:
    import pytest

    from tests.unit.web.conftest import Serve, Served


def test_who_never_ends_a_request_is_let_go(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that says nothing, and one that sends its head a byte at a time; others are served."""
    monkeypatch.setattr(patience, "HEAD_SECONDS", 0.5)
    served = serve()
    host, port = served.address.removeprefix("http://").split(":")
    with (
        socket.create_connection((host, int(port)), 60) as silent,
        socket.create_connection((host, int(port)), 60) as slow,
    ):
        slow.sendall(b"GET / HTTP/1.1\r\nHost: local")
        assert served.get("/api/stats").status_code == 200
        assert silent.recv(100) == b""
        assert slow.recv(100) == b""


def test_a_broken_request_does_not_stop_the_server(served: Served) -> None:
    """Half a request line is answered 400, and the next request is served."""
    host, port = served.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as broken:
        broken.sendall(b"GET /\x01 HTTP/1.1\r\n\r\n")
        assert b"400" in broken.recv(100)
    assert served.get("/api/stats").status_code == 200


def test_one_client_does_not_take_all_connections(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind so many of one address the next is refused; others are served, and a proxy of ours."""
    monkeypatch.setattr(patience, "MAX_OF_ONE", 3)
    served, proxied = serve(), serve(trusted_proxies="127.0.0.3")
    with ExitStack() as open_ones:
        held = [open_ones.enter_context(connected(served, "127.0.0.2")) for _ in range(3)]
        assert asked(served, "127.0.0.2").startswith(b"HTTP/1.1 503 ")
        assert asked(served, "127.0.0.4").startswith(b"HTTP/1.1 200 ")
        held[0].close()
        wait_for(lambda: asked(served, "127.0.0.2").startswith(b"HTTP/1.1 200 "))
        for _ in range(5):
            open_ones.enter_context(connected(proxied, "127.0.0.3"))
        assert asked(proxied, "127.0.0.3").startswith(b"HTTP/1.1 200 ")


def connected(served: Served, source: str) -> socket.socket:
    """A connection from an address of this machine."""
    host, port = served.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), 60, source_address=(source, 0))


def asked(served: Served, source: str) -> bytes:
    """What a request from there is answered."""
    with connected(served, source) as client:
        with suppress(ConnectionError):  # it may be closed before the request is sent
            client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return client.recv(65_536)
