"""The numbers behind leases and retries: how long to wait, and when to give up."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from datetime import timedelta

import pytest
from attrs import define, evolve
from hypothesis import given
from hypothesis import strategies as st
from scrapy.utils.defer import deferred_f_from_coro_f

from crawler.errors import ConfigError
from crawler.leases.backoff import Backoff, FailureBudget
from crawler.leases.patience import Patience
from crawler.leases.rules import LeaseRules


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (3, 4), (7, 60), (5_000, 60)])
def test_each_wait_is_longer_up_to_the_longest(failures: int, seconds: float) -> None:
    """Twice as long each time by default; a number too large to be reckoned is the longest too."""
    assert Backoff(1, maximum=60).delay(failures) == seconds
    assert LeaseRules().backoff(failures, chance=0) == timedelta(seconds=seconds)


def test_waits_follow_factor_and_jitter() -> None:
    """There is a wait between any two tries, and none after the last."""
    assert [Backoff(1, factor=3).delay(failures) for failures in (1, 2, 3)] == [1, 3, 9]
    assert [Backoff(1, jitter=0.5).delay(2, chance) for chance in (0, 0.5, 1)] == [2, 2.25, 2.5]
    assert LeaseRules(jitter_seconds=3, multiplier=4).backoff(2, chance=0.5) == timedelta(seconds=5.5)
    assert list(Backoff(0.5, maximum=8).delays(7)) == [0.5, 1, 2, 4, 8, 8]
    assert list(Backoff(1).delays(1)) == []


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


@define
class Moody:
    """Fails so often, then answers."""

    failures: int
    tried: int = 0

    async def answer(self) -> int:
        """How often it was asked."""
        self.tried += 1
        if self.tried <= self.failures:
            raise OSError("away")
        return self.tried


@deferred_f_from_coro_f
async def test_what_comes_back_in_time_was_never_away(caplog: pytest.LogCaptureFixture) -> None:
    """Each who waits begins to count with its own first failure; the log has two lines."""
    patience = Patience(60, Backoff(0.001))
    with caplog.at_level(logging.INFO, "crawler.leases.patience"):
        assert await patience.outlast(Moody(3).answer) == 4
    assert [record.getMessage().split()[0] for record in caplog.records] == ["store.away", "store.back"]


@deferred_f_from_coro_f
async def test_an_outage_that_several_meet_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """One gets through while the others are still refused; it is over when all have got through."""
    patience = Patience(60, Backoff(0.001))
    many = [Moody(failures) for failures in (1, 5, 3)]
    with caplog.at_level(logging.INFO, "crawler.leases.patience"):
        assert await asyncio.gather(*(patience.outlast(one.answer) for one in many)) == [2, 6, 4]
    assert [record.getMessage().split()[0] for record in caplog.records] == ["store.away", "store.back"]


@deferred_f_from_coro_f
async def test_what_is_away_for_too_long_is_given_up() -> None:
    """By the time that has gone by, however often it was tried; without patience at once."""
    away, began = Moody(1_000_000), time.monotonic()
    with pytest.raises(OSError, match="away"):
        await Patience(0.05, Backoff(0.001, factor=1)).outlast(away.answer)
    assert time.monotonic() - began >= 0.05
    assert away.tried >= 2
    once = Moody(1)
    with pytest.raises(OSError, match="away"):
        await Patience(0).outlast(once.answer)
    assert once.tried == 1
