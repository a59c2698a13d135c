"""The queue: what comes while a group is being written goes with the next one."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from crawler.config import load_settings
from crawler.sessions.writes import MOST, Write, WriteQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence


class SlowQueue(WriteQueue):
    """Stores nothing until it is let, and remembers how large the groups were."""

    def __init__(self, error: Exception | None = None) -> None:
        nothing: Any = None
        super().__init__(load_settings({}), nothing, nothing, ())
        self.sizes: list[int] = []
        self.error = error
        self.may_go_on = threading.Event()

    def _store(self, writes: Sequence[Write[Any]]) -> None:
        """Write a group, or fail as a whole."""
        self.sizes.append(len(writes))
        assert self.may_go_on.wait(10)
        if self.error:
            raise self.error
        for write in writes:
            write.write_in(len(self.sizes))  # type: ignore[arg-type]  # no database, only a number


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """In a thread; pytest-twisted's loop runs in ours."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(work())).result()


def write() -> Write[int]:
    """Something to be written; what that brings is the number of its group."""
    number_of: Any = int
    return Write(number_of)


def test_nobody_waits_for_a_group_to_grow() -> None:
    """The first is written at once; all that came meanwhile go together, up to the limit."""
    queue = SlowQueue()

    async def work() -> None:
        first = asyncio.ensure_future(queue.post(write()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        others = [asyncio.ensure_future(queue.post(write())) for _ in range(MOST + 3)]
        await asyncio.sleep(0)
        queue.may_go_on.set()
        assert await first == 1
        assert await asyncio.gather(*others) == [2] * MOST + [3] * 3
        await queue.settle()

    run(work)
    assert queue.sizes == [1, MOST, 3]


def test_a_group_that_cannot_be_written_at_all_is_told() -> None:
    """Nobody waits for ever, and the next group is tried."""
    queue = SlowQueue(RuntimeError("no threads are left"))
    queue.may_go_on.set()

    async def work() -> None:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="no threads are left"):
                await queue.post(write())

    run(work)
    assert queue.sizes == [1, 1]


def test_who_stops_waiting_takes_nothing_from_the_others() -> None:
    """A write whose waiter was cancelled is written with the rest."""
    queue = SlowQueue()

    async def work() -> None:
        waiters = [asyncio.ensure_future(queue.post(write())) for _ in range(3)]
        await asyncio.sleep(0)
        waiters[1].cancel()
        queue.may_go_on.set()
        done = await asyncio.gather(*waiters, return_exceptions=True)
        assert [type(each) for each in done] == [int, asyncio.CancelledError, int]

    run(work)
    assert sum(queue.sizes) == 3


def test_what_follows_is_done_before_anybody_goes_on() -> None:
    """In the event loop's own thread, also where nobody waits any more."""
    queue = SlowQueue()
    done: list[tuple[int, int]] = []

    async def work() -> None:
        threads = [threading.get_ident()]
        following = write()
        following.then = lambda number: done.append((number, threading.get_ident()))
        waiter = asyncio.ensure_future(queue.post(following))
        await asyncio.sleep(0)
        waiter.cancel()
        queue.may_go_on.set()
        await queue.settle()
        assert done == [(1, threads[0])]

    run(work)
