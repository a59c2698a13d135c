"""The way in and out: what every answer carries, whatever becomes of the request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served


def test_answers_carry_what_keeps_browsers_safe(served: Served) -> None:
    """On success, on errors, and on refusals alike."""
    for path in ("/api/stats", "/api/nothing", "/api/stats%00", "/static/vitrine.css"):
        headers = served.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-api-version"] == "1"
        assert headers["x-request-id"]
        assert "server" not in headers


def test_a_request_keeps_its_id(served: Served) -> None:
    """One that fits a log is taken over, another one replaced."""
    asked = {"X-Request-Id": "abc-123"}
    assert served.get("/api/stats", headers=asked).headers["x-request-id"] == "abc-123"
    odd = {"X-Request-Id": 'a" injected=1'}
    assert served.get("/api/stats", headers=odd).headers["x-request-id"] != odd["X-Request-Id"]


def test_head_is_get_without_a_body(served: Served) -> None:
    """Of every route."""
    response = served.client.head("/api/health")
    assert response.status_code == 200
    assert response.content == b""


def test_forwarded_headers_count_from_trusted_proxies_only(serve: Serve) -> None:
    """HTTPS is believed of a proxy of ours, and of nobody else."""
    told = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
    assert "strict-transport-security" not in serve().get("/api/stats", headers=told).headers
    trusting = serve(trusted_proxies="127.0.0.0/8")
    assert "strict-transport-security" in trusting.get("/api/stats", headers=told).headers
