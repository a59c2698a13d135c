"""What a run did, counted in the database: a document, and a page that no site can write markup into."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from crawler.capture.failures import Cause
from crawler.runs import task_ends, tasks
from crawler.runs.task_ends import TaskEnd, TaskOutcome
from crawler.views import runs
from crawler.views.run_report import as_markdown, write_report
from crawler.views.runs import MOST, RunReport, Waiting
from tests.unit.runs.queues import DOMAIN, NOON, SECOND, Queue, a_run, page

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

ODD = "<script>|`alert`\n"


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
    """What it did."""
    with database.read() as db:
        return runs.shown(db, NOON + 60 * SECOND, str(run_id))


def test_ends_are_counted_by_outcome_and_cause(database: Database, run_id: int) -> None:
    """The most frequent first; each failure has its cause and its words."""
    found = report(database, run_id)
    assert found.outcomes == {"http_error": 2, "stored": 2, "filtered": 1, "redirected": 1}
    assert list(found.outcomes.values()) == [2, 2, 1, 1]
    assert found.tasks == {"pending": 1, "in_progress": 0, "finished": 3, "error": 3}
    assert (found.failures[0].cause, found.failures[0].last_error) == ("http_error", "HTTP 410")
    assert {row.cause for row in found.failures} == {"http_error", "filtered"}
    assert found.exceptions_open == len(found.exceptions) == 2
    assert (found.seconds, found.waiting) == (60.0, [Waiting(domain="shop.example", tasks=1)])


def test_lists_have_an_end(database: Database) -> None:
    """However much went wrong."""
    count = MOST + 5
    queue = Queue(database, a_run(database, *map(page, range(count))))
    for lease in queue.acquire(limit=count):
        queue.fail(lease, final=True)
    found = report(database, queue.run_id)
    assert found.tasks["error"] == count
    assert len(found.failures) == MOST


def test_the_page_has_what_the_document_has(database: Database, run_id: int) -> None:
    """As text: nothing of a site's words is markup."""
    told = as_markdown(report(database, run_id))
    assert told.startswith(f"# Run {run_id} of shop: running\n")
    assert "| `http_error` | 2 |" in told
    assert "| stored | 2 |" in told
    assert "`HTTP 404 <script>\\|'alert'`" in told


def test_a_report_is_written_beside_the_data(database: Database, run_id: int, tmp_path: Path) -> None:
    """Twice, for machines and for people; a later end overwrites it, and nothing half written is left."""
    folder = tmp_path / "reports"
    for _ in range(2):
        write_report(report(database, run_id), folder)
    assert sorted(path.name for path in folder.iterdir()) == [f"run-{run_id}.json", f"run-{run_id}.md"]
    document = json.loads((folder / f"run-{run_id}.json").read_text(encoding="utf-8"))
    assert document["outcomes"]["stored"] == 2
    assert document["id"] == run_id
    assert document["failures"][0]["last_error"] == "HTTP 410"


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
def test_the_exit_code_tells_the_truth(
    database: Database, run_id: int, status: str, outcomes: dict[str, int], code: int
) -> None:
    """0 only where all is there that may be had."""
    finished = outcomes.get("stored", 0)
    error = sum(outcomes.values()) - finished
    tasks = {"pending": 0, "in_progress": 0, "finished": finished, "error": error}
    found = evolve(report(database, run_id), status=status, tasks=tasks, outcomes=outcomes)
    assert found.exit_code == code
