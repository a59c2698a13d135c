"""Which capture of a URL is meant, around a time, before it and after it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from crawler.archive.lookup import (
    Capture,
    Near,
    all_of,
    around,
    counts_by_year,
    latest,
    near,
    of_year,
    span_of,
    which_are_there,
)
from crawler.clock import utc_now
from tests.unit.archive.written import NOON, SHOP, a_file, a_record

if TYPE_CHECKING:
    from crawler.db.engine import Database

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
EDGE = datetime(2026, 1, 1, tzinfo=UTC)


def a_capture(seconds: float, status: int | None = 200, number: int = 1) -> Capture:
    """One so long after noon."""
    at = NOON + timedelta(seconds=seconds)
    return Capture(number, SHOP, "k", at, "response", status, "text/html", None, 0, 1, "f")


@pytest.mark.parametrize(
    ("statuses", "embedded", "shown", "passed_over"),
    [
        ([500, 200], False, 1, 1),
        ([503, 404], False, 1, 1),  # that it is gone says something of the page
        ([404, 200], True, 1, 1),  # but nothing to show a page with
        ([500, 502], False, 0, 0),  # none says anything: the nearest
        ([None, 200], False, 0, 0),  # an answer without a status was one
        ([301, 200], False, 0, 0),
    ],
)
def test_what_a_failing_server_said_makes_way(
    statuses: list[int | None], shown: int, passed_over: int, *, embedded: bool
) -> None:
    """For the next capture that says something of the page."""
    found = [a_capture(number + 1, status, number) for number, status in enumerate(statuses)]
    chosen = Near(NOON, found).chosen(embedded=embedded)
    assert chosen is not None
    assert (chosen.capture.record_id, len(chosen.passed_over)) == (shown, passed_over)


def test_a_capture_of_exactly_that_second_is_the_one() -> None:
    """Though it is a failure, for that is what was asked for; of several in it the good one."""
    failed, good, later = a_capture(0, 500, 1), a_capture(0.9, 200, 2), a_capture(5, 200, 3)
    only_failed = Near(NOON, [failed, later]).chosen()
    both = Near(NOON, [failed, good, later]).chosen()
    assert only_failed is not None
    assert both is not None
    assert (only_failed.capture, both.capture) == (failed, good)
    assert Near(NOON, []).chosen() is None


def test_the_nearest_come_first(database: Database) -> None:
    """From both sides of the time, however many are on one; one of that second that is gone is told."""
    with database.write() as db:
        for hours in (-9, -8, -7, -6, -5, -4, 3):
            a_record(db, at=NOON + timedelta(hours=hours))
        a_record(db, f"{SHOP}other", NOON)
        a_record(db, at=NOON, warc_file_id=a_file(db, gone_at=NOON).id)
    with database.read() as db:
        found = near(db, "http://www.shop.example/", NOON, most=2)
        elsewhere = near(db, SHOP, NOON - DAY, most=2)
    assert [(each.captured_at - NOON) // timedelta(hours=1) for each in found.captures] == [3, -4, -5]
    assert (found.is_gone, elsewhere.is_gone) == (True, False)


def test_of_two_in_one_second_the_way_on_leads_out_of_it(database: Database) -> None:
    """An address has seconds: one that has the same digits would show the same page again."""
    times = [NOON - DAY, NOON, NOON + SECOND / 2, NOON + DAY]
    with database.write() as db:
        for at in times:
            a_record(db, at=at)
    with database.read() as db:
        [first, second] = [near(db, SHOP, at).captures[0] for at in (NOON, NOON + SECOND / 2)]
        for capture in (first, second):
            assert around(db, capture) == (times[0], times[0], times[3], times[3])


def test_the_newest_that_says_something(database: Database) -> None:
    """A failure after it is passed over; where there is nothing else, it is shown."""
    with database.write() as db:
        a_record(db, at=NOON, status_code=200)
        a_record(db, at=NOON + DAY, status_code=503)
        a_record(db, f"{SHOP}down", NOON, status_code=503)
    with database.read() as db:
        page, down = latest(db, SHOP), latest(db, f"{SHOP}down")
        assert page is not None
        assert down is not None
        assert (page.capture.captured_at, len(page.passed_over)) == (NOON, 1)
        assert (down.capture.status, down.passed_over) == (503, ())
        assert latest(db, f"{SHOP}never") is None


def test_only_what_is_kept_counts(database: Database) -> None:
    """Not what was erased, nor what went with its file, nor what has no date."""
    with database.write() as db:
        a_record(db, at=NOON)
        a_record(db, at=NOON + DAY, gone_at=utc_now())
        a_record(db, at=NOON + 2 * DAY, warc_file_id=a_file(db, gone_at=NOON).id)
        a_record(db, at=None)
    assert [each.captured_at for each in all_of(database, SHOP)] == [NOON]
    with database.read() as db:
        assert span_of(db, SHOP) == (NOON, NOON)
        assert span_of(db, f"{SHOP}never") is None


def test_pages_of_captures_miss_none(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor repeat one, where many are of one moment."""
    monkeypatch.setattr("crawler.archive.lookup.TIMEMAP_ROWS", 2)
    with database.write() as db:
        made = [a_record(db, at=NOON).id for _ in range(4)] + [a_record(db, at=NOON + DAY).id]
    assert [each.record_id for each in all_of(database, SHOP)] == made


def test_years_end_with_their_last_moment(database: Database) -> None:
    """In UTC; the bounds of the calendar are years as well."""
    times = [EDGE - SECOND / 1000, EDGE, datetime(9999, 12, 31, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)]
    with database.write() as db:
        for at in times:
            a_record(db, at=at)
    with database.read() as db:
        assert counts_by_year(db, SHOP) == {1: 1, 2025: 1, 2026: 1, 9999: 1}
        assert [each.captured_at for each in of_year(db, SHOP, 2026, most=5)] == [EDGE]
        assert len(of_year(db, SHOP, 9999, most=5)) == 1


def test_which_of_many_are_there(database: Database) -> None:
    """More than one statement may name; those that only failed are not."""
    with database.write() as db:
        for name, status in {"a": 200, "b": 404, "c": 302, "d": None}.items():
            a_record(db, f"{SHOP}{name}", status_code=status)
    asked: list[Any] = [f"{SHOP}{name}" for name in "abcd"] + [f"{SHOP}{n}" for n in range(1_200)]
    with database.read() as db:
        assert which_are_there(db, asked) == {f"{SHOP}{name}" for name in "acd"}
        assert which_are_there(db, []) == set()
