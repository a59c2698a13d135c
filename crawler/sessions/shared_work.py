"""Work that several ask for at once, and that is done once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Hashable

T = TypeVar("T")


class Shared(Generic[T]):
    """Work that several requests wait for and only the first begins."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[T]] = {}

    async def get(self, key: Hashable, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the work that goes by `key`; a caller who is cancelled does not end it."""
        if key not in self._tasks:
            task = self._tasks[key] = asyncio.ensure_future(begin())
            task.add_done_callback(lambda _: self._tasks.pop(key))
        return await asyncio.shield(self._tasks[key])

    async def settle(self) -> None:
        """Wait for what is under way."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
