"""The ledger: what comes while a group is being written goes with the next one."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from crawler.sessions.writes import MOST, Ledger, Posting

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class SlowBook:
    """Takes a turn of the event loop for each group, and remembers how large they were."""

    def __init__(self, error: Exception | None = None) -> None:
        self.sizes: list[int] = []
        self.error = error

    async def commit(self, postings: list[Posting[Any]]) -> None:
        """Write a group, or fail as a whole."""
        self.sizes.append(len(postings))
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        for posting in postings:
            posting.done(self.sizes[-1])


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """In a thread; pytest-twisted's loop runs in ours."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(work())).result()


def posting() -> Posting[int]:
    """Something to be written."""
    return Posting(lambda _db, _life: 0)


def test_nobody_waits_for_a_group_to_grow() -> None:
    """The first is written at once; all that came meanwhile go together, up to the limit."""
    book = SlowBook()

    async def work() -> None:
        ledger = Ledger(book.commit)
        first = asyncio.ensure_future(ledger.post(posting()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        others = [asyncio.ensure_future(ledger.post(posting())) for _ in range(MOST + 3)]
        assert await first == 1
        assert await asyncio.gather(*others) == [MOST] * MOST + [3] * 3
        await ledger.settle()

    run(work)
    assert book.sizes == [1, MOST, 3]


def test_a_group_that_cannot_be_written_at_all_is_told() -> None:
    """Nobody waits for ever, and the next group is tried."""
    book = SlowBook(RuntimeError("no threads are left"))

    async def work() -> None:
        ledger = Ledger(book.commit)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="no threads are left"):
                await ledger.post(posting())

    run(work)
    assert book.sizes == [1, 1]


def test_who_stops_waiting_takes_nothing_from_the_others() -> None:
    """A posting whose waiter was cancelled is written with the rest."""
    book = SlowBook()

    async def work() -> None:
        ledger = Ledger(book.commit)
        waiters = [asyncio.ensure_future(ledger.post(posting())) for _ in range(3)]
        await asyncio.sleep(0)
        waiters[1].cancel()
        done = await asyncio.gather(*waiters, return_exceptions=True)
        assert [type(each) for each in done] == [int, asyncio.CancelledError, int]

    run(work)
    assert sum(book.sizes) == 3
