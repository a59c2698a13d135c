"""The same crawl on PostgreSQL and Redis as on a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crawler.db.revisions import HEAD
from tests.databases import fresh_database

if TYPE_CHECKING:
    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


@pytest.mark.soak
def test_a_server_is_upgraded_by_hand_and_then_used(
    home: Home, shops: DemoServer, postgres_url: str, redis_database: str
) -> None:
    """An empty PostgreSQL is refused with the command that mends it; after that everything is in it."""
    with fresh_database(postgres_url) as url:
        home.extra.update(DATABASE_URL=url, REDIS_URL=redis_database)
        _upgrade_and_crawl(home, shops)


def _upgrade_and_crawl(home: Home, shops: DemoServer) -> None:
    refused = home.vitrine("sessions", "list")
    assert refused.returncode == 2
    assert "vitrine db upgrade" in refused.stderr
    assert home.vitrine("db", "upgrade").returncode == 0
    assert json.loads(home.vitrine("db", "current", "--json").stdout)["current"] == HEAD

    sessions = home.crawl(shops.url("plain"), shops.url("hub"), shops.url("404"))
    assert [session["status"] for session in sessions] == ["completed", "partial", "failed"]
    assert {a["storage_uri"] for s in sessions for a in s["artifacts"]} == home.files()
    assert not (home.path / "vitrine.db").exists()
    shown = json.loads(home.vitrine("sessions", "show", sessions[0]["id"], "--json").stdout)
    assert [line["message"] for line in shown["log"]][-1] == "lock.release.success"
