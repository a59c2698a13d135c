"""`vitrine runs`: what is shown of runs that there are, and of none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.db.engine import Database
from crawler.runs import store, tasks
from crawler.runs.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.cli.conftest import Vitrine

PLAN = Source.of_url("https://shop.example/").as_plan()


@pytest.fixture
def stored(sqlite_database: str, tmp_path: Path) -> Iterator[Database]:
    """A database that the commands find by themselves."""
    (tmp_path / "var").mkdir()
    (tmp_path / "vitrine.db").rename(tmp_path / "var" / "vitrine.db")
    opened = Database(f"sqlite:///{tmp_path / 'var' / 'vitrine.db'}")
    yield opened
    opened.close()


def a_run(database: Database, source: str = "shop") -> int:
    """A running run with a page to fetch, and nobody at it."""
    with database.write() as db:
        now = db.now
        run_id = store.create(db, source, PLAN, max_pages=None, now=now)
        store.start(db, run_id, now)
        tasks.add(db, run_id, [tasks.NewTask("https://shop.example/", "shop.example", "digest")], now)
        return run_id


def test_a_run_is_shown_by_its_number_or_its_source(vitrine: Vitrine, stored: Database) -> None:
    """With everything that the contract names."""
    run_id = a_run(stored)
    by_number = vitrine("runs", "show", str(run_id), "--json").document
    assert by_number["tasks"] == {"pending": 1, "in_progress": 0, "finished": 0, "error": 0}
    assert by_number["waiting"] == [{"domain": "shop.example", "tasks": 1}]
    named = {"id", "source", "status", "started_at", "completed_at", "tasks", "assets", "exceptions_open"}
    assert by_number.keys() >= named
    assert (by_number["assets"], by_number["exceptions_open"], by_number["workers"]) == ({}, 0, [])
    assert vitrine("runs", "show", "shop", "--json").document["id"] == run_id
    told = vitrine("runs", "show", str(run_id))
    assert "running, but no process is at it" in told.out
    assert f"vitrine runs resume {run_id}" in told.err


def test_a_run_is_stopped(vitrine: Vitrine, stored: Database) -> None:
    """At once where nobody is at it; it says how to go on."""
    run_id = a_run(stored)
    done = vitrine("runs", "stop", str(run_id))
    assert done.code == 0
    assert f"vitrine runs resume {run_id}" in done.err
    shown = vitrine("runs", "show", str(run_id), "--json").document
    assert shown["status"] == "stopped"
    assert shown["completed_at"]


def test_a_report_goes_where_it_is_wanted(vitrine: Vitrine, stored: Database, tmp_path: Path) -> None:
    """The screen, or a file."""
    run_id = a_run(stored)
    assert vitrine("runs", "report", str(run_id)).out.startswith(f"# Run {run_id} of shop: running")
    done = vitrine("runs", "report", str(run_id), "--output", "report.md")
    assert not done.out
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith(f"# Run {run_id}")
    assert vitrine("runs", "report", str(run_id), "--json").document["id"] == run_id
