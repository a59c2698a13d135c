"""The rules of the gate on the database: what is left of a delay, and how long a holder waits."""

from __future__ import annotations

import pytest
from attrs import evolve

from crawler.access.gate import GateTimes
from crawler.access.local_gate import starts_in_ms, throttle_left_ms

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
    assert throttle_left_ms(TIMES, since_ms) == left_ms


def test_no_delay_is_no_wait() -> None:
    """With DOMAIN_MIN_DELAY_MS=0 nobody waits."""
    assert throttle_left_ms(evolve(TIMES, min_delay_ms=0), 0) == 0


@pytest.mark.parametrize(
    ("since_ms", "left_ms"),
    [(-1500, 1500), (0, 0), (1500, 0), (-299_000, 299_000), (-(10**12), 300_000)],
)
def test_how_long_a_holder_waits(since_ms: int, left_ms: int) -> None:
    """Until its start, which lies in the future; a clock that runs wrong holds nobody up for ever."""
    assert starts_in_ms(TIMES, since_ms) == left_ms
