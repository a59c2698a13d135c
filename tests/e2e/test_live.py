"""A capture beside the page as it is now: a visit like any other, of which no page is kept."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from sqlalchemy import select

from crawler.db.models import Snapshot
from tests.e2e.conftest import rows
from tests.e2e.demo_days import SHOP

if TYPE_CHECKING:
    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak


def live(home: Home, snapshot: int) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of `vitrine diff N --live`."""
    done = home.vitrine("diff", str(snapshot), "--live", "--json", timeout=600)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_then_and_now(shops: DemoServer, home: Home) -> None:
    """It says the same on the same day; another price on another one; and what forbids the look is told."""
    shops.set_day(1)
    home.crawl(shops.url(SHOP))
    home.vitrine("snapshots", "index")
    with closing(home.database()) as database, database.read() as db:
        product = db.scalars(select(Snapshot.id).where(Snapshot.url.contains("/products/"))).one()
    files = home.files()
    asked_before = len(shops.log.entries())
    code, same = live(home, product)
    assert (code, same["change_type"], same["cause"]) == (0, "unchanged", None)
    assert "/robots.txt" in [each.path for each in shops.log.entries()[asked_before:]]
    shops.set_day(3)
    code, other = live(home, product)
    assert (code, other["change_type"]) == (3, "updated")
    assert "£" in json.dumps(other["sections"], ensure_ascii=False)
    code, refused = live(evolve(home, extra={"EGRESS_ALLOW": ""}), product)
    assert (code, refused["change_type"], refused["cause"]) == (1, "error", "egress_refused")
    assert {name.rpartition("/")[2] for name in home.files() - files} == {"session_logs.jsonl"}
    assert len(rows(home)) == 4
