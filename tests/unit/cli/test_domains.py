"""`vitrine domains`: who holds what, and breaking a lock."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from sqlalchemy import select

from crawler.access.acquisition import open_gate
from crawler.access.process import new_token
from crawler.config import load_settings
from crawler.db.models import AuditEntry
from tests.unit.views.rows import a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Vitrine

KEY = UUID(int=1)


@pytest.fixture
def held(database: Database) -> str:
    """A domain that a session of this process holds; the lock's value."""
    gate = open_gate(load_settings(), database)
    token = new_token(str(KEY))
    with database.write() as db:
        db.add(a_session(id=KEY, status="running"))
    gate.acquire("shop.example", str(KEY), token)
    gate.ask_delay("slow.example", 100, "Retry-After")
    return token


def test_who_holds_what_is_listed(vitrine: Vitrine, held: str, database_url: str) -> None:
    """For people with the reason of each delay; for machines with everything."""
    done = vitrine("domains", "list", DATABASE_URL=database_url)
    assert f"session {KEY}" in done.out
    assert "unless renewed" in done.out
    assert "the site asked for it (Retry-After)" in done.out
    document = vitrine("domains", "list", "--json").document
    assert [(each["domain"], each["state"]) for each in document["domains"]] == [
        ("shop.example", "held"), ("slow.example", "free"),
    ]  # fmt: skip
    assert document["domains"][0]["value"] == held
    assert document["shared"] == database_url.startswith("postgresql")
    assert len(vitrine("domains", "list", "--jsonl").out.splitlines()) == 2


def test_one_is_shown_by_any_of_its_urls(vitrine: Vitrine, held: str, database_url: str) -> None:
    """A free one as well."""
    where = {"DATABASE_URL": database_url}
    shown = vitrine("domains", "show", "https://www.shop.example/p/1", "--json", **where).document
    assert (shown["domain"], shown["session"], shown["url"]) == (
        "shop.example", str(KEY), "https://shop.example/",
    )  # fmt: skip
    assert "held by     nobody" in vitrine("domains", "show", "free.example").out


def test_a_lock_is_broken_on_record(
    vitrine: Vitrine, held: str, database: Database, database_url: str
) -> None:
    """Once somebody says yes; a free domain has no lock to break."""
    where = {"DATABASE_URL": database_url}
    asked = vitrine("domains", "release", "shop.example", **where)
    assert (asked.code, asked.out) == (2, "")
    assert "repeat with --yes" in asked.err
    done = vitrine("domains", "release", "shop.example", "--yes", "--json", **where)
    assert done.document["released"]["value"] == held
    assert vitrine("domains", "release", "shop.example", "--yes", **where).code == 1
    with database.read() as db:
        [entry] = db.scalars(select(AuditEntry)).all()
    assert (entry.action, entry.subject, entry.details["value"]) == ("domains.release", "shop.example", held)
