"""Runs as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crawler.db.models import Run, RunWorker
from crawler.errors import NotFoundError
from crawler.views import runs
from crawler.views.documents import as_json
from crawler.views.paging import Wanted
from crawler.views.runs import DomainCounts, PageCounts, Waiting
from tests.unit.views.rows import (
    HOUR,
    NOW,
    a_page,
    a_run,
    a_session,
    a_task,
    an_artifact,
    an_exception,
)

if TYPE_CHECKING:
    from datetime import datetime

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
    assert json.loads(as_json(found)).keys() >= CONTRACT
    assert found.tasks == {"pending": 1, "in_progress": 0, "finished": 1, "error": 0}
    assert (found.exceptions_open, found.workers) == (1, ["here"])
    assert found.waiting == [Waiting(domain="shop.example", tasks=1)]
    assert found.outcomes == {"stored": 1}
    assert [each.message for each in found.exceptions] == ["HTTP 500"]
    assert found.domains == [DomainCounts(domain="shop.example", tasks=2, finished=1, error=0)]


@pytest.mark.parametrize(
    ("status", "at", "silent"),
    [("running", NOW, False), ("running", NOW + 2 * HOUR, True), ("stopped", NOW + 2 * HOUR, False)],
)
def test_a_run_that_nobody_is_at_was_left(
    database: Database, run: Run, status: str, at: datetime, *, silent: bool
) -> None:
    """It still stands as running."""
    with database.write() as db:
        db.get_one(Run, run.id).status = status
    with database.read() as db:
        [found] = runs.newest(db, at, Wanted(limit=9))
    assert (found.status, found.silent) == (status, silent)


def test_pages_and_their_files_are_counted(database: Database, run: Run) -> None:
    """Those of its visits, and only files that are there."""
    visits = [a_session(run_id=run.id, kind="run"), a_session()]
    with database.write() as db:
        db.add_all(visits)
        db.flush()
        for visit in visits:
            db.add_all([a_page(visit.id), a_page(visit.id, status="failed"), an_artifact(visit.id)])
        db.add(an_artifact(visits[0].id, deleted_at=NOW))
    with database.read() as db:
        pages = runs.shown(db, NOW, str(run.id)).pages
    assert pages == PageCounts(stored=1, failed=1, bytes=100, visits=1)


def test_the_newest_stand_first(database: Database, run: Run) -> None:
    """All, or those of a source."""
    with database.write() as db:
        other = a_run(source="pots", status="completed")
        db.add(other)
    with database.read() as db:
        assert [each.id for each in runs.newest(db, NOW, Wanted(limit=9))] == [other.id, run.id]
        assert [each.id for each in runs.newest(db, NOW, Wanted(limit=1))] == [other.id]
        assert [each.id for each in runs.newest(db, NOW, source="shop")] == [run.id]
