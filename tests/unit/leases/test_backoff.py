"""Waits that grow, and budgets that end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.leases.backoff import Backoff, FailureBudget


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (5_000, 60)])
def test_each_wait_is_longer_up_to_the_longest(failures: int, seconds: float) -> None:
    """Twice as long each time; a number too large to be reckoned is the longest too."""
    assert Backoff(1, maximum=60).delay(failures) == seconds


def test_chance_spreads_what_failed_together() -> None:
    """By up to the jitter."""
    backoff = Backoff(1, jitter=0.5)
    assert [backoff.delay(2, chance) for chance in (0, 0.5, 1)] == [2, 2.25, 2.5]


@given(
    failures=st.integers(1, 10_000),
    chance=st.floats(0, 1),
    base=st.floats(0, 100),
    more=st.floats(0, 100),
    factor=st.floats(1, 1_000),
)
def test_no_wait_is_out_of_bounds(
    failures: int, chance: float, base: float, more: float, factor: float
) -> None:
    """Never shorter than the first, never longer than the longest."""
    backoff = Backoff(base, maximum=base + more, factor=factor, jitter=1)
    assert base <= backoff.delay(failures, chance) <= base + more


def test_there_is_a_wait_between_any_two_tries() -> None:
    """And none after the last."""
    assert list(Backoff(0.5, maximum=8).delays(7)) == [0.5, 1, 2, 4, 8, 8]
    assert list(Backoff(1).delays(1)) == []


def test_a_budget_is_spent_after_so_long_without_any_success() -> None:
    """Counted from the first failure; a success fills it again."""
    budget = FailureBudget(seconds=60)
    assert not budget.is_spent(1e9)
    assert not budget.spend("first", 100)
    assert not budget.spend("second", 159.9)
    assert not budget.is_spent(159.9)
    assert budget.is_spent(160)
    assert budget.error == "second"
    budget.refill()
    assert not budget.is_spent(1e9)
    assert not budget.spend("third", 1000)
