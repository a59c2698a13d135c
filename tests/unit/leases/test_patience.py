"""Who waits for a store, and for how long."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest
from attrs import define
from scrapy.utils.defer import deferred_f_from_coro_f

from crawler.leases.backoff import Backoff
from crawler.leases.patience import Patience


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
