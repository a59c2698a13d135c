"""The reading processes: their answers, their deaths, and that none outlives its crawl or commands it."""

from __future__ import annotations

import asyncio
import os
import pickle  # ruff: ignore[suspicious-pickle-import] - what a hostile reader would write
import signal
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from crawler.pdp import PageQuestion, Reading, reading_of
from crawler.reading import Readers, ReadingFailedError, readers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PAGE = b"""<html><head><title>Jug</title></head><body><h1>Jug</h1><img src=jug.jpg><p class=price>$ 18.00</p>
<button>Add to cart</button><a href="/products/cup">Cup</a></body></html>"""
QUESTION = PageQuestion(PAGE, "https://shop.example/products/jug", "text/html", "v1.2", with_links=True)


def with_readers(work: Callable[[Readers], Awaitable[Any]], **options: Any) -> Any:
    """Do something with readers, and close them."""

    async def main() -> Any:
        readers = Readers(**options)
        try:
            return await work(readers)
        finally:
            await readers.close()

    # pytest-twisted's loop runs in this thread
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()


def test_the_answer_is_the_same_as_here() -> None:
    """Reading elsewhere changes nothing."""
    assert with_readers(lambda readers: readers.read(QUESTION)) == reading_of(QUESTION)


def test_several_pages_share_one_reader() -> None:
    """Answers do not get mixed up, and one process does it all."""
    questions = [
        PageQuestion(PAGE.replace(b"Jug", b"Jug %d" % n), QUESTION.url, "text/html", "v1.2", with_links=False)
        for n in range(20)
    ]

    async def read_all(readers: Readers) -> list[str]:
        readings = await asyncio.gather(*(readers.read(question) for question in questions))
        assert len(readers._idle) == 1
        return [reading.facts.name for reading in readings]

    assert with_readers(read_all, count=1) == [f"Jug {n}" for n in range(20)]


def test_a_page_that_kills_its_reader_costs_that_page() -> None:
    """The page is told as failed; the next one gets a new reader."""

    async def kill_while_reading(readers: Readers) -> None:
        await readers.read(QUESTION)
        os.kill(readers._idle[0].pid, signal.SIGSTOP)
        reading = asyncio.ensure_future(readers.read(QUESTION))
        pid = readers._idle[0].pid
        await asyncio.sleep(0.2)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ReadingFailedError):
            await reading
        assert (await readers.read(QUESTION)).verdict.is_pdp

    with_readers(kill_while_reading, count=1)


def test_a_reader_that_dies_while_idle_costs_nothing() -> None:
    """A new one takes its place."""

    async def kill_between(readers: Readers) -> None:
        await readers.read(QUESTION)
        os.kill(readers._idle[0].pid, signal.SIGKILL)
        await asyncio.sleep(0.2)
        assert (await readers.read(QUESTION)).verdict.is_pdp

    with_readers(kill_between, count=1)


def test_a_page_that_takes_for_ever_is_given_up() -> None:
    """The reader goes with it."""

    async def stop_between(readers: Readers) -> int:
        await readers.read(QUESTION)
        pid = readers._idle[0].pid
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(ReadingFailedError):
            await readers.read(QUESTION)
        return pid

    pid = with_readers(stop_between, count=1, limit_seconds=4)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_closing_ends_the_processes() -> None:
    """None is left behind."""

    async def read_once(readers: Readers) -> int:
        await readers.read(QUESTION)
        return readers._idle[0].pid

    pid = with_readers(read_once)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


class _Command:
    """What a page would send that has taken its reader over."""

    def __init__(self, function: Callable[..., object], *given: object) -> None:
        self.order = function, given

    def __reduce__(self) -> tuple[Any, ...]:
        return self.order


@pytest.mark.parametrize(
    "hostile",
    [
        pickle.dumps(_Command(os._exit, 3)),
        pickle.dumps(_Command(print, "1")),
        pickle.dumps(_Command(getattr, "x", "upper")),
        pickle.dumps({"verdict": "none"}),
        pickle.dumps(Decimal(1)),
        b"no pickle at all",
        b"",
    ],
)
def test_a_reader_commands_nothing(hostile: bytes) -> None:
    """Whatever it sends, values are made and no function is called."""
    with pytest.raises(pickle.UnpicklingError):
        readers._answer_in(hostile, Reading)


def test_a_reader_that_answers_nonsense_costs_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended, and the next page gets a new one."""

    async def read_twice(asked: Readers) -> None:
        with pytest.raises(ReadingFailedError):
            await asked.read(QUESTION)
        assert not asked._idle
        monkeypatch.undo()
        assert (await asked.read(QUESTION)).verdict.is_pdp

    monkeypatch.setattr(readers, "MOST_BYTES", 10)
    with_readers(read_twice, count=1)
