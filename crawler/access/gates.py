"""Which gate the settings ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.access.gate import Gate, GateTimes
from crawler.access.local_gate import LocalGate

if TYPE_CHECKING:
    from crawler.config import Settings
    from crawler.db.engine import Database


def open_gate(settings: Settings, database: Database) -> Gate:
    """The gate on `REDIS_URL`, or the one on the database where there is none."""
    times = GateTimes.of(settings)
    if settings.redis_url:
        from crawler.access.redis_gate import RedisGate  # ruff: ignore[import-outside-top-level] - slow to load

        return RedisGate(settings.redis_url, times)
    return LocalGate(database, times)
