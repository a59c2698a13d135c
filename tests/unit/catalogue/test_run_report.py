"""What a run did, counted in the database: a document, and a page that no site can write markup into."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from crawler.capture.failures import Cause
from crawler.catalogue.run_report import MOST, as_json, as_markdown, report_of, write_report
from crawler.db.models import Run
from crawler.runs import task_ends, tasks
from crawler.runs.task_ends import Outcome, TaskEnd
from tests.unit.runs.queues import DOMAIN, NOON, SECOND, Queue, a_run, page

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

ODD = "<script>|`alert`\n"


@pytest.fixture
def run_id(database: Database) -> int:
    """A run with an end of every kind, and a page to come."""
    ends = [
        TaskEnd(), TaskEnd(), TaskEnd(outcome=Outcome.REDIRECTED), TaskEnd(Cause.FILTERED, "by domain rules"),
        TaskEnd(Cause.HTTP_ERROR, f"HTTP 404 {ODD}", is_final=True),
        TaskEnd(Cause.HTTP_ERROR, "HTTP 410", is_final=True),
    ]  # fmt: skip
    queue = Queue(database, a_run(database, *map(page, range(len(ends) + 1))))
    with database.write() as db:
        for came in ends:
            [task], _ = tasks.lease(db, queue.leases, queue.run_id, DOMAIN, owner="one", now=NOON, limit=1)
            task_ends.end(db, queue.leases, task, came, now=NOON)
    return queue.run_id


def report(database: Database, run_id: int) -> dict[str, Any]:
    """What it did."""
    with database.read() as db:
        return report_of(db, db.get_one(Run, run_id), NOON + 60 * SECOND)


def test_ends_are_counted_by_outcome_and_cause(database: Database, run_id: int) -> None:
    """The most frequent first; each failure has its cause and its words."""
    found = report(database, run_id)
    assert found["outcomes"] == {"http_error": 2, "stored": 2, "filtered": 1, "redirected": 1}
    assert list(found["outcomes"].values()) == [2, 2, 1, 1]
    assert found["tasks"] == {"pending": 1, "in_progress": 0, "finished": 3, "error": 3}
    assert (found["failures"][0]["cause"], found["failures"][0]["last_error"]) == ("http_error", "HTTP 410")
    assert {row["cause"] for row in found["failures"]} == {"http_error", "filtered"}
    assert found["exceptions_open"] == len(found["exceptions"]) == 2
    assert (found["seconds"], found["waiting"]) == (60.0, [{"domain": "shop.example", "tasks": 1}])


def test_lists_have_an_end(database: Database) -> None:
    """However much went wrong."""
    count = MOST + 5
    queue = Queue(database, a_run(database, *map(page, range(count))))
    for lease in queue.acquire(limit=count):
        queue.fail(lease, final=True)
    found = report(database, queue.run_id)
    assert found["tasks"]["error"] == count
    assert len(found["failures"]) == MOST


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
        write_report(database, folder, run_id)
    assert sorted(path.name for path in folder.iterdir()) == [f"run-{run_id}.json", f"run-{run_id}.md"]
    document = json.loads((folder / f"run-{run_id}.json").read_text(encoding="utf-8"))
    assert document["outcomes"]["stored"] == 2
    assert json.loads(as_json(report(database, run_id)))["id"] == document["id"] == run_id
