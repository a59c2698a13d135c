"""A session is asked for past the list in Redis only where there is a fleet that would work on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.config import load_settings
from crawler.db.models import CrawlSession
from crawler.fleet import intake
from crawler.fleet.intake import FleetFullError, NoFleetError, ask_for
from crawler.fleet.queue import FleetUnavailableError
from crawler.sessions.rows import SessionOrder
from crawler.sessions.store import SessionStore
from crawler.stores import open_blobs

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

# The statements that differ between databases are tested where they are written.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
ORDER = SessionOrder("https://shop.example/", "shop.example")


def store(database: Database, path: Path, url: str) -> SessionStore:
    """Sessions of a fleet's database."""
    settings = load_settings({"REDIS_URL": url, "VITRINE_HOME": str(path), "ARTIFACTS_DIR": ""})
    return SessionStore(settings, database, open_blobs(settings), ())


def rows(database: Database) -> list[CrawlSession]:
    """What waits."""
    with database.read() as db:
        return list(db.scalars(select(CrawlSession)))


def test_it_waits_for_any_worker(database: Database, tmp_path: Path, redis_database: str) -> None:
    """At once, so whoever asked can look at it; twice is two sessions."""
    sessions = store(database, tmp_path, redis_database)
    asked = {ask_for(sessions, ORDER), ask_for(sessions, ORDER)}
    found = rows(database)
    assert {row.id for row in found} == asked
    assert {row.status for row in found} == {"queued"}
    assert len({row.entry_id for row in found}) == 2


def test_without_redis_there_is_no_fleet(database: Database, tmp_path: Path) -> None:
    """Nothing is written that nobody would work on, and no password is shown."""
    with pytest.raises(NoFleetError):
        ask_for(store(database, tmp_path, ""), ORDER)
    with pytest.raises(FleetUnavailableError, match=r"127\.0\.0\.1:1") as away:
        ask_for(store(database, tmp_path, "redis://u:geheim@127.0.0.1:1/0"), ORDER)
    assert "geheim" not in f"{away.value} {away.value.hint}"
    assert rows(database) == []


def test_so_many_wait_and_no_more(
    database: Database, tmp_path: Path, redis_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks hears that the workers are behind."""
    monkeypatch.setattr(intake, "MOST_WAITING", 2)
    sessions = store(database, tmp_path, redis_database)
    for _ in range(2):
        ask_for(sessions, ORDER)
    with pytest.raises(FleetFullError):
        ask_for(sessions, ORDER)
    assert len(rows(database)) == 2
