"""How long failures are put up with that nothing in between has made good. Pure: times come in."""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from attrs import define

from crawler import logs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@define
class Patience:
    """Counts failures in a row; it is over when they have lasted too long, or were too many."""

    seconds: float = math.inf
    most: float = math.inf
    error: str = ""  # the last one
    _since: float | None = None
    _times: int = 0

    def note(self, error: str, now: float) -> bool:
        """It failed again; whether that is enough."""
        self.error = error
        self._since = now if self._since is None else self._since
        self._times += 1
        return self.is_over(now)

    def forget(self) -> None:
        """It works again."""
        self._since, self._times = None, 0

    def is_over(self, now: float) -> bool:
        """Whether to give up."""
        return self._since is not None and (now - self._since >= self.seconds or self._times >= self.most)


# ── what blocks, run in threads of its own; and tried again where a database is away for a moment ──


P = ParamSpec("P")
T = TypeVar("T")
PATIENCE_SECONDS: tuple[float, ...] = (0.5, 1, 2, 4, 8, 8)  # between tries
THREADS = 3

log = logs.get_logger(__name__)


def patience_seconds() -> Iterator[float]:
    """The waits between one try and the next."""
    return iter(PATIENCE_SECONDS)


class Threads:
    """A few threads; what runs in them is awaited in the event loop."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="foreman")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run what blocks."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: function(*args, **kwargs))

    async def patiently(self, write: Callable[[], T]) -> T:
        """Try for some seconds: a database that is away for a moment must not cost what was done."""
        for wait in patience_seconds():
            try:
                return await self.run(write)
            except Exception as error:  # ruff: ignore[blind-except] - the last try raises it
                log.warning("run.write_delayed", error=str(error), again_in_seconds=wait)
                await asyncio.sleep(wait)
        return await self.run(write)

    def close(self) -> None:
        """Wait for what runs, and end."""
        self._pool.shutdown()
