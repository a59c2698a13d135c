"""Who gets in, by which of the ways that the seeds name, and what is asked of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.db.models import AuditEntry
from crawler.web.keys import COOKIE
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served

API, ROOM = "/api/admin/jobs", "/admin/api/retention"
WAYS = ({"Authorization": f"bEarer {TOKEN}"}, {"X-Admin-Token": TOKEN}, {"X-Admin-Key": TOKEN})
SET_DAYS = {"action": "update_policy", "collectionName": "hauls", "ttlDays": 31}
OWN = {"Sec-Fetch-Site": "same-origin"}


def test_operators_need_the_token(served: Served) -> None:
    """Without it 403, with it in any of three headers 200 (SPEC 100)."""
    for path in (API, "/metrics", "/api/admin/jobs/1", "/api/admin/search-debug?q=a"):
        response = served.get(path)
        assert (path, response.status_code) == (path, 403)
        assert response.json()["detail"] == "Admin token required"
    for wrong in ("", "x", TOKEN + "x", TOKEN[:-1], "ü" * 5000):
        assert served.get(API, headers={"X-Admin-Token": wrong.encode("latin-1")}).status_code == 403
    for headers in WAYS:
        assert served.get(API, headers=headers).status_code == 200
        assert served.get("/metrics", headers=headers).status_code == 200


def test_without_a_token_it_depends_on_the_environment(serve: Serve) -> None:
    """Open to programs in development, an error in production; the workshop is closed (SPEC 98, 99)."""
    development = serve()
    assert development.get(API).status_code == 200
    assert development.get("/metrics").status_code == 200
    assert development.get(ROOM).status_code == 401
    assert development.get(ROOM).json()["error"] == "Admin access is not configured"
    production = serve(app_env="Production")
    for path in (API, "/metrics"):
        response = production.get(path)
        assert response.status_code == 500
        assert response.json()["detail"] == "Admin token not configured for this environment"
    assert production.get("/api/stats").status_code == 200


def test_the_workshop_needs_the_token(served: Served) -> None:
    """401 for programs, the door for browsers (SPEC E129)."""
    assert served.get(ROOM).json()["error"] == "Invalid admin key"
    door = served.get("/admin/api/retention/x", headers={"Accept": "text/html"})
    assert door.status_code == 404
    for headers in WAYS:
        assert served.get(ROOM, headers=headers).status_code == 200


def _login(served: Served, token: str = TOKEN, **headers: str) -> int:
    form = {"token": token, "next": "/admin/retention"}
    sent = {**OWN, **headers}
    return served.client.post("/admin/login", data=form, headers=sent).status_code


def test_a_login_leaves_a_sign_and_never_the_token(served: Served) -> None:
    """It is for /admin only, out of the reach of scripts and of other sites, and ends by itself."""
    assert _login(served, "wrong") == 401
    assert _login(served, **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert served.get(ROOM).status_code == 401
    response = served.client.post(
        "/admin/login", data={"token": TOKEN, "next": "//evil.example"}, headers=OWN
    )
    assert (response.status_code, response.headers["location"]) == (303, "/admin")
    cookie = response.headers["set-cookie"]
    assert TOKEN not in cookie
    for part in ("HttpOnly", "SameSite=strict", "Path=/admin", "Max-Age=86400"):
        assert part in cookie
    assert served.get(ROOM).status_code == 200
    forged = served.client.cookies[COOKIE].replace(".", "0.", 1)
    served.client.cookies.clear()
    assert served.get(ROOM, headers={"Cookie": f"{COOKIE}={forged}"}).status_code == 401


def test_a_change_needs_an_own_origin_as_well(served: Served) -> None:
    """What a page of another site has a browser send is refused, whatever cookie comes along."""
    headers = {"X-Admin-Key": TOKEN}
    for foreign in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil"},
                    {"Origin": "null"}):  # fmt: skip
        response = served.client.post(ROOM, json=SET_DAYS, headers={**headers, **foreign})
        assert (foreign, response.status_code) == (foreign, 403)
    assert served.client.post(ROOM, json=SET_DAYS).status_code == 401
    own = {"Origin": served.address}
    assert served.client.post(ROOM, json=SET_DAYS, headers={**headers, **own}).status_code == 200
    assert _login(served) == 303
    assert served.client.post(ROOM, json=SET_DAYS, headers=OWN).status_code == 403  # no form token
    assert served.client.post(ROOM, json=SET_DAYS).status_code == 403
    with served.database.read() as db:
        [entry] = db.scalars(select(AuditEntry))
    assert (entry.action, entry.subject, entry.actor) == ("retention.set", "hauls", "web")


def test_read_only_refuses_every_change(serve: Serve) -> None:
    """With the token, too; reading goes on."""
    served = serve(admin_token=TOKEN, web_read_only=True)
    headers = {"X-Admin-Key": TOKEN}
    response = served.client.post(ROOM, json=SET_DAYS, headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "read_only")
    assert served.get(ROOM, headers=headers).status_code == 200


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


RETENTION_REQUESTS = (
    ("{", 400, "Invalid JSON body"),
    ("[]", 400, "Invalid JSON body"),
    ('{"action": "x"}', 400, "Unknown action: x"),
    ('{"action": "update_policy"}', 400, "Missing collectionName or ttlDays"),
    (
        '{"action": "update_policy", "collectionName": "hauls", "ttlDays": -1}',
        400,
        "TTL must be at least 1",
    ),
    (
        '{"action": "update_policy", "collectionName": "hauls", "ttlDays": [1]}',
        400,
        "TTL must be a whole",
    ),
    ('{"action": "update_policy", "collectionName": "listings", "ttlDays": 5}', 400, "is exempt"),
    ('{"action": "update_policy", "collectionName": "unknown", "ttlDays": 5}', 400, "no collection"),
    ('{"action": "cleanup"}', 400, "Missing dryRun"),
    ('{"action": "cleanup", "dryRun": 1}', 400, "Missing dryRun"),
    ('{"action": "cleanup", "dryRun": true}', 200, ""),
    ('{"action": "cleanup", "dryRun": false}', 200, ""),
)


def test_retention_takes_what_it_says(served: Served) -> None:
    """Each wrong request has its sentence (SPEC E124-134)."""
    for body, status, error in RETENTION_REQUESTS:
        response = served.client.post(ROOM, content=body, headers={"X-Admin-Key": TOKEN})
        assert (body, response.status_code) == (body, status)
        assert error in response.json().get("error", "")


def test_policies_and_results_are_shown(served: Served) -> None:
    """A policy that was set is there at once; a real cleanup is the last one, a dry run is not."""
    headers = {"X-Admin-Key": TOKEN}
    before = served.get(ROOM, headers=headers).json()
    assert before["lastCleanup"] is None
    assert {"collectionName": "hauls", "ttlDays": 30} in before["config"]["policies"]
    changed = served.client.post(ROOM, json=SET_DAYS, headers=headers).json()
    assert {"collectionName": "hauls", "ttlDays": 31} in changed["config"]["policies"]
    dry = served.client.post(ROOM, json={"action": "cleanup", "dryRun": True}, headers=headers).json()[
        "result"
    ]
    assert dry["dryRun"] is True
    assert dry["totalDocumentsDeleted"] == 0
    assert served.get(ROOM, headers=headers).json()["lastCleanup"] is None
    served.client.post(ROOM, json={"action": "cleanup", "dryRun": False}, headers=headers)
    last = served.get(ROOM, headers=headers).json()["lastCleanup"]
    assert last["dryRun"] is False
    assert {each["collection"] for each in last["details"]} == {
        each["collectionName"] for each in before["config"]["policies"]
    }
