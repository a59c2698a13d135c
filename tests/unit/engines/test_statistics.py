"""Which lines are statistics, and which only look so."""

from __future__ import annotations

import json

import pytest

from crawler.engines.statistics import complaint_of, end_line, end_of, statistics_line, statistics_of

DETAILS = {"crawled": 5, "total": 9, "pending": 3, "failed": 1, "waiting": True, "run": 7}
LINE = statistics_line(DETAILS, at="2026-01-01T00:00:00Z")


def test_a_line_is_read_as_it_was_written() -> None:
    """Both kinds."""
    said = statistics_of(LINE)
    assert said is not None
    assert (said.crawled, said.total, said.pending, said.failed, said.waiting, said.run) == (
        5,
        9,
        3,
        1,
        True,
        7,
    )
    assert said.raw == DETAILS
    end = end_of(end_line({"stage": "completed", "engine_exit": 0, "zim": None}, at=""))
    assert end is not None
    assert (end.stage, end.zim) == ("completed", None)


@pytest.mark.parametrize(
    "line",
    [
        "Crawl statistics", "console: " + LINE, LINE + " more", LINE[:-1], json.dumps({"message": LINE}),
        LINE.replace("crawlStatus", "pageConsole"), LINE.replace('"crawled": 5', '"crawled": "many"'),
        json.dumps({"context": "crawlStatus", "message": "Crawl statistics", "details": [1]}),
        '{"message": "Crawl statistics", "a":' * 5_000,
        LINE[:-1] + " " * 70_000 + "}",
    ],
)  # fmt: skip
def test_what_only_looks_so_counts_for_nothing(line: str) -> None:
    """An archived page may print what it likes to its console; nothing of that is the crawler's word."""
    assert statistics_of(line) is None


def test_counts_that_cannot_be_are_brought_into_bounds() -> None:
    """They are written to a database."""
    line = statistics_line({"crawled": 10**30, "total": -5, "failed": True, "pending": 1.5}, at="")
    said = statistics_of(line)
    assert said is not None
    assert (said.crawled, said.total, said.failed, said.pending, said.run) == (2**53, 0, 0, 0, None)


@pytest.mark.parametrize(
    ("level", "message", "kind"),
    [
        ("error", "Navigation timeout of 90000 ms exceeded", "timeout"),
        ("warn", "Page Load Timed Out", "timeout"),
        ("error", "Page load failed: status code 500", "http"),
        ("info", "Navigation timeout", None),
        ("error", "something else", None),
    ],
)
def test_what_an_engine_complains_of(level: str, message: str, kind: str | None) -> None:
    """Errors and warnings of these two kinds are counted."""
    assert complaint_of(json.dumps({"logLevel": level, "message": message})) == kind
    assert complaint_of(message) is None
