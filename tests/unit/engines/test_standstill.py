"""Whether a crawl stands still, and what is done: fewer workers, another way out, a rest, the end."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.engines.flags import ToolOrder
from crawler.engines.monitor import Monitor
from crawler.engines.statistics import statistics_line
from crawler.engines.strategy import MAX_IN_VAIN, Adaptation, Trouble, answer_to


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


ADAPTIVE = {
    "enable_monitoring": True,
    "enable_adaptive_workers": True,
    "min_workers": 2,
    "backoff_delay_minutes": 5,
}
VPN = {
    "enable_monitoring": True, "enable_vpn_rotation": True, "vpn_connect_command": "vpn",
    "max_vpn_rotations": 2,
    "vpn_rotation_frequency_minutes": 10,
}  # fmt: skip


def order(**options: Any) -> ToolOrder:
    """An order with these options."""
    return ToolOrder(("https://shop.example/",), "shop", "/out", options)


def test_workers_are_never_fewer_than_the_least() -> None:
    """Half each time, so often, then it rests."""
    state, seen = Adaptation(8), []
    for _ in range(4):
        answer = answer_to(order(**ADAPTIVE, max_worker_reductions=5), state, 0, progressed=True)
        state = answer.after
        seen.append((state.workers, state.reductions, answer.what.split()[0], answer.rest_seconds))
    assert seen == [(4, 1, "goes", 300), (2, 2, "goes", 300), (2, 2, "rests", 300), (2, 2, "rests", 300)]
    assert answer_to(order(**ADAPTIVE), Adaptation(8, reductions=2), 0, progressed=True).after.workers == 8


def test_the_way_out_is_changed_not_more_often_than_said() -> None:
    """At most so many times, with so much time between."""
    first = answer_to(order(**VPN), Adaptation(1), 1000.0, progressed=True)
    assert (first.rotate, first.after.rotations, first.after.last_rotation) == (True, 1, 1000.0)
    assert not answer_to(order(**VPN), first.after, 1599.0, progressed=True).rotate
    second = answer_to(order(**VPN), first.after, 1600.0, progressed=True)
    assert second.rotate
    assert not answer_to(order(**VPN), second.after, 9999.0, progressed=True).rotate


def test_after_so_much_in_vain_it_is_over() -> None:
    """A page in between, and it is not."""
    state = Adaptation(1)
    for _ in range(MAX_IN_VAIN):
        answer = answer_to(order(), state, 0, progressed=False)
        assert not answer.gives_up
        state = answer.after
    assert answer_to(order(), state, 0, progressed=False).gives_up
    assert not answer_to(order(), state, 0, progressed=True).gives_up
