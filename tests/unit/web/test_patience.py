"""Connections whose requests never end, or never were one."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from crawler.web import patience

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
