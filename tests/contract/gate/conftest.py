"""A gate of each kind, and further ones on the same store, as other processes have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from crawler.access.gate import GateTimes
from crawler.access.local_gate import LocalGate
from crawler.access.redis_gate import RedisGate
from crawler.db.engine import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from crawler.access.gate import Gate

    MakeGate = Callable[..., Gate]

STORES = {"redis": "redis_database", "sqlite": "sqlite_database", "postgresql": "postgres_database"}
TIMES = GateTimes(
    lock_ttl_ms=30_000, min_delay_ms=20_000, throttle_ttl_ms=60_000, max_delay_ms=300_000, stamps=True
)


@pytest.fixture(params=STORES)
def make_gate(request: pytest.FixtureRequest) -> Generator[MakeGate]:
    """Opens gates on one store; the keywords are GateTimes to differ from `TIMES`."""
    url: str = request.getfixturevalue(STORES[request.param])
    opened: list[Gate] = []
    databases: list[Database] = []

    def make(**times: Any) -> Gate:
        if url.startswith("redis"):
            opened.append(RedisGate(url, evolve(TIMES, **times)))
        else:
            databases.append(Database(url))
            opened.append(LocalGate(databases[-1], evolve(TIMES, **times)))
        return opened[-1]

    yield make
    for gate in opened:
        gate.close()
    for database in databases:
        database.close()


@pytest.fixture
def gate(make_gate: MakeGate) -> Gate:
    """A gate with comfortable times."""
    return make_gate()
