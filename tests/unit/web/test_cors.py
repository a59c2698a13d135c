"""Which other origins may read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve


API, ROOM = "/api/admin/jobs", "/admin/api/retention"


def test_other_origins_may_read_and_nothing_more(serve: Serve) -> None:
    """The token is asked of them as well, and a refusal can be read by their scripts (SPEC 6, 7)."""
    served = serve(admin_token=TOKEN, cors_origins="https://app.example")
    app = {"Origin": "https://app.example"}
    allowed = served.get("/api/stats", headers=app).headers
    assert allowed["access-control-allow-origin"] == "https://app.example"
    assert "access-control-allow-credentials" not in allowed
    refused = served.get(API, headers=app)
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
