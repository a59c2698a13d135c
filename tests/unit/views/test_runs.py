"""Runs as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawler.db.models import Run, RunWorker
from crawler.errors import NotFoundError
from crawler.views import runs
from tests.unit.views.rows import HOUR, NOW, URL, a_run, a_task, an_exception

if TYPE_CHECKING:
    from crawler.db.engine import Database

# What other programs rely on.
CONTRACT = {"id", "source", "status", "started_at", "completed_at", "tasks", "assets", "exceptions_open"}


@pytest.fixture
def run(database: Database) -> Run:
    """A run with a page done, one to come, and something that is worth a look."""
    with database.write() as db:
        run = a_run(planned=2)
        db.add(run)
        db.flush()
        db.add(a_task(run.id, "https://shop.example/1", status="finished", outcome="stored", finished_at=NOW))
        db.add(a_task(run.id, "https://shop.example/2"))
        db.add(an_exception(run.id, "HTTP 500"))
        db.add(RunWorker(run_id=run.id, owner="here", alive_until=NOW + HOUR))
        db.add(RunWorker(run_id=run.id, owner="gone", alive_until=NOW - HOUR))
    return run


def test_a_run_says_how_it_stands(database: Database, run: Run) -> None:
    """By its number or by its source."""
    with database.read() as db:
        found = runs.shown(db, NOW, str(run.id))
        assert runs.shown(db, NOW, "shop") == found
        with pytest.raises(NotFoundError, match="there is no run '77'"):
            runs.shown(db, NOW, "77")
    assert found.keys() >= CONTRACT
    assert found["tasks"] == {"pending": 1, "in_progress": 0, "finished": 1, "error": 0}
    assert (found["exceptions_open"], found["workers"]) == (1, ["here"])
    assert found["waiting"] == [{"domain": "shop.example", "tasks": 1}]
    assert found["outcomes"] == {"stored": 1}


def test_the_newest_stand_first(database: Database, run: Run) -> None:
    """All, or those of a source."""
    with database.write() as db:
        other = a_run(source="pots", status="completed")
        db.add(other)
    with database.read() as db:
        assert [each["id"] for each in runs.newest(db, NOW, limit=9)] == [other.id, run.id]
        assert [each["id"] for each in runs.newest(db, NOW, limit=1)] == [other.id]
        assert [each["id"] for each in runs.newest(db, NOW, source="shop", limit=9)] == [run.id]


def test_the_newest_exceptions_stand_first(database: Database) -> None:
    """By run and by stage; those that are resolved only where asked for."""
    with database.write() as db:
        one, two = a_run(), a_run()
        db.add_all([one, two])
        db.flush()
        for row in (
            an_exception(one.id, "a"),
            an_exception(one.id, "b", stage="plugin"),
            an_exception(two.id, "c"),
            an_exception(two.id, "d", resolved_at=NOW, resolved_by="me", resolution="known"),
        ):
            db.add(row)
            db.flush()

    def listed(**which: Any) -> list[str]:
        with database.read() as db:
            return [each.message for each in runs.newest_exceptions(db, **{"limit": 9, **which})]

    assert listed() == ["c", "b", "a"]
    assert listed(open_only=False) == ["d", "c", "b", "a"]
    assert listed(run_id=one.id) == ["b", "a"]
    assert listed(run_id=one.id, stage="fetch") == ["a"]
    assert listed(stage="disappeared") == []
    assert listed(limit=1) == ["c"]
    with database.read() as db:
        found = runs.newest_exceptions(db, open_only=False, limit=1)[0]
    assert (found.url, found.times, found.context) == (URL, 1, {"n": 1})
    assert (found.resolved_at, found.resolved_by, found.resolution) == (NOW, "me", "known")
