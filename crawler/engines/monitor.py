"""Whether a crawl stands still or has too many errors: told by a clock of its own, not by the next line."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from crawler.engines.statistics import complaint_of, statistics_of
from crawler.engines.strategy import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.engines.flags import ToolOrder
    from crawler.engines.statistics import Statistics

STALL_MINUTES = 30.0
INTERVAL_SECONDS = 30.0
# A standstill is found within this part of its limit after it.
LOOKS_PER_LIMIT = 8


class Monitor:
    """Hears the lines of one attempt of an engine, and is asked from time to time."""

    def __init__(self, order: ToolOrder, clock: Callable[[], float], captured: int = 0) -> None:
        """Watch an attempt; so many pages were `captured` by those before it."""
        self.order = order
        self.last: Statistics | None = None
        self.progressed = False  # whether this attempt captured more than any before it
        self._captured = captured
        self._clock = clock
        self._lock = Lock()
        self._alive_at = clock()
        self._complaints = {"timeout": 0, "http": 0}
        minutes = order.option("stall_timeout_minutes")
        self.stall_seconds = 60 * (STALL_MINUTES if minutes is None else minutes)
        interval = order.option("monitor_interval_seconds") or INTERVAL_SECONDS
        self.interval_seconds = min(interval, self.stall_seconds / LOOKS_PER_LIMIT)

    def hear(self, line: str) -> None:
        """Take a line: pages are progress, and so is a wait that the site asked for."""
        said, complaint = statistics_of(line), complaint_of(line)
        with self._lock:
            if complaint:
                self._complaints[complaint] += 1
            if said is not None:
                self._hear_statistics(said)
            elif self.last is not None and self.last.is_finishing:
                self._alive_at = self._clock()  # what is made of the pages makes no pages

    def trouble(self) -> Trouble | None:
        """What is wrong now; None where nothing is, or nobody wants to know."""
        if not self.order.option("enable_monitoring"):
            return None
        with self._lock:
            if self._clock() - self._alive_at >= self.stall_seconds:
                return Trouble.STALL
            if self._is_over("error_threshold_timeout", "timeout"):
                return Trouble.TIMEOUTS
            return Trouble.HTTP_ERRORS if self._is_over("error_threshold_http", "http") else None

    def _hear_statistics(self, said: Statistics) -> None:
        before = self.last.crawled if self.last is not None else 0
        if said.crawled > self._captured:
            self.progressed = True
        if said.waiting or said.crawled > before:
            self._alive_at = self._clock()
        self.last = said

    def _is_over(self, option: str, complaint: str) -> bool:
        most = self.order.option(option)
        return most is not None and self._complaints[complaint] >= most
