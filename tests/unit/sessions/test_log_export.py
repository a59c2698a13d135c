"""A session's log as a file, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crawler.sessions.log_export import log_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.evidence.files import KeptFile
    from tests.unit.sessions.conftest import Process

    ProcessOf = Callable[..., Process]


def lines_in(file: KeptFile | None) -> list[dict[str, Any]]:
    """What an export says."""
    assert file is not None
    return [json.loads(line) for line in file.packed.data.splitlines()]


def test_a_session_that_goes_on_has_no_file(process_of: ProcessOf) -> None:
    """Its last lines are for the caller to write."""
    process = process_of()
    visit = process.begin()
    visit.journal.info("test", "on the way")
    file, last = log_file(process.store.database, visit.fence.session_id, visit.journal)
    assert file is None
    assert [line.message for line in last] == ["session.start", "on the way"]


def test_stored_and_last_lines_are_one_log(process_of: ProcessOf) -> None:
    """In the order of time, one JSON object a line, under the session's name."""
    process = process_of()
    visit = process.begin()
    process.finish(visit)
    visit.journal.info("lock", "lock.release.success")
    file, last = log_file(process.store.database, visit.fence.session_id, visit.journal)
    assert file is not None
    assert file.uri == f"shop.example__{visit.id}/session_logs.jsonl"
    lines = lines_in(file)
    assert [line["message"] for line in lines] == ["session.start", "session.end", "lock.release.success"]
    assert sorted(lines[0]) == ["details", "event_type", "level", "message", "timestamp"]
    assert lines[0]["details"]["epoch"] == 1
    assert [line.message for line in last] == ["lock.release.success"]


def test_a_later_end_has_a_name_of_its_own(process_of: ProcessOf) -> None:
    """A name that a row claims is left alone; another attempt has a folder of its own."""
    process = process_of()
    visit = process.begin()
    process.finish(visit)
    for _ in range(2):
        process.store.export_log(visit.fence.session_id)
    process.store.requeue(visit.id)
    process.finish(process.start(visit.fence.session_id))
    process.store.export_log(visit.fence.session_id)
    folder = f"shop.example__{visit.id}"
    assert {entry.uri for entry in process.store.blobs.entries()} == {
        f"{folder}/session_logs.jsonl",
        f"{folder}/session_logs-2.jsonl",
        f"{folder}/attempt-2/session_logs.jsonl",
    }
