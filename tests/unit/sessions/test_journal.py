"""A session's log: what is kept of each line, and that none is lost or written twice."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from crawler.sessions.journal import Journal, log_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.evidence.files import KeptFile
    from tests.unit.sessions.conftest import Process

    ProcessOf = Callable[..., Process]


@pytest.fixture
def journal() -> Journal:
    """A session's."""
    return Journal(str(uuid4()), "shop.example")


def test_lines_are_kept_until_somebody_takes_them(journal: Journal) -> None:
    """Each once, in their order, with level, type and details."""
    journal.info("session", "session.start", epoch=1)
    journal.warn("navigation", "navigation.gave_up", url="https://shop.example/")
    journal.error("error", "session.crashed")
    lines = journal.take()
    assert [(line.level, line.event_type, line.message) for line in lines] == [
        ("info", "session", "session.start"),
        ("warn", "navigation", "navigation.gave_up"),
        ("error", "error", "session.crashed"),
    ]
    assert lines[0].details == {"epoch": 1}
    assert lines[0].timestamp.tzinfo
    assert lines[0].timestamp <= lines[2].timestamp
    assert journal.take() == []


def test_what_could_not_be_written_comes_first_the_next_time(journal: Journal) -> None:
    """Lines that came meanwhile stand behind it."""
    journal.info("session", "one")
    taken = journal.take()
    journal.info("session", "two")
    journal.give_back(taken)
    assert [line.message for line in journal.take()] == ["one", "two"]


def test_details_are_fit_for_a_row(journal: Journal) -> None:
    """No password, no NUL, no object; a traceback goes to the structured log only."""
    journal.error(
        "error", "session.stopped",
        proxy="http://u:geheim@proxy.example/", text="a\x00b", error=ValueError("why"), exc_info=True,
    )  # fmt: skip
    [line] = journal.take()
    assert json.dumps(line.details)
    assert line.details == {"proxy": "http://u:***@proxy.example/", "text": "a\ufffdb", "error": "why"}


def test_threads_share_a_journal(journal: Journal) -> None:
    """What keeps locks writes beside the crawl; no line is lost or doubled."""
    with ThreadPoolExecutor(4) as threads:
        for number in range(400):
            threads.submit(journal.info, "lock", "lock.renewed", number=number)
        taken = [line for _ in range(50) for line in journal.take()]
    taken += journal.take()
    assert sorted(line.details["number"] for line in taken) == list(range(400))


# ── as a file, on SQLite and PostgreSQL ──


def lines_in(file: KeptFile | None) -> list[dict[str, Any]]:
    """What an export says."""
    assert file is not None
    return [json.loads(line) for line in file.packed.data.splitlines()]


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
    assert {entry.uri for entry in process.store.writes.blobs.entries()} == {
        f"{folder}/session_logs.jsonl",
        f"{folder}/session_logs-2.jsonl",
        f"{folder}/attempt-2/session_logs.jsonl",
    }
