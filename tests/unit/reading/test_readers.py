"""The reading processes: their answers, their deaths, and that none outlives its crawl or commands it."""

from __future__ import annotations

import asyncio
import os
import pickle  # ruff: ignore[suspicious-pickle-import] - what a hostile reader would write
import resource
import signal
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from crawler.archive.rewriting import Place, shown_page
from crawler.html.content import Content, ContentQuestion
from crawler.pdp import PageQuestion, Reading, reading_of
from crawler.reading import process, readers
from crawler.reading.bounds import READER_BYTES, bound_memory
from crawler.reading.process import LENGTH, NonsenseError, ReadingProcess
from crawler.reading.readers import AT_ONCE, Readers, ReadingFailedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from multiprocessing.connection import Connection

MOST_NICE = 19
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


def test_several_pages_share_one_reader() -> None:
    """Answers are those of here and do not get mixed up; one process does it all, and ends with its crawl."""
    questions = [
        PageQuestion(PAGE.replace(b"Jug", b"Jug %d" % n), QUESTION.url, "text/html", "v1.2", with_links=False)
        for n in range(20)
    ]

    async def read_all(readers: Readers) -> tuple[int, list[Reading]]:
        found = await asyncio.gather(*(readers.read(question) for question in questions))
        return await pid_of(readers), found

    pid, found = with_readers(read_all, count=1)
    assert found == [reading_of(question) for question in questions]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def pid_of(readers: Readers) -> int:
    """The process that reads, once it has read something."""
    await readers.read(QUESTION)
    [process] = readers._processes
    return (await process._started).pid


def test_a_reader_may_yield_to_other_work() -> None:
    """What a pass of the index reads never takes a crawl's time."""

    async def niceness(readers: Readers) -> int:
        return os.getpriority(os.PRIO_PROCESS, await pid_of(readers))

    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert with_readers(niceness, niceness=3) == min(own + 3, MOST_NICE)


def test_a_page_that_kills_its_reader_costs_that_page() -> None:
    """It is told as failed; those that waited behind it are read by a new reader."""

    async def kill_while_reading(readers: Readers) -> None:
        pid = await pid_of(readers)
        os.kill(pid, signal.SIGSTOP)
        readings = [asyncio.ensure_future(readers.read(QUESTION)) for _ in range(AT_ONCE + 2)]
        await asyncio.sleep(0.2)
        os.kill(pid, signal.SIGKILL)
        first, *others = await asyncio.gather(*readings, return_exceptions=True)
        assert isinstance(first, ReadingFailedError)
        assert all(isinstance(other, Reading) and other.verdict.is_pdp for other in others)

    with_readers(kill_while_reading, count=1)


# 130 kB of bold words that never end, each of which every later paragraph repeats, 18 million times in all.
BOMB = b"<p>" + b"".join(b"<b a%d=1><!--</b>-->" % n for n in range(3_000)) + b"<p>x" * 6_000


