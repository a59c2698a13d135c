"""Who gets in, by which way, and what is asked of a change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.db.models import AuditEntry
from crawler.web.keys import COOKIE, LOGIN_LASTS, Keys
from tests.unit.web.conftest import TOKEN
from tests.unit.web.inside import DOORS, GUARDED, OWN, routes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.web.conftest import Serve, Served

API, ROOM = "/api/admin/jobs", "/admin/api/retention"
WAYS = ({"Authorization": f"bEarer {TOKEN}"}, {"X-Admin-Token": TOKEN}, {"X-Admin-Key": TOKEN})
SET_DAYS = {"action": "update_policy", "collectionName": "hauls", "ttlDays": 31}
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
KEYS = Keys("the token ü")


def test_every_guarded_route_is_locked(served: Served) -> None:
    """401 or 403 for each; what is sent along as a token makes no difference."""
    guarded = [
        (method, path) for method, path in routes_of(served) if path.startswith(GUARDED) and path not in DOORS
    ]
    assert len(guarded) > 30
    for method, path in guarded:
        for headers in ({}, {"X-Admin-Key": "x"}, {"Cookie": "vitrine_admin_key=9999999999.00"}):
            response = served.client.request(method, path, headers=headers)
            assert (method, path, response.status_code) in {(method, path, 401), (method, path, 403)}


def test_no_other_route_changes_anything(served: Served, serve: Serve) -> None:
    """But for the one that has a key of its own; programs find every public route described."""
    routes = routes_of(served)
    changing = [(m, p) for m, p in routes if m not in {"GET", "HEAD"} and not p.startswith(GUARDED)]
    assert changing == [("POST", "/audits")]
    locked = serve(api_secret_key="a-key")
    for method, path in routes:
        if path.startswith("/audits"):
            assert locked.client.request(method, path).status_code == 401
    described = served.get("/api/openapi.json").json()["paths"].keys()
    assert {"/api/health", "/api/stats", "/api/sources", "/api/search"} <= described


def test_operators_need_the_token(served: Served) -> None:
    """Without it 403 for programs and 401 in the workshop, with it in any of three headers 200."""
    for path in (API, "/metrics", "/api/admin/jobs/1", "/api/admin/search-debug?q=a"):
        response = served.get(path)
        assert (path, response.status_code) == (path, 403)
        assert response.json()["detail"] == "Admin token required"
    assert served.get(ROOM).json()["error"] == "Invalid admin key"
    for wrong in ("", "x", TOKEN + "x", TOKEN[:-1], TOKEN.upper(), "ü" * 5000):
        assert served.get(API, headers={"X-Admin-Token": wrong.encode("latin-1")}).status_code == 403
    for headers in (*WAYS, {"X-Admin-Token": "wrong", "X-Admin-Key": TOKEN}):
        for path in (API, ROOM, "/metrics"):
            assert served.get(path, headers=headers).status_code == 200


def test_without_a_token_it_depends_on_the_environment(serve: Serve) -> None:
    """Open to programs in development, an error in production; the workshop is closed."""
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


def login(served: Served, token: str = TOKEN, **headers: str) -> int:
    """Log in, and return the status."""
    form = {"token": token, "next": "/admin/retention"}
    return served.client.post("/admin/login", data=form, headers={**OWN, **headers}).status_code


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
    assert login(served) == 303
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


def test_a_login_leaves_a_sign_and_never_the_token(served: Served) -> None:
    """It is for /admin only, out of the reach of scripts and of other sites, and ends by itself."""
    assert login(served, "wrong") == 401
    assert login(served, **{"Sec-Fetch-Site": "cross-site"}) == 403
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


def sign_of(served: Served) -> dict[str, str]:
    """Log in, and return what the browser keeps."""
    served.client.cookies.clear()
    assert login(served) == 303
    sign = served.client.cookies[COOKIE]
    served.client.cookies.clear()
    return {"Cookie": f"{COOKIE}={sign}"}


def test_a_logout_ends_the_login_everywhere_and_no_other(serve: Serve) -> None:
    """A copy of the cookie opens nothing any more, on another server neither; other browsers stay inside."""
    first, second = serve(admin_token=TOKEN), serve(admin_token=TOKEN)
    mine, theirs = sign_of(first), sign_of(first)
    assert [served.get(ROOM, headers=mine).status_code for served in (first, second)] == [200, 200]
    assert first.client.post("/admin/logout", headers={**OWN, **mine}).status_code == 303
    assert [served.get(ROOM, headers=mine).status_code for served in (first, second)] == [401, 401]
    assert second.get(ROOM, headers=theirs).status_code == 200
    assert first.client.post(ROOM, json=SET_DAYS, headers={**OWN, **mine}).status_code == 401
    audit = first.get("/admin/audit.json", headers=theirs).text
    assert audit.count("login.end") == 1
    assert mine["Cookie"].partition("=")[2] not in audit
    for headers in (mine, {}, {"Cookie": f"{COOKIE}=made-up"}):  # nothing is left to be ended
        assert first.client.post("/admin/logout", headers={**OWN, **headers}).status_code == 303
    assert first.get("/admin/audit.json", headers=theirs).text == audit


def test_nothing_of_the_workshop_stays_in_a_cache(served: Served) -> None:
    """A browser's back button after a logout, or a proxy, shows none of it; refusals included."""
    sign = sign_of(served)
    for path in ("/admin", "/admin/jobs.json", "/admin/nothing", "/admin/login", ROOM, API, "/metrics"):
        for headers in ({}, sign, {"X-Admin-Token": TOKEN}):
            assert (path, served.get(path, headers=headers).headers["cache-control"]) == (path, "no-store")
    assert "cache-control" not in served.get("/search").headers


@pytest.mark.parametrize("forge", [
    lambda until, seal: f"9{until}.{seal}",
    lambda until, seal: f"{until.partition('-')[0]}.{seal}",
    lambda until, seal: f"{until}.{seal[:-1]}",
    lambda until, seal: f"{until}.{seal}0",
    lambda until, seal: until,
    lambda until, seal: f".{seal}",
    lambda until, seal: f"-{until}.{seal}",
    lambda until, seal: "",
    lambda until, seal: f"{until}.ü",
])  # fmt: skip
def test_no_login_can_be_forged(forge: Callable[[str, str], str]) -> None:
    """A later end, half a seal, none."""
    assert not KEYS.is_login(forge(*KEYS.login(NOW).split(".")), NOW)


def test_a_login_lasts_a_day_and_is_of_its_token() -> None:
    """A form's token is no login, nor another login's form's; where no token is set nothing opens."""
    none = Keys("")
    assert not none.opens("")
    assert not none.in_headers({"x-admin-token": "", "authorization": "Bearer "})
    assert not none.is_login(none.login(NOW), NOW)
    assert not none.is_form_token(none.form_token("x"), "x")
    sign = KEYS.login(NOW)
    until = sign.partition(".")[0]
    assert KEYS.is_login(sign, NOW + LOGIN_LASTS - SECOND)
    assert not KEYS.is_login(sign, NOW + LOGIN_LASTS)
    assert not Keys("another token").is_login(sign, NOW)
    assert not KEYS.is_login(f"{until}.{KEYS.form_token(until)}", NOW)
    assert KEYS.is_form_token(KEYS.form_token(sign), sign)
    assert not KEYS.is_form_token(KEYS.form_token(sign), KEYS.login(NOW + SECOND))
