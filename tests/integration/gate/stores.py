"""Gates by URL, as the tests and their worker processes open them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from crawler.access.acquisition import Acquisitions
from crawler.access.gate import GateTimes
from crawler.access.local_gate import LocalGate
from crawler.access.redis_gate import RedisGate
from crawler.db.engine import Database
from crawler.leases.renewer import Renewer

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.access.gate import Gate, Held
    from crawler.capture.failures import Cause
    from crawler.config import Settings


def _ignore(held: Held, why: Cause) -> None:
    """A holder that does not hear of its loss is the one that the fence is for."""


def times(lock_ttl_ms: int, min_delay_ms: int = 0) -> GateTimes:
    """The times that a test is about; the others out of the way."""
    return GateTimes(lock_ttl_ms, min_delay_ms, throttle_ttl_ms=60_000, max_delay_ms=300_000)


class OpenStores(ExitStack):
    """Opens what a test needs, and closes it in reverse."""

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def database(self, url: str) -> Database:
        """A database with tables."""
        database = Database(url)
        self.callback(database.close)
        return database

    def gate(self, url: str, gate_times: GateTimes) -> Gate:
        """A gate of its own connections, as another process would have it."""
        if url.startswith("redis"):
            redis_gate = RedisGate(url, gate_times)
            self.callback(redis_gate.close)
            return redis_gate
        return LocalGate(self.database(url), gate_times)

    def renewer(
        self, gate: Gate, ttl_ms: int, on_lost: Callable[[Held, Cause], object] = _ignore
    ) -> Renewer[Held]:
        """What renews that gate's locks, where no session does."""
        renewer = Renewer(
            "domain-locks", lambda held: [lock for lock in held if gate.extend(lock)], on_lost,
            lasts=ttl_ms / 1000, one_by_one=True,
        )  # fmt: skip
        self.callback(renewer.close)
        return renewer

    def acquisitions(self, gate: Gate, settings: Settings, **options: Any) -> Acquisitions:
        """The way in of one more process."""
        acquisitions = Acquisitions(gate, settings, **options)
        self.callback(acquisitions.renewer.close)
        return acquisitions
