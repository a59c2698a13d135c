"""The numbers behind leases: what they make of a failure, and which of them are refused."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.leases.rules import MAX_ERROR_CHARS, LeaseRules, stored_error


def test_the_numbers_are_those_of_the_specification() -> None:
    """SPEC D80."""
    rules = LeaseRules()
    assert (rules.max_attempts, rules.lease) == (3, timedelta(seconds=30))
    assert (rules.backoff_min_seconds, rules.backoff_max_seconds) == (1, 60)
    assert (rules.multiplier, rules.jitter_seconds) == (2, 1)


@pytest.mark.parametrize(
    ("attempts", "seconds"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (10, 60), (5_000, 60)]
)
def test_each_rest_is_longer_up_to_the_longest(attempts: int, seconds: float) -> None:
    """Twice as long each time (SPEC D79); a number too large to be reckoned is the longest too."""
    assert LeaseRules().backoff(attempts, chance=0) == timedelta(seconds=seconds)


def test_chance_spreads_what_failed_together() -> None:
    """By up to the jitter."""
    rules = LeaseRules(jitter_seconds=3)
    assert rules.backoff(1, chance=0.5) == timedelta(seconds=2.5)


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
        ("lease_seconds", -1),
        ("deadline_seconds", 29),
        ("deadline_seconds", math.inf),
        ("max_attempts", 0),
        ("backoff_min_seconds", -0.1),
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


def test_an_error_is_stored_as_both_databases_take_it() -> None:
    """PostgreSQL takes no NUL, and neither takes half a character."""
    assert stored_error("a\0b\ud800c") == "a\N{REPLACEMENT CHARACTER}b?c"


def test_a_long_error_is_cut() -> None:
    """A page of somebody's HTML in a message fills no table."""
    assert stored_error("x" * MAX_ERROR_CHARS) == "x" * MAX_ERROR_CHARS
    cut = stored_error("x" * (MAX_ERROR_CHARS + 1))
    assert (len(cut), cut[-2:]) == (MAX_ERROR_CHARS, "x…")
