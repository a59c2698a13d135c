"""The numbers behind leases: what they make of a failure, and which of them are refused."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.leases.rules import LeaseRules


@pytest.mark.parametrize(
    ("attempts", "seconds"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (10, 60), (5_000, 60)]
)
def test_each_rest_is_longer_up_to_the_longest(attempts: int, seconds: float) -> None:
    """Twice as long each time (SPEC D79); a number too large to be reckoned is the longest too."""
    assert LeaseRules().backoff(attempts, chance=0) == timedelta(seconds=seconds)


@given(
    attempts=st.integers(1, 10_000),
    chance=st.floats(0, 1),
    shortest=st.floats(0, 100),
    longer=st.floats(0, 100),
    multiplier=st.floats(1, 1_000),
)
def test_no_rest_is_out_of_bounds(
    attempts: int, chance: float, shortest: float, longer: float, multiplier: float
) -> None:
    """Never shorter than the shortest, never longer than the longest."""
    rules = LeaseRules(
        backoff_min_seconds=shortest, backoff_max_seconds=shortest + longer, multiplier=multiplier
    )
    rest = rules.backoff(attempts, chance).total_seconds()
    assert shortest - 1e-6 <= rest <= shortest + longer + 1e-6


def test_the_last_attempt_is_the_one_that_reaches_the_limit() -> None:
    """As many attempts as are allowed, no more and no fewer (SPEC D72)."""
    assert [LeaseRules(max_attempts=2).is_last(attempts) for attempts in (1, 2, 3)] == [False, True, True]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lease_seconds", 0),
        ("deadline_seconds", 29),
        ("deadline_seconds", math.inf),
        ("max_attempts", 0),
        ("backoff_min_seconds", 61),
        ("backoff_max_seconds", 0.5),
        ("multiplier", 0.5),
        ("multiplier", math.nan),
        ("jitter_seconds", -1),
    ],
)
def test_senseless_numbers_are_refused(name: str, value: float) -> None:
    """By name; nothing is clamped in silence."""
    with pytest.raises(ConfigError, match=r"_seconds is|max_attempts is|multiplier is"):
        evolve(LeaseRules(), **{name: value})  # type: ignore[arg-type]
