"""Runs as documents, as reports and as exit codes, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from crawler.capture.failures import Cause
from crawler.db.models import Run, RunWorker
from crawler.runs import task_ends, tasks
from crawler.runs.task_ends import TaskEnd, TaskOutcome
from crawler.views import runs
from crawler.views.paging import Wanted
from crawler.views.run_report import as_markdown, write_report
from crawler.views.runs import MOST, PageCounts, RunReport, Waiting
from tests.unit.runs.queues import DOMAIN, NOON, SECOND, Queue, a_run, page
from tests.unit.views import rows
from tests.unit.views.rows import HOUR, NOW, a_page, a_session, a_task, an_artifact

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from crawler.db.engine import Database

ODD = "<script>|`alert`\n"


@pytest.mark.parametrize(
    ("status", "at", "silent"),
    [("running", NOW, False), ("running", NOW + 2 * HOUR, True), ("stopped", NOW + 2 * HOUR, False)],
)
def test_a_running_run_without_a_living_worker_is_silent(
    database: Database, status: str, at: datetime, *, silent: bool
) -> None:
    """It keeps its status; the workers that live are named."""
    with database.write() as db:
        run = rows.a_run(status=status)
        db.add(run)
        db.flush()
        db.add(RunWorker(run_id=run.id, owner="here", alive_until=NOW + HOUR))
        db.add(RunWorker(run_id=run.id, owner="gone", alive_until=NOW - HOUR))
    with database.read() as db:
        [found] = runs.newest(db, at, source="shop")
        assert runs.newest(db, at, source="pots") == []
        workers = runs.shown(db, NOW, str(run.id)).workers
    assert (found.status, found.silent, workers) == (status, silent, ["here"])


def test_a_list_of_one_status_is_cut_behind_the_filter(database: Database) -> None:
    """Newer runs of another status take no place in it; a run without a single page is a failed one."""
    failed, stored = ("error", "failed"), ("finished", "stored")
    ends: list[list[tuple[str, str]]] = [[failed], [stored, failed], [], []]
    with database.write() as db:
        for number, tasks_of in enumerate(ends):
            run = rows.a_run(status="stopped" if number == len(ends) - 1 else "completed")
            db.add(run)
            db.flush()
            db.add_all(
                a_task(run.id, f"https://shop.example/{at}", status=status, outcome=outcome)
                for at, (status, outcome) in enumerate(tasks_of)
            )
    with database.read() as db:
        found = {
            status: [each.status for each in runs.newest(db, NOW, Wanted(limit=2), status=status)]
            for status in ("failed", "completed", "stopped", "running")
        }
    assert found == {
        "failed": ["failed"],
        "completed": ["completed"] * 2,
        "stopped": ["stopped"],
        "running": [],
    }


def test_pages_and_their_files_are_counted(database: Database) -> None:
    """Those of the run's own visits, and only files that are there."""
    with database.write() as db:
        run = rows.a_run()
        db.add(run)
        db.flush()
        visits = [a_session(run_id=run.id, kind="run"), a_session()]
        db.add_all(visits)
        db.flush()
        for visit in visits:
            db.add_all([a_page(visit.id), a_page(visit.id, status="failed"), an_artifact(visit.id)])
        db.add(an_artifact(visits[0].id, deleted_at=NOW))
    with database.read() as db:
        pages = runs.shown(db, NOW, str(run.id)).pages
    assert pages == PageCounts(stored=1, failed=1, bytes=100, visits=1)


