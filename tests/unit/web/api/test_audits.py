"""Other programs ask for visits: who may, what is taken, and what is said where nobody would come."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from sqlalchemy import func, select
from starlette.requests import Request

from crawler.config import load_settings
from crawler.db.models import CrawlSession
from crawler.fleet import intake
from crawler.fleet.store import FleetStore
from crawler.web.access import ApiKeyError, api_clients
from crawler.web.site import Site
from tests.unit.web.conftest import serving_on

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    import httpx2

    from tests.unit.web.conftest import Serve, Served

KEY = "a-key-for-tests"
SHOP = "https://shop.example/"
NOT_QUEUED = "Failed to enqueue audit job. Please try again later."
NOBODY = "redis://127.0.0.1:1/0"


@pytest.fixture
def asked(database_url: str, redis_database: str, tmp_path: Path) -> Generator[Served]:
    """A server with a Redis, once on each kind of database."""
    with serving_on(database_url, tmp_path / "home") as start:
        yield start(redis_url=redis_database)


def ask(
    served: Served, url: str = SHOP, headers: dict[str, str] | None = None, **more: Any
) -> httpx2.Response:
    """Ask for a visit."""
    return served.client.post("/audits", json={"url": url, **more}, headers=headers or {})


def count(served: Served) -> int:
    """How many sessions there are."""
    with served.database.read() as db:
        return db.scalars(select(func.count()).select_from(CrawlSession)).one()


def test_a_visit_that_is_asked_for_waits_for_the_fleet(asked: Served) -> None:
    """It can be looked at at once, and any worker begins it."""
    answer = ask(asked, "HTTPS://Shop.Example:443", mode="debug")
    assert answer.status_code == 201
    given = answer.json()
    assert given == {"id": given["id"], "status": "queued", "url": SHOP}
    shown = asked.get(f"/audits/{given['id']}").json()
    assert (shown["id"], shown["status"], shown["mode"], shown["domain"]) == (
        given["id"], "queued", "debug", "shop.example",
    )  # fmt: skip
    assert asked.get(f"/audits/{given['id']}/artifacts").json() == []
    [waiting] = FleetStore(asked.stores.sessions).waiting(9, ())
    assert (str(waiting.session_id), waiting.order.mode) == (given["id"], "debug")
    assert ask(asked).json()["id"] != given["id"]  # who asks twice has it visited twice


def test_unknown_audits_are_404(served: Served) -> None:
    """Whatever is no id is unknown, and no part of an id names a session."""
    for given in (str(uuid4()), "0", "x" * 90, "0" * 32 + "x"):
        for path in (f"/audits/{given}", f"/audits/{given}/artifacts"):
            assert served.get(path).status_code == 404


def test_what_may_not_be_visited_is_400(served: Served) -> None:
    """No URL, or one that leads inside; no password is repeated, and nothing is written."""
    for url in (
        "", "shop", "ftp://shop.example/", "javascript:alert(1)", "https://user:secret@shop.example/",
        "https://a b/", "http://127.0.0.1/", "http://2130706433/", "http://[::1]/", "http://10.1.2.3/",
        "http://localhost:8000/", "http://169.254.169.254/latest", "https://shop.example/" + "x" * 9000,
    ):  # fmt: skip
        answer = ask(served, url)
        assert (url, answer.status_code, answer.json()["code"]) == (url, 400, "bad_url")
        assert "secret" not in answer.text
    assert count(served) == 0


def test_a_private_address_that_is_allowed_is_visited(serve: Serve, redis_database: str) -> None:
    """EGRESS_ALLOW holds here as everywhere."""
    served = serve(redis_url=redis_database, egress_allow="10.0.0.0/8")
    assert ask(served, "http://10.1.2.3/").status_code == 201
    assert ask(served, "http://192.168.1.1/").status_code == 400


def test_what_is_not_understood_is_422(served: Served) -> None:
    """Another mode, a field that nobody knows, no JSON."""
    assert ask(served, mode="evidence_pack").status_code == 422
    assert ask(served, retention="long").status_code == 422
    for body in (b"", b"{", b"[]", b"{}", b'{"url": 7}'):
        sent = served.client.post("/audits", content=body, headers={"Content-Type": "application/json"})
        assert sent.status_code == 422


def test_nothing_waits_where_nobody_would_come(
    serve: Serve, redis_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No fleet, a Redis that does not answer, too many that wait: 503, a hint, and no row."""
    full = serve(redis_url=redis_database)
    monkeypatch.setattr(intake, "MOST_WAITING", 1)
    assert ask(full).status_code == 201
    for served, hint in (
        (full, "start more"), (serve(), "set REDIS_URL"), (serve(redis_url=NOBODY), "check REDIS_URL"),
    ):  # fmt: skip
        answer = ask(served)
        assert answer.status_code == 503
        said = answer.json()
        assert (said["error"], said["detail"], said["code"]) == (NOT_QUEUED, NOT_QUEUED, "audit_not_queued")
        assert hint in said["hint"]
    assert count(full) == 1


def test_a_key_opens_it(serve: Serve, redis_database: str) -> None:
    """In either header, for reading as for asking; else 401."""
    served = serve(redis_url=redis_database, api_secret_key=KEY, admin_token="another")
    basic = {"Authorization": f"Basic {KEY}"}
    for wrong in ({}, {"X-API-Key": KEY[:-1]}, basic, {"X-Admin-Token": "another"}):
        assert ask(served, headers=wrong).status_code == 401
        answer = served.get(f"/audits/{uuid4()}", headers=wrong)
        assert (answer.status_code, answer.json()["code"]) == (401, "api_key")
    for headers in ({"X-API-Key": KEY}, {"Authorization": f"bearer {KEY}"}):
        made = ask(served, headers=headers)
        assert made.status_code == 201
        assert served.get(f"/audits/{made.json()['id']}", headers=headers).status_code == 200
    assert served.get("/admin/api/retention", headers={"X-Admin-Token": KEY}).status_code == 401
    leaked = served.get(f"/search?q={KEY}")
    assert (leaked.status_code, leaked.json()["code"]) == (400, "secret_in_url")


@pytest.mark.parametrize(
    ("client", "host", "environment", "is_open"),
    [
        ("127.0.0.1", "localhost:8080", "development", True), ("::1", "[::1]", "development", True),
        ("10.0.0.7", "localhost:8080", "development", False),
        ("127.0.0.1", "archive.example", "development", False),
        ("127.0.0.1", "localhost", "production", False),
    ],
)  # fmt: skip
def test_without_a_key_this_machine_alone_gets_in(
    served: Served, client: str, host: str, environment: str, *, is_open: bool
) -> None:
    """Not who comes from elsewhere, or through a proxy under another name, and nobody in production."""
    headers = [(b"host", host.encode())]
    scope = {"type": "http", "scheme": "http", "path": "/audits", "client": (client, 1), "headers": headers}
    served.stores.settings = load_settings({"APP_ENV": environment})
    site = Site(served.stores, None)  # type: ignore[arg-type]  # no figures are asked for
    with nullcontext() if is_open else pytest.raises(ApiKeyError, match="no API key is set"):
        api_clients(Request(scope), site)


def test_no_other_site_asks_through_a_browser(serve: Serve, redis_database: str) -> None:
    """A page anywhere could have a browser ask from this machine; read-only refuses everybody."""
    served = serve(redis_url=redis_database)
    for foreign in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        assert ask(served, headers=foreign).status_code == 403
    closed = serve(redis_url=redis_database, web_read_only=True)
    assert (ask(closed).status_code, ask(closed).json()["code"]) == (403, "read_only")
    assert count(served) == 0
