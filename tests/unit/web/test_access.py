"""Who gets in, by which of the ways that the seeds name, and what is asked of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.db.models import AuditEntry
from tests.unit.web.conftest import TOKEN
from tests.unit.web.inside import OWN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served


API, ROOM = "/api/admin/jobs", "/admin/api/retention"


WAYS = ({"Authorization": f"bEarer {TOKEN}"}, {"X-Admin-Token": TOKEN}, {"X-Admin-Key": TOKEN})


SET_DAYS = {"action": "update_policy", "collectionName": "hauls", "ttlDays": 31}


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
