"""How long a lease lasts, how often a thing is tried, how long it rests in between (SPEC D72-80). Pure."""

from __future__ import annotations

from datetime import timedelta

from attrs import frozen

from crawler.errors import ConfigError
from crawler.leases.backoff import Backoff
from crawler.storable import as_text

MAX_ERROR_CHARS = 1_000
_DAY = 86_400.0
MAX_DEADLINE_DAYS = 365  # an archive may take weeks


@frozen
class LeaseRules:
    """The numbers behind leases and retries; those that make no sense are refused."""

    lease_seconds: float = 30.0  # an owner that is silent for longer is taken for dead
    deadline_seconds: float = 600.0  # no lease is renewed beyond this, however lively its owner
    max_attempts: int = 3  # counted when a thing is begun, so one that kills its worker is capped too
    backoff_min_seconds: float = 1.0
    backoff_max_seconds: float = 60.0
    multiplier: float = 2.0
    jitter_seconds: float = 1.0

    def __attrs_post_init__(self) -> None:
        self._require("lease_seconds", 0.01, _DAY)
        self._require("deadline_seconds", self.lease_seconds, MAX_DEADLINE_DAYS * _DAY)
        self._require("max_attempts", 1, 1_000)
        self._require("backoff_min_seconds", 0, _DAY)
        self._require("backoff_max_seconds", self.backoff_min_seconds, _DAY)
        self._require("multiplier", 1, 1_000)
        self._require("jitter_seconds", 0, _DAY)

    @property
    def lease(self) -> timedelta:
        """From a lease, or a renewal, to its expiry."""
        return timedelta(seconds=self.lease_seconds)

    @property
    def deadline(self) -> timedelta:
        """From a lease to the moment that no renewal passes."""
        return timedelta(seconds=self.deadline_seconds)

    @property
    def rest_after_expiry(self) -> timedelta:
        """How long a thing rests whose lease ran out (SPEC D87)."""
        return timedelta(seconds=self.backoff_min_seconds)

    def backoff(self, attempts: int, chance: float) -> timedelta:
        """How long to rest after so many attempts: longer each time, and `chance` (0 to 1) of the jitter."""
        backoff = Backoff(
            self.backoff_min_seconds, self.backoff_max_seconds, self.multiplier, self.jitter_seconds
        )
        return timedelta(seconds=backoff.delay(attempts, chance))

    def is_last(self, attempts: int) -> bool:
        """Whether a thing that was tried so often is not tried again (SPEC D72)."""
        return attempts >= self.max_attempts

    def _require(self, name: str, low: float, high: float) -> None:
        # Asked the way round that refuses NaN.
        value = getattr(self, name)
        if not low <= value <= high:
            raise ConfigError(f"{name} is {value:g}; it takes {low:g} to {high:g}")


def stored_error(message: str) -> str:
    """A message as it stands in a row; where it was cut, that shows."""
    text = as_text(message, MAX_ERROR_CHARS + 1)
    return text if len(text) <= MAX_ERROR_CHARS else text[: MAX_ERROR_CHARS - 1] + "…"
