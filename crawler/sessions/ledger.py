"""Brings together what is posted while a group is being written; the next group takes all of it."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.sessions.group import MOST

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.sessions.posting import Posting

T = TypeVar("T")


class Ledger:
    """One group is under way at a time; nobody waits for a group to grow.

    `commit` is awaited with each group; afterwards its postings carry what became of them.
    """

    def __init__(self, commit: Callable[[list[Posting[Any]]], Awaitable[None]]) -> None:
        self._commit = commit
        self._waiting: deque[tuple[Posting[Any], asyncio.Future[None]]] = deque()
        self._writing: asyncio.Task[None] | None = None

    async def post(self, posting: Posting[T]) -> T:
        """Have a posting written, with whatever else is there by then; its result, once that is committed."""
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((posting, written))
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write())
        await written
        return posting.result

    async def settle(self) -> None:
        """Wait for what is under way."""
        while self._writing is not None:
            await asyncio.wait([self._writing])

    async def _write(self) -> None:
        try:
            while self._waiting:
                group = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
                try:
                    await self._commit([posting for posting, _ in group])
                except Exception as error:  # ruff: ignore[blind-except] - told to those who wait
                    for posting, _ in group:
                        posting.fail(error)
                for _, written in group:
                    if not written.done():  # its waiter may have been cancelled
                        written.set_result(None)
        finally:
            self._writing = None
