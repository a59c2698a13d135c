"""What happened at a domain: intervals in which somebody held it, on the machine's monotonic clock."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@frozen(order=True)
class Interval:
    """From after the lock was ours until before it was given back."""

    start: float
    end: float
    worker: str = field(order=False)


@define
class History:
    """Intervals that several threads add."""

    intervals: list[Interval] = field(factory=list)
    lost: int = 0
    _guard: threading.Lock = field(factory=threading.Lock)

    def add(self, interval: Interval) -> None:
        """An interval whose lock was ours to the end."""
        with self._guard:
            self.intervals.append(interval)

    def add_lost(self) -> None:
        """An interval whose lock did not last."""
        with self._guard:
            self.lost += 1


def overlaps(intervals: Iterable[Interval]) -> list[tuple[Interval, Interval]]:
    """Neighbours of which the second began before the first had ended."""
    return [(one, other) for one, other in pairwise(sorted(intervals)) if other.start < one.end]


def gaps(intervals: Iterable[Interval]) -> list[float]:
    """Milliseconds from each end to the next start."""
    return [(other.start - one.end) * 1000 for one, other in pairwise(sorted(intervals))]


def run_workers(work: Callable[[int], None], count: int) -> None:
    """Run so many threads to their end; an error in one of them is the test's."""
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))


def until(seconds: float) -> Callable[[], bool]:
    """Whether that much time is still left."""
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() < deadline
