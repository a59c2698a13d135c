"""How long a browser lives: so many pages, then the next one is started when nobody uses it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from attrs import define, field

from crawler import logs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

LOOK_SECONDS = 0.25
log = logs.get_logger(__name__)


@define(eq=False)
class Lifetime:
    """Counts what a browser has rendered, so that what it does not give back stays bounded."""

    limit: int
    pages: int = 0
    _tasks: set[asyncio.Task[None]] = field(factory=set)

    @property
    def is_over(self) -> bool:
        """Whether it is to be started anew."""
        return self.pages >= self.limit

    async def admit(self, is_used: Callable[[], bool], is_wanted: Callable[[], bool]) -> None:
        """Let a further session in; one that comes to a browser that is to go waits for those in it."""
        while self.is_over and is_used() and is_wanted():
            await _a_moment()

    async def end(self, let_go: Callable[[], Awaitable[None]]) -> None:
        """Let go of a browser that is old enough; the next page starts another."""
        if not self.is_over:
            return
        log.info("browser.renewed", pages=self.pages)
        self.pages = 0
        await let_go()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside what is going on."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Wait for what is done beside."""
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _a_moment() -> None:
    await asyncio.sleep(LOOK_SECONDS)
