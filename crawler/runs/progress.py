"""How fast a run goes, and how long it will take. Pure: times come in."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOKED_BACK_SECONDS = 30.0


@frozen
class Standing:
    """A run at one moment, as people are told."""

    finished: int
    error: int
    refused: int  # of the errors: they must not be fetched, and nothing failed
    waiting: int  # pending ones and those that are being fetched
    rate: float  # ends of tasks a second, lately
    seconds_left: float | None  # None while nobody can tell


@define
class Pace:
    """Counts of the last half minute, and what follows from them."""

    _seen: deque[tuple[float, int]] = field(factory=deque)

    def note(self, counts: Mapping[str, int], now: float) -> Standing:
        """Take in the run's counts as they are now."""
        ended = counts["finished"] + counts["error"]
        self._seen.append((now, ended))
        while now - self._seen[0][0] > LOOKED_BACK_SECONDS:
            self._seen.popleft()
        then, before = self._seen[0]
        rate = (ended - before) / (now - then) if now > then else 0.0
        waiting = counts["pending"] + counts["in_progress"]
        left = waiting / rate if rate > 0 else None
        return Standing(counts["finished"], counts["error"], counts["refused"], waiting, rate, left)
