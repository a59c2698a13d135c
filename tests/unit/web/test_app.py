"""The whole app: it describes itself, and what is guarded answers nobody without the token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crawler.web.app import create_app

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.unit.web.conftest import Serve, Served
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served


def test_the_api_describes_itself(served: Served) -> None:
    """Under its own address, with every public route."""
    described = served.get("/api/openapi.json").json()
    assert {"/api/health", "/api/stats", "/api/sources", "/api/search"} <= described["paths"].keys()


GUARDED = ("/admin", "/api/admin", "/metrics")


DOORS = {"/admin/login", "/admin/logout"}


EXAMPLES = {"job_id": "1", "run_id": "1", "session_id": "abc", "domain": "shop.example"}


def routes_of(served: Served) -> list[tuple[str, str]]:
    """Every method and path that the app knows."""
    found = []
    for each in _flat(create_app(served.stores).routes):
        path = re.sub(r"\{(\w+)(?::\w+)?\}", lambda part: EXAMPLES.get(part[1], "1"), each.path)
        found += [(method, path) for method in sorted(each.methods)]
    return found


def _flat(routes: Iterable[Any]) -> Iterator[Any]:
    """Routes, and those of routers that were included."""
    for each in routes:
        router = getattr(each, "original_router", each)
        if inner := getattr(router, "routes", None):
            yield from _flat(inner)
        elif getattr(each, "methods", None):
            yield each


def test_every_door_is_locked(served: Served) -> None:
    """401 or 403 for each guarded route; what is sent along as a token makes no difference."""
    routes = routes_of(served)
    guarded = [(method, path) for method, path in routes if path.startswith(GUARDED) and path not in DOORS]
    assert len(guarded) > 30
    for method, path in guarded:
        for headers in ({}, {"X-Admin-Key": "x"}, {"Cookie": "vitrine_admin_key=9999999999.00"}):
            response = served.client.request(method, path, headers=headers)
            assert (method, path, response.status_code) in {(method, path, 401), (method, path, 403)}


def test_nothing_else_changes_anything(served: Served, serve: Serve) -> None:
    """Outside of them every route is for reading, but for the one that has a key of its own."""
    changing = [
        (m, p) for m, p in routes_of(served) if m not in {"GET", "HEAD"} and not p.startswith(GUARDED)
    ]
    assert changing == [("POST", "/audits")]
    locked = serve(api_secret_key="a-key")
    for method, path in routes_of(locked):
        if path.startswith("/audits"):
            assert locked.client.request(method, path).status_code == 401
