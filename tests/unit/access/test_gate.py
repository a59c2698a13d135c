"""The gate's times."""

from __future__ import annotations

import pytest

from crawler.access.gate import GateTimes

TIMES = GateTimes(lock_ttl_ms=300_000, min_delay_ms=2000, throttle_ttl_ms=60_000, max_delay_ms=300_000)


@pytest.mark.parametrize(
    ("seconds", "delay_ms"), [(1.5, 1500), (300, 300_000), (10**9, 300_000), (0, 0), (-5, 0)]
)
def test_what_a_site_may_ask_for(seconds: float, delay_ms: int) -> None:
    """Within DOMAIN_MAX_DELAY_SECONDS, and never a delay into the past."""
    assert TIMES.bounded(seconds) == delay_ms