@pytest.fixture
def run_id(database: Database) -> int:
    """A run with an end of every kind, and a page to come."""
    ends = [
        TaskEnd(), TaskEnd(), TaskEnd(outcome=TaskOutcome.REDIRECTED),
        TaskEnd(Cause.FILTERED, "by domain rules"),
        TaskEnd(Cause.HTTP_ERROR, f"HTTP 404 {ODD}", is_final=True),
        TaskEnd(Cause.HTTP_ERROR, "HTTP 410", is_final=True),
    ]  # fmt: skip
    queue = Queue(database, a_run(database, *map(page, range(len(ends) + 1))))
    with database.write() as db:
        for came in ends:
            [task], _ = tasks.lease(db, queue.leases, queue.run_id, DOMAIN, owner="one", now=NOON, limit=1)
            task_ends.end(db, queue.leases, task, came, now=NOON)
    return queue.run_id


def report(database: Database, run_id: int) -> RunReport:
    """The run's document a minute later."""
    with database.read() as db:
        return runs.shown(db, NOON + 60 * SECOND, str(run_id))


def test_ends_are_counted_by_outcome_and_cause(database: Database, run_id: int, tmp_path: Path) -> None:
    """The most frequent first, with each failure's cause; a report in files has the same."""
    found = report(database, run_id)
    assert found.outcomes == {"http_error": 2, "stored": 2, "filtered": 1, "redirected": 1}
    assert list(found.outcomes.values()) == [2, 2, 1, 1]
    assert found.tasks == {"pending": 1, "in_progress": 0, "finished": 3, "error": 3}
    assert (found.failures[0].cause, found.failures[0].last_error) == ("http_error", "HTTP 410")
    assert {row.cause for row in found.failures} == {"http_error", "filtered"}
    assert found.exceptions_open == len(found.exceptions) == 2
    assert (found.seconds, found.waiting) == (60.0, [Waiting(domain="shop.example", tasks=1)])
    for _ in range(2):  # a later report overwrites the earlier one
        write_report(found, tmp_path / "reports")
    names = [f"run-{run_id}.json", f"run-{run_id}.md"]
    assert sorted(path.name for path in (tmp_path / "reports").iterdir()) == names
    document = json.loads((tmp_path / "reports" / names[0]).read_text(encoding="utf-8"))
    assert (document["id"], document["outcomes"]["stored"]) == (run_id, 2)


def test_nothing_that_a_site_wrote_is_markup_in_a_report(database: Database, run_id: int) -> None:
    """The page has what the document has, as text."""
    text = as_markdown(report(database, run_id))
    assert text.startswith(f"# Run {run_id} of shop: running\n")
    assert "| `http_error` | 2 |" in text
    assert "`HTTP 404 <script>\\|'alert'`" in text


def test_the_failures_in_a_report_have_a_limit(database: Database) -> None:
    """All are counted, the first ones are listed."""
    count = MOST + 5
    queue = Queue(database, a_run(database, *map(page, range(count))))
    for lease in queue.acquire(limit=count):
        queue.fail(lease, final=True)
    found = report(database, queue.run_id)
    assert (found.tasks["error"], len(found.failures)) == (count, MOST)


@pytest.mark.parametrize(
    ("status", "outcomes", "code"),
    [
        ("completed", {"stored": 5}, 0),
        ("completed", {"stored": 5, "filtered": 2, "robots_refused": 1}, 0),
        ("completed", {"stored": 5, "timeout": 1, "robots_refused": 1}, 3),
        ("completed", {"timeout": 5}, 1),
        ("stopped", {"stored": 5}, 3),
        ("stopped", {}, 1),
        ("failed", {"stored": 5}, 1),
        ("running", {"stored": 5}, 3),
    ],
)
def test_the_exit_code_of_a_run_is_0_if_all_is_there_that_may_be_had(
    database: Database, status: str, outcomes: dict[str, int], code: int
) -> None:
    """1 if nothing is there or the run failed, 3 for anything between."""
    with database.write() as db:
        run: Run = rows.a_run(status=status)
        db.add(run)
    finished = outcomes.get("stored", 0)
    ends = {"pending": 0, "in_progress": 0, "finished": finished, "error": sum(outcomes.values()) - finished}
    assert evolve(report(database, run.id), tasks=ends, outcomes=outcomes).exit_code == code
