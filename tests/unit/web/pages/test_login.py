"""Who shows the token in a browser has a sign of it, and never the token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.web.keys import COOKIE
from tests.unit.web.conftest import TOKEN
from tests.unit.web.inside import OWN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


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
