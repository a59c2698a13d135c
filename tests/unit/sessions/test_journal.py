"""A session's log: what is kept of each line, and that none is lost or written twice."""

from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from crawler.sessions.journal import Journal


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


def test_each_line_is_in_the_structured_log_at_once(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    """With the session that it is of."""
    with caplog.at_level(logging.INFO):
        journal.info("session", "session.start", epoch=2)
    [record] = caplog.records
    assert record.getMessage() == "session.start"
    assert record.__dict__["fields"] == {
        "session_id": str(journal.key), "domain": "shop.example", "epoch": 2,
    }  # fmt: skip


def test_threads_share_a_journal(journal: Journal) -> None:
    """What keeps locks writes beside the crawl; no line is lost or doubled."""
    with ThreadPoolExecutor(4) as threads:
        for number in range(400):
            threads.submit(journal.info, "lock", "lock.renewed", number=number)
        taken = [line for _ in range(50) for line in journal.take()]
    taken += journal.take()
    assert sorted(line.details["number"] for line in taken) == list(range(400))
