"""How long to wait after a failure, and when it is enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator


@frozen
class Backoff:
    """Waits in seconds, each longer than the one before, up to a maximum."""

    base: float  # after the first failure
    maximum: float = math.inf
    factor: float = 2.0
    jitter: float = 0.0  # what chance may add, so that those who failed together do not come back together

    def delay(self, failures: int, chance: float = 0.0) -> float:
        """How long to wait after so many failures in a row, counted from 1; `chance` is 0 to 1."""
        try:
            wait = self.base * self.factor ** (failures - 1)
        except OverflowError:
            wait = math.inf
        return min(wait + chance * self.jitter, self.maximum)

    def delays(self, tries: int) -> Iterator[float]:
        """The waits between so many tries."""
        return map(self.delay, range(1, tries))


@define
class FailureBudget:
    """Puts up with failures in a row until they have lasted too long."""

    seconds: float
    error: str = ""  # the last one
    _since: float | None = field(default=None, init=False)

    def spend(self, error: str, now: float) -> bool:
        """It failed again; whether that is enough."""
        self.error = error
        self._since = now if self._since is None else self._since
        return self.is_spent(now)

    def refill(self) -> None:
        """It works again."""
        self._since = None

    def is_spent(self, now: float) -> bool:
        """Whether to give up."""
        return self._since is not None and now - self._since >= self.seconds
