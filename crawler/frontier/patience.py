"""How long failures are put up with that nothing in between has made good. Pure: times come in."""

from __future__ import annotations

import math

from attrs import define


@define
class Patience:
    """Counts failures in a row; it is over when they have lasted too long, or were too many."""

    seconds: float = math.inf
    most: float = math.inf
    error: str = ""  # the last one
    _since: float | None = None
    _times: int = 0

    def note(self, error: str, now: float) -> bool:
        """It failed again; whether that is enough."""
        self.error = error
        self._since = now if self._since is None else self._since
        self._times += 1
        return self.is_over(now)

    def forget(self) -> None:
        """It works again."""
        self._since, self._times = None, 0

    def is_over(self, now: float) -> bool:
        """Whether to give up."""
        return self._since is not None and (now - self._since >= self.seconds or self._times >= self.most)
