"""Gates by URL, as the tests and their worker processes open them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from crawler.access.gate import GateTimes
from crawler.access.keeper import Keeper
from crawler.access.local_gate import LocalGate
from crawler.access.redis_gate import RedisGate
from crawler.db.engine import Database

if TYPE_CHECKING:
    from crawler.access.gate import Gate


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

    def keeper(self, gate: Gate, ttl_ms: int, session_max_seconds: float = 60) -> Keeper:
        """A keeper of that gate's locks."""
        keeper = Keeper(gate, ttl_ms / 1000, session_max_seconds)
        self.callback(keeper.close)
        return keeper
