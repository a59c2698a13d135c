"""Who shows the token in a browser has a sign of it, and never the token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.web.keys import COOKIE
from tests.unit.web.conftest import TOKEN
from tests.unit.web.inside import OWN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served


API, ROOM = "/api/admin/jobs", "/admin/api/retention"


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


def _sign(served: Served) -> dict[str, str]:
    """Log in, and return what the browser keeps."""
    served.client.cookies.clear()
    assert _login(served) == 303
    sign = served.client.cookies[COOKIE]
    served.client.cookies.clear()
    return {"Cookie": f"{COOKIE}={sign}"}


def test_a_logout_ends_the_login_everywhere_and_no_other(serve: Serve) -> None:
    """A copy of the cookie opens nothing any more, on another server neither; other browsers stay inside."""
    first, second = serve(admin_token=TOKEN), serve(admin_token=TOKEN)
    mine, theirs = _sign(first), _sign(first)
    assert [served.get(ROOM, headers=mine).status_code for served in (first, second)] == [200, 200]
    assert first.client.post("/admin/logout", headers={**OWN, **mine}).status_code == 303
    assert [served.get(ROOM, headers=mine).status_code for served in (first, second)] == [401, 401]
    assert second.get(ROOM, headers=theirs).status_code == 200
    changed = {"action": "update_policy", "collectionName": "diagnostics", "ttlDays": 7}
    assert first.client.post(ROOM, json=changed, headers={**OWN, **mine}).status_code == 401
    audit = first.get("/admin/audit.json", headers=theirs).text
    assert audit.count("login.end") == 1
    assert mine["Cookie"].partition("=")[2] not in audit
    for headers in (mine, {}, {"Cookie": f"{COOKIE}=made-up"}):  # nothing is left to be ended
        assert first.client.post("/admin/logout", headers={**OWN, **headers}).status_code == 303
    assert first.get("/admin/audit.json", headers=theirs).text == audit


def test_nothing_of_the_workshop_stays_in_a_cache(served: Served) -> None:
    """A browser's back button after a logout, or a proxy, shows none of it; refusals included."""
    sign = _sign(served)
    for path in ("/admin", "/admin/jobs.json", "/admin/nothing", "/admin/login", ROOM, API, "/metrics"):
        for headers in ({}, sign, {"X-Admin-Token": TOKEN}):
            answer = served.get(path, headers=headers)
            assert (path, answer.headers["cache-control"]) == (path, "no-store")
    assert "cache-control" not in served.get("/search").headers
