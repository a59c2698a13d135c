"""Whether a crawl stands still, told by a clock that the test moves."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.engines.flags import ToolOrder
from crawler.engines.monitor import LOOKS_PER_LIMIT, STALL_MINUTES, Monitor
from crawler.engines.statistics import statistics_line
from crawler.engines.strategy import Trouble


class Clock:
    """A clock that stands until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        """Now."""
        return self.now


def line(crawled: int, **more: Any) -> str:
    """A line of statistics."""
    return statistics_line({"crawled": crawled, "total": 100, "pending": 5, "failed": 0, **more}, at="")


@pytest.fixture
def clock() -> Clock:
    """At zero."""
    return Clock()


def watching(clock: Clock, **options: Any) -> Monitor:
    """A monitor with a minute's patience."""
    given = {"enable_monitoring": True, "stall_timeout_minutes": 1, **options}
    return Monitor(ToolOrder(("https://shop.example/",), "shop", "/out", given), clock)


def test_silence_is_a_standstill(clock: Clock) -> None:
    """Nobody has to say anything for that; and it is looked at often enough to be found in time."""
    monitor = watching(clock)
    clock.now = 59
    assert monitor.trouble() is None
    clock.now = 60
    assert monitor.trouble() is Trouble.STALL
    assert monitor.interval_seconds <= 0.2 * 60
    assert watching(clock, enable_monitoring=False).trouble() is None


def test_words_are_no_progress_but_pages_are(clock: Clock) -> None:
    """The same count again is none either; a wait that the site asked for stops the clock."""
    monitor = watching(clock)
    for clock.now, said in ((30, line(1)), (50, "any word"), (80, line(1)), (85, "more")):
        monitor.hear(said)
    assert monitor.trouble() is None
    clock.now = 90
    assert monitor.trouble() is Trouble.STALL
    monitor.hear(line(1, waiting=True))
    assert monitor.trouble() is None
    assert monitor.progressed


def test_who_writes_up_what_was_crawled_is_not_standing_still(clock: Clock) -> None:
    """After the last page there are words only."""
    monitor = watching(clock)
    monitor.hear(line(100, pending=0))
    for clock.now in (50.0, 100.0, 150.0):
        monitor.hear("building the archive")
    assert monitor.trouble() is None
    clock.now = 210
    assert monitor.trouble() is Trouble.STALL


def test_errors_are_counted_where_somebody_wants_to_know(clock: Clock) -> None:
    """From the threshold on."""
    complaint = '{"logLevel": "error", "message": "Navigation timeout"}'
    monitor, careless = watching(clock, error_threshold_timeout=2), watching(clock)
    for each in (monitor, careless):
        each.hear(complaint)
        assert each.trouble() is None
        each.hear(complaint)
    assert (monitor.trouble(), careless.trouble()) == (Trouble.TIMEOUTS, None)


def test_a_crawl_that_is_gone_on_with_counts_from_where_it_was(clock: Clock) -> None:
    """Fewer pages than before are no progress: the engine counts anew."""
    monitor = watching(clock)
    monitor.hear(line(5))
    clock.now = 30
    monitor.hear(line(2))
    clock.now = 60
    assert monitor.trouble() is Trouble.STALL


@pytest.mark.parametrize(
    ("options", "limit", "looks"),
    [
        ({}, 60, 60 / LOOKS_PER_LIMIT), ({"monitor_interval_seconds": 1}, 60, 1),
        ({"stall_timeout_minutes": None}, 60 * STALL_MINUTES, 30),
        ({"stall_timeout_minutes": 100, "monitor_interval_seconds": 9_999}, 6_000, 6_000 / LOOKS_PER_LIMIT),
        ({"stall_timeout_minutes": 0.001}, 0.06, 0.06 / LOOKS_PER_LIMIT),
    ],
)  # fmt: skip
def test_it_is_looked_at_often_enough(
    clock: Clock, options: dict[str, Any], limit: float, looks: float
) -> None:
    """Whatever is said of either."""
    monitor = watching(clock, **options)
    assert monitor.stall_seconds == pytest.approx(limit)
    assert monitor.interval_seconds == pytest.approx(looks)


def test_a_standstill_is_told_before_errors(clock: Clock) -> None:
    """And errors of the network before those of answers."""
    monitor = watching(clock, error_threshold_timeout=1, error_threshold_http=1)
    monitor.hear('{"logLevel": "error", "message": "Page load failed: status code 500"}')
    assert monitor.trouble() is Trouble.HTTP_ERRORS
    monitor.hear('{"logLevel": "error", "message": "Navigation timeout"}')
    assert monitor.trouble() is Trouble.TIMEOUTS
    clock.now = 60
    assert monitor.trouble() is Trouble.STALL
