"""Waiting for a store that is away, and saying so once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from attrs import define, field

from crawler import logs
from crawler.leases.backoff import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

WAITS = Backoff(0.5, maximum=4.0)

log = logs.get_logger(__name__)


@define
class Patience:
    """How long what refuses is asked again, from its first refusal; of many who wait only one says so.

    The store is back when all who waited for it have got through: the others may still be refused meanwhile.
    """

    seconds: float
    waits: Backoff = WAITS
    _refused: int = field(default=0, init=False)  # how many wait
    _is_told: bool = field(default=False, init=False)

    async def outlast(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try until it succeeds, or has failed for too long; the last failure is raised."""
        try:
            return await attempt()
        except Exception as error:
            if self.seconds <= 0:
                raise
            self._tell(error)
        self._refused += 1
        try:
            result = await self._try_again(attempt)
        finally:
            self._refused -= 1
        if self._is_told and not self._refused:
            self._is_told = False
            log.info("store.back")
        return result

    async def _try_again(self, attempt: Callable[[], Awaitable[T]]) -> T:
        clock, failures = asyncio.get_running_loop().time, 1
        until = clock() + self.seconds
        while True:
            await asyncio.sleep(min(self.waits.delay(failures), max(until - clock(), 0)))
            try:
                return await attempt()
            except Exception:
                failures += 1
                if clock() >= until:
                    raise

    def _tell(self, error: Exception) -> None:
        if not self._is_told:
            self._is_told = True
            log.warning("store.away", error=str(error), waited_for_seconds=self.seconds)
