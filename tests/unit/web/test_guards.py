"""What is refused before anything is read."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from crawler.web.guards import MAX_BODY_BYTES, MAX_QUERY_BYTES
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    import pytest

    from tests.unit.web.conftest import Serve, Served


def test_another_host_is_refused(served: Served) -> None:
    """Whoever points their own name at this address reads nothing (DNS rebinding)."""
    for host in ("evil.example", "127.0.0.1.evil.example", "", "localhost@evil", "a,b"):
        response = served.get("/api/stats", headers={"Host": host})
        assert (host, response.status_code) == (host, 400)


def test_its_own_names_are_served(served: Served) -> None:
    """A name may have a port, a dot and capitals."""
    for host in ("localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1:1", "[::1]:80"):
        assert (host, served.get("/api/stats", headers={"Host": host}).status_code) == (host, 200)


def test_names_can_be_set(serve: Serve) -> None:
    """PUBLIC_HOSTS names those that count, and REPLAY_BASE_URL adds its own."""
    served = serve(public_hosts="archive.example", replay_base_url="https://replay.example/")
    assert served.get("/api/stats", headers={"Host": "archive.example"}).status_code == 200
    assert served.get("/api/stats", headers={"Host": "replay.example"}).status_code == 200
    assert served.get("/api/stats").status_code == 400


def test_too_long_and_too_large(served: Served) -> None:
    """A query of more than 8 KiB is 414, a body of more than 1 MiB 413, declared or not."""
    assert served.get("/api/stats?q=" + "a" * MAX_QUERY_BYTES).status_code == 414
    big = b"x" * (MAX_BODY_BYTES + 1)
    assert served.client.post("/api/stats", content=big).status_code == 413
    assert served.client.post("/api/stats", content=iter([big])).status_code == 413
    assert served.client.post("/api/stats", content=b"x").status_code == 405


def test_a_body_with_two_ends_is_refused_and_nothing_behind_it_is_read(served: Served) -> None:
    """A proxy in front may take the rest for a part of the body, or for somebody else's request."""
    host, port = served.address.removeprefix("http://").split(":")
    hidden = b"GET /api/stats HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for method in (b"POST", b"GET"):
        request = method + (
            b" /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"0\r\n\r\n"
        )
        with socket.create_connection((host, int(port)), 60) as client:
            client.sendall(request + hidden)
            answer = b"".join(iter(lambda: client.recv(65_536), b""))  # to its end: the connection is closed
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert (answer.count(b"HTTP/1.1 "), b"framing" in answer) == (1, True)


def test_a_nul_is_refused(served: Served) -> None:
    """PostgreSQL would fail on it."""
    for path in ("/api/stats%00", "/api/search?q=a%00b"):
        assert served.get(path).status_code == 422


def test_a_secret_in_an_address_is_refused_and_not_logged(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """Histories and logs keep addresses."""
    caplog.set_level("DEBUG", "crawler")
    for query in (f"x={TOKEN}", f"{TOKEN}=1", "token=anything", "Admin_Token=", f"x=a{TOKEN}b"):
        response = served.get(f"/api/stats?{query}")
        assert (query, response.status_code) == (query, 400)
        assert TOKEN not in response.text
    logged = [str(vars(record)) for record in caplog.records if record.name.startswith("crawler")]
    assert logged
    assert TOKEN not in "".join(logged)
