"""Waiting for a store that is away, and saying so once."""

from __future__ import annotations

import asyncio
import math
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
    """How long what refuses is asked again, from its first refusal; of many who wait only one says so."""

    seconds: float
    waits: Backoff = WAITS
    _is_told: bool = field(default=False, init=False)

    async def outlast(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try until it succeeds, or has failed for too long; the last failure is raised."""
        clock, since, failures = asyncio.get_running_loop().time, math.inf, 0
        while True:
            try:
                result = await attempt()
            except Exception as error:
                since, failures = min(since, clock()), failures + 1
                left = since + self.seconds - clock()
                if left <= 0:
                    raise
                self._tell(error)
                await asyncio.sleep(min(self.waits.delay(failures), left))
            else:
                if self._is_told:
                    self._is_told = False
                    log.info("store.back")
                return result

    def _tell(self, error: Exception) -> None:
        if not self._is_told:
            self._is_told = True
            log.warning("store.away", error=str(error), waited_for_seconds=self.seconds)
