"""Waits that grow, budgets that end, and tries in between."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.leases.backoff import Backoff, FailureBudget, persistently


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (5_000, 60)])
def test_each_wait_is_longer_up_to_the_longest(failures: int, seconds: float) -> None:
    """Twice as long each time; a number too large to be reckoned is the longest too."""
    assert Backoff(1, maximum=60).delay(failures) == seconds


def test_chance_spreads_what_failed_together() -> None:
    """By up to the jitter."""
    backoff = Backoff(1, jitter=0.5)
    assert [backoff.delay(2, chance) for chance in (0, 0.5, 1)] == [2, 2.25, 2.5]


def test_another_factor_grows_otherwise() -> None:
    """And a factor of one not at all."""
    assert [Backoff(1, factor=3).delay(failures) for failures in (1, 2, 3)] == [1, 3, 9]
    assert Backoff(5, factor=1).delay(99) == 5


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


def test_a_budget_is_spent_after_so_many_in_a_row() -> None:
    """However fast they come."""
    budget = FailureBudget(most=3)
    assert [budget.spend("no", 0) for _ in range(3)] == [False, False, True]
    budget.refill()
    assert not budget.spend("no", 0)


class Moody:
    """Fails so many times before it works."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.calls = 0
        self.heard: list[tuple[str, float]] = []

    async def attempt(self) -> int:
        """Try."""
        self.calls += 1
        if self.calls <= self.failures:
            raise OSError("away")
        return self.calls

    def hear(self, error: Exception, wait: float) -> None:
        """Note a failure."""
        self.heard.append((str(error), wait))


def tried(moody: Moody, *waits: float) -> int:
    """Try it, in a loop of its own: pytest-twisted's runs in this thread."""
    with ThreadPoolExecutor(1) as thread:
        trying = persistently(moody.attempt, waits, moody.hear)
        return thread.submit(asyncio.run, trying).result()


def test_what_fails_is_tried_again_after_each_wait() -> None:
    """Each failure is told, with the wait that follows."""
    moody = Moody(2)
    assert tried(moody, 0.0, 0.001, 60) == 3
    assert moody.heard == [("away", 0.0), ("away", 0.001)]


def test_the_last_failure_is_raised() -> None:
    """After one try more than there are waits."""
    moody = Moody(9)
    with pytest.raises(OSError, match="away"):
        tried(moody, 0.0, 0.0)
    assert moody.calls == 3
    assert len(moody.heard) == 2


def test_who_hears_of_a_failure_may_end_the_trying() -> None:
    """Some errors do not pass."""

    class Strict(Moody):
        def hear(self, error: Exception, wait: float) -> None:
            raise error

    strict = Strict(9)
    with pytest.raises(OSError, match="away"):
        tried(strict, 60, 60)
    assert strict.calls == 1
