"""Which files go, when a failure is tried again, and how a pass is reported."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from crawler.retention.plan import CleanupResult, DueRow, pause_after, planned

MINUTE = timedelta(minutes=1)


def due(number: int, uri: str) -> DueRow:
    """An expired row."""
    return DueRow(UUID(int=number), UUID(int=0), uri, 100, 0)


@pytest.mark.parametrize(
    ("failures", "minutes"),
    [(1, 10), (2, 20), (3, 40), (4, 80), (7, 640), (8, 1280), (9, 1440), (10, 1440), (10_000, 1440)],
)
def test_pause_doubles_up_to_a_day(failures: int, minutes: int) -> None:
    """Ten minutes, then twice as long each time, never longer than a day."""
    assert pause_after(failures) == minutes * MINUTE


def test_each_file_is_removed_once() -> None:
    """Rows that name one file are dealt with together; files come in the order of their names."""
    rows = [due(1, "b"), due(2, "a"), due(3, "b")]
    plan = planned(rows, needed=set())
    assert list(plan.files.items()) == [("a", (rows[1],)), ("b", (rows[0], rows[2]))]
    assert plan.keep == ()


def test_needed_file_stays() -> None:
    """All rows of a file that somebody else needs are kept apart."""
    rows = [due(1, "b"), due(2, "a"), due(3, "b")]
    plan = planned(rows, needed={"b", "unrelated"})
    assert plan.files == {"a": (rows[1],)}
    assert plan.keep == (rows[0], rows[2])


def test_nothing_to_do() -> None:
    """No rows, no files."""
    assert planned([], needed={"a"}).files == {}


# ── how a pass is reported ──


def test_document_has_the_documented_keys() -> None:
    """Scripts read these names."""
    result = CleanupResult(candidates=4, deleted=3, failed=1, reclaimed_bytes=5, remaining=6)
    assert result.as_document() == {
        "candidates": 4, "deleted": 3, "failed": 1, "reclaimed_bytes": 5, "remaining": 6,
        "dry_run": False, "artifacts": [], "unclaimed": 0, "unclaimed_files": [],
        "collections_processed": 0, "collections": [],
    }  # fmt: skip


def test_line_has_the_documented_form() -> None:
    """MB are of 1024 * 1024 bytes, to two decimals (SPEC B53, B54)."""
    result = CleanupResult(deleted=3, failed=1, reclaimed_bytes=1_600_000)
    assert str(result) == "deleted=3, failed=1, reclaimed_bytes=1600000 (1.53 MB)"
    assert f"{result.reclaimed_mb}" == "1.53"