def test_a_page_that_wants_all_memory_costs_that_page() -> None:
    """Its reader has a bound, at which the parser gives up; the next page has another reader."""
    bomb = evolve(QUESTION, body=BOMB)

    async def read(readers: Readers) -> Reading:
        pid = await pid_of(readers)
        soft, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
        assert soft == READER_BYTES
        resource.prlimit(pid, resource.RLIMIT_DATA, (soft // 8, hard))
        with pytest.raises(ReadingFailedError):
            await readers.read(bomb)
        return await readers.read(QUESTION)

    assert with_readers(read, count=1) == reading_of(QUESTION)


def test_a_page_among_others_that_kills_its_reader_costs_that_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were sent with it are read again, each by itself."""

    async def answer(self: Readers, question: Any, kind: type[Any], size: int) -> Any:
        some = question if isinstance(question, list) else [question]
        if any(b"bomb" in each.body for each in some):
            raise ReadingFailedError("it died")
        return await asked_for(self, question, kind, size)

    asked_for = Readers._answer
    monkeypatch.setattr(Readers, "_answer", answer)
    pages = [PAGE.replace(b"Jug", b"Jug %d" % n) for n in range(readers.TOGETHER + 2)]
    pages[3] = b"bomb"
    questions = [ContentQuestion(page, QUESTION.url, "text/html") for page in pages]
    found = with_readers(lambda readers: readers.contents(questions))
    assert [each and each.title for each in found] == [
        None if n == 3 else f"Jug {n}" for n in range(len(pages))
    ]


def test_an_answer_about_fewer_pages_is_none() -> None:
    """Whoever has taken a reader over cannot have one page's content stand for another's."""

    async def ask(asked: Readers) -> list[Content | None]:
        async def answer(_question: Any, kind: type[Any], _size: int) -> Any:
            await asyncio.sleep(0)
            return [] if kind is list else Content("", "alone", (), "", "und", (), is_cut=False)

        asked._answer = answer  # type: ignore[method-assign,assignment]
        return await asked.contents([ContentQuestion(PAGE, QUESTION.url)] * 2)

    assert [each and each.title for each in with_readers(ask)] == ["alone", "alone"]


def test_a_reader_that_dies_while_idle_costs_nothing() -> None:
    """A new one takes its place."""

    async def kill_between(readers: Readers) -> None:
        os.kill(await pid_of(readers), signal.SIGKILL)
        for _ in range(1_000):
            if readers._processes[0].lives:
                await asyncio.sleep(0.01)
        assert (await readers.read(QUESTION)).verdict.is_pdp

    with_readers(kill_between, count=1)


def test_a_page_that_takes_for_ever_is_given_up() -> None:
    """The reader goes with it, and the page behind it does not: its time begins when it is looked at."""

    async def stop_between(readers: Readers) -> int:
        pid = await pid_of(readers)
        os.kill(pid, signal.SIGSTOP)
        first, second = await asyncio.gather(
            readers.read(QUESTION), readers.read(QUESTION), return_exceptions=True
        )
        assert isinstance(first, ReadingFailedError)
        assert isinstance(second, Reading)
        return pid

    pid = with_readers(stop_between, count=1, limit_seconds=4)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_who_stops_waiting_leaves_the_reader_to_the_others() -> None:
    """Answers are not mixed up by it."""

    async def cancel_one(readers: Readers) -> None:
        pid = await pid_of(readers)
        os.kill(pid, signal.SIGSTOP)
        others = [PageQuestion(PAGE, QUESTION.url, "text/html", "v1.2", with_links=n > 1) for n in range(3)]
        readings = [asyncio.ensure_future(readers.read(question)) for question in others]
        await asyncio.sleep(0.1)
        readings[1].cancel()
        os.kill(pid, signal.SIGCONT)
        done = await asyncio.gather(*readings, return_exceptions=True)
        assert [type(each) for each in done] == [Reading, asyncio.CancelledError, Reading]
        assert [bool(done[n].candidates) for n in (0, 2)] == [False, True]  # type: ignore[union-attr]
        assert await pid_of(readers) == pid

    with_readers(cancel_one, count=1)


def test_a_large_page_goes_over_in_pieces() -> None:
    """There and back, one at a time."""
    words = b"<p>" + b"jug " * 1_000_000 + b"</p>"
    large = PageQuestion(PAGE + words, QUESTION.url, "text/html", "v1.2", with_links=False)

    async def read_both(readers: Readers) -> list[int]:
        return [len(reading.text) for reading in await asyncio.gather(*(readers.read(large),) * 2)]

    assert min(with_readers(read_both, count=1)) > 3_000_000


def test_a_reader_that_cannot_be_started_costs_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nobody waits for it."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no processes are left")

    async def read_twice(asked: Readers) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(asyncio, "create_subprocess_exec", refuse)
            with pytest.raises(ReadingFailedError):
                await asked.read(QUESTION)
        assert (await asked.read(QUESTION)).verdict.is_pdp

    with_readers(read_twice, count=1)


class _Command:
    """What a page would send that has taken its reader over."""

    def __init__(self, function: Callable[..., object], *given: object) -> None:
        self.order = function, given

    def __reduce__(self) -> tuple[Any, ...]:
        return self.order


@pytest.mark.parametrize(
    "hostile",
    [
        *(pickle.dumps(each) for each in (_Command(os._exit, 3), _Command(getattr, "x", "upper"))),
        *(pickle.dumps(each) for each in ({"verdict": "none"}, Decimal(1))), b"no pickle at all", b"",
    ],
)  # fmt: skip
def test_a_reader_commands_nothing(hostile: bytes) -> None:
    """Whatever it sends, values are made and no function is called."""
    with pytest.raises(NonsenseError):
        readers._answer_in(hostile, Reading)


def test_a_reader_that_answers_nonsense_costs_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended, and the next page gets a new one."""

    async def read_twice(asked: Readers) -> None:
        with pytest.raises(ReadingFailedError):
            await asked.read(QUESTION)
        monkeypatch.undo()
        assert (await asked.read(QUESTION)).verdict.is_pdp

    monkeypatch.setattr(process, "MOST_BYTES", 10)
    with_readers(read_twice, count=1)


class Transport(asyncio.Transport):
    """Leads nowhere."""

    def write(self, data: Any) -> None:
        """Forget it."""

    def writelines(self, list_of_data: Any) -> None:
        """Forget them."""

    def abort(self) -> None:
        """There is nothing to end."""


async def never(*_: Any, **__: Any) -> None:
    """Start a process for ever."""
    await asyncio.sleep(3600)


@pytest.mark.parametrize("sent", [LENGTH.pack(1) + b"A" + LENGTH.pack(1) + b"B", b"\xff" * 100])
def test_a_reader_that_says_more_than_it_is_asked_is_ended(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    """An answer too many would be the next question's; a length beyond any page's would fill all memory."""

    async def ask(_: Readers) -> tuple[Any, bool]:
        reader = ReadingProcess(3600)
        reader.connection_made(Transport())
        answer = reader.ask(b"a")
        reader.data_received(sent)
        [done] = await asyncio.gather(answer, return_exceptions=True)
        return done, reader.lives

    monkeypatch.setattr(asyncio, "create_subprocess_exec", never)
    done, lives = with_readers(ask)
    assert not lives
    assert done == b"A" or isinstance(done, NonsenseError)


def test_the_time_of_a_page_begins_with_the_answer_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is not given up for those that were read before it."""

    async def ask(_: Readers) -> None:
        reader = ReadingProcess(3600)
        reader.connection_made(Transport())
        first, second = reader.ask(b"a"), reader.ask(b"b")
        reader.limit_seconds = 0
        reader.data_received(LENGTH.pack(1) + b"A")
        assert await first == b"A"
        await asyncio.wait([second], timeout=30)
        assert isinstance(second.exception(), TimeoutError)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", never)
    with_readers(ask)


HERE = Place("https://shop.example/", "20260101000000")
ENOUGH = 400 * 1024 * 1024


def show(told: Connection) -> None:
    """Show a page that wants all memory, and another one, within a bound."""
    bound_memory(ENOUGH)
    problem = shown_page(BOMB, "text/html", HERE).problem
    told.send((problem, shown_page(PAGE, "text/html", HERE).body, resource.getrlimit(resource.RLIMIT_DATA)))


def test_a_page_that_wants_all_memory_is_not_shown() -> None:
    """Where the web side parses it, nobody else's page is lost for it."""
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=show, args=(theirs,))
    process.start()
    theirs.close()
    problem, page, (soft, _) = ours.recv()
    process.join()
    assert (problem, soft) == ("too_large", ENOUGH)
    assert b"Jug" in page
