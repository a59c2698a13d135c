"""The gate's rules: what is left of a delay, and what a site may ask for."""

from __future__ import annotations

import pytest
from attrs import evolve

from crawler.access.gate import GateTimes

TIMES = GateTimes(lock_ttl_ms=300_000, min_delay_ms=2000, throttle_ttl_ms=60_000, max_delay_ms=300_000)


@pytest.mark.parametrize(
    ("since_ms", "left_ms"),
    [
        (0, 2000),  # just now
        (1, 1999),
        (1999, 1),
        (2000, 0),
        (89_000, 0),
        (-30_000, 2000),  # another machine's clock: never longer than the delay
        (10**15, 0),  # never before
    ],
)
def test_what_is_left_of_the_delay(since_ms: int, left_ms: int) -> None:
    """Exactly the remainder, never more than the whole (SPEC A23)."""
    assert TIMES.throttle_left_ms(since_ms) == left_ms


def test_no_delay_is_no_wait() -> None:
    """With DOMAIN_MIN_DELAY_MS=0 nobody waits."""
    assert evolve(TIMES, min_delay_ms=0).throttle_left_ms(0) == 0


@pytest.mark.parametrize(
    ("since_ms", "left_ms"),
    [(-1500, 1500), (0, 0), (1500, 0), (-299_000, 299_000), (-(10**12), 300_000)],
)
def test_how_long_a_holder_waits(since_ms: int, left_ms: int) -> None:
    """Until its start, which lies in the future; a clock that runs wrong holds nobody up for ever."""
    assert TIMES.starts_in_ms(since_ms) == left_ms


@pytest.mark.parametrize(
    ("seconds", "delay_ms"), [(1.5, 1500), (300, 300_000), (10**9, 300_000), (0, 0), (-5, 0)]
)
def test_what_a_site_may_ask_for(seconds: float, delay_ms: int) -> None:
    """Within DOMAIN_MAX_DELAY_SECONDS, and never a delay into the past."""
    assert TIMES.bounded(seconds) == delay_ms
