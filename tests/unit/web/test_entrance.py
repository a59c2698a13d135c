"""The way in and out: what is refused before anything is read, and what every answer carries."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from crawler.config import load_settings
from crawler.web import serving
from crawler.web.guards import MAX_BODY_BYTES, MAX_QUERY_BYTES
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served


def test_answers_carry_what_keeps_browsers_safe(served: Served) -> None:
    """On success, on errors, and on refusals alike; HEAD is GET without a body."""
    for path in ("/api/stats", "/api/nothing", "/api/stats%00", "/static/vitrine.css"):
        headers = served.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-api-version"] == "1"
        assert headers["x-request-id"]
        assert "server" not in headers
    head = served.client.head("/api/health")
    assert (head.status_code, head.content) == (200, b"")


def test_errors_are_pages_for_browsers_and_documents_for_programs(served: Served) -> None:
    """In the one shape of errors."""
    page = served.get("/snapshots/999", headers={"Accept": "text/html"})
    assert (page.status_code, "<h1>Not Found</h1>" in page.text) == (404, True)
    for path in ("/snapshots/999", "/api/snapshot/99", "/api/snapshots/raw/99", "/api/nothing"):
        answer = served.get(path)
        assert (path, answer.status_code) == (path, 404)
        assert {"error", "code", "detail"} <= answer.json().keys()


def test_a_request_keeps_its_id(served: Served) -> None:
    """One that fits a log is taken over, another one replaced."""
    asked = {"X-Request-Id": "abc-123"}
    assert served.get("/api/stats", headers=asked).headers["x-request-id"] == "abc-123"
    odd = {"X-Request-Id": 'a" injected=1'}
    assert served.get("/api/stats", headers=odd).headers["x-request-id"] != odd["X-Request-Id"]


def test_forwarded_headers_count_from_trusted_proxies_only(serve: Serve) -> None:
    """HTTPS is believed of a proxy of ours, and of nobody else."""
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
    assert "strict-transport-security" not in serve().get("/api/stats", headers=forwarded).headers
    trusting = serve(trusted_proxies="127.0.0.0/8")
    assert "strict-transport-security" in trusting.get("/api/stats", headers=forwarded).headers


def test_only_its_own_names_are_served(served: Served, serve: Serve) -> None:
    """Whoever points another name at this address reads nothing (DNS rebinding); names can be set."""
    for host in ("evil.example", "127.0.0.1.evil.example", "", "localhost@evil", "a,b"):
        assert (host, served.get("/api/stats", headers={"Host": host}).status_code) == (host, 400)
    for host in ("localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1:1", "[::1]:80"):
        assert (host, served.get("/api/stats", headers={"Host": host}).status_code) == (host, 200)
    named = serve(public_hosts="archive.example", replay_base_url="https://replay.example/")
    assert named.get("/api/stats", headers={"Host": "archive.example"}).status_code == 200
    assert named.get("/api/stats", headers={"Host": "replay.example"}).status_code == 200
    assert named.get("/api/stats").status_code == 400


def test_requests_that_are_too_long_or_too_large_are_refused(served: Served) -> None:
    """A query of more than 8 KiB is 414, a body of more than 1 MiB 413, declared or not; NUL is 422."""
    assert served.get("/api/stats?q=" + "a" * MAX_QUERY_BYTES).status_code == 414
    big = b"x" * (MAX_BODY_BYTES + 1)
    assert served.client.post("/api/stats", content=big).status_code == 413
    assert served.client.post("/api/stats", content=iter([big])).status_code == 413
    assert served.client.post("/api/stats", content=b"x").status_code == 405
    for path in ("/api/stats%00", "/api/search?q=a%00b"):
        assert served.get(path).status_code == 422


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


def test_other_origins_may_read_and_nothing_more(serve: Serve) -> None:
    """The token is asked of them as well, and a refusal can be read by their scripts."""
    served = serve(admin_token=TOKEN, cors_origins="https://app.example")
    app = {"Origin": "https://app.example"}
    allowed = served.get("/api/stats", headers=app).headers
    assert allowed["access-control-allow-origin"] == "https://app.example"
    assert "access-control-allow-credentials" not in allowed
    refused = served.get("/api/admin/jobs", headers=app)
    assert refused.status_code == 403
    assert refused.headers["access-control-allow-origin"] == "https://app.example"
    stranger = served.get("/api/stats", headers={"Origin": "https://evil.example"})
    assert stranger.status_code == 200
    assert "access-control-allow-origin" not in stranger.headers
    assert stranger.headers["vary"] == "Origin"
    asks = {**app, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-admin-token"}
    preflight = served.client.options("/api/stats", headers=asks)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert preflight.headers["access-control-allow-headers"] == "x-admin-token"
    evil = {**asks, "Origin": "https://evil.example"}
    assert served.client.options("/api/stats", headers=evil).status_code == 403


def test_a_public_address_needs_a_token() -> None:
    """Loopback needs none; everything else does."""
    for host in ("0.0.0.0", "::", "192.0.2.1", "archive.example"):  # ruff: ignore[hardcoded-bind-all-interfaces] - refused
        with pytest.raises(serving.PublicBindError):
            serving.check_bind(host, load_settings({"admin_token": ""}))
        serving.check_bind(host, load_settings({"admin_token": "something"}))
    for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9"):
        serving.check_bind(host, load_settings({"admin_token": ""}))


def test_a_port_that_is_taken_is_an_error_that_names_it() -> None:
    """Not a traceback; the address of one that is free can be opened by a browser."""
    with serving.listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert serving.address_of(taken) == f"http://127.0.0.1:{port}"
        with pytest.raises(serving.PortError, match=str(port)), serving.listening("127.0.0.1", port):
            pass
    with socket.create_server(("", 0)) as everywhere:
        assert serving.address_of(everywhere).startswith("http://127.0.0.1:")
