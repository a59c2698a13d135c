"""A reading process as its crawl sees it: answers in order, and what is told when it dies."""

from __future__ import annotations

import asyncio
import signal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from crawler.reading.process import LENGTH, MOST_BYTES, NonsenseError, NotBegunError, ReadingProcess
from tests.unit.components import awaited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.aborted = 0

    def write(self, data: Any) -> None:
        """A question."""
        self.written += data

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        """Several."""
        self.written += b"".join(list_of_data)

    def abort(self) -> None:
        """At once."""
        self.aborted += 1


class Ended:
    """A process that has ended by itself."""

    pid, returncode = 0, 0

    async def wait(self) -> int:
        """It has."""
        return 0


class Process(ReadingProcess):
    """Starts nothing."""

    async def _start(self) -> Any:
        await asyncio.sleep(0)
        return Ended()


def framed(*texts: bytes) -> bytes:
    """As they go over."""
    return b"".join(LENGTH.pack(len(text)) + text for text in texts)


def with_process(work: Callable[[Process, Transport], Any], limit: float = 3600) -> Any:
    """What comes of some work with a process that can be written to."""

    async def main() -> Any:
        process, transport = Process(limit), Transport()
        process.connection_made(transport)
        try:
            return await work(process, transport)
        finally:
            await process.close()

    return awaited(main())


def test_answers_come_in_the_order_of_the_questions() -> None:
    """In whatever pieces; an empty one is one."""

    async def ask(process: Process, transport: Transport) -> list[bytes]:
        answers = [process.ask(text) for text in (b"one", b"", b"three")]
        assert transport.written == framed(b"one", b"", b"three")
        for byte in framed(b"1", b"", b"33"):
            process.data_received(bytes([byte]))
        assert not process.asked
        assert process._timer is None
        return await asyncio.gather(*answers)

    assert with_process(ask) == [b"1", b"", b"33"]


def test_questions_wait_until_it_can_be_written_to() -> None:
    """And their time does not begin before."""

    async def main() -> bytes:
        process, transport = Process(3600), Transport()
        answers = [process.ask(b"a"), process.ask(b"b")]
        early = process._timer
        process.connection_made(transport)
        assert (early, process._timer is None) == (None, False)
        process.data_received(framed(b"A", b"B"))
        await asyncio.gather(*answers)
        await process.close()
        return transport.written

    assert awaited(main()) == framed(b"a", b"b")


def test_only_the_page_that_was_read_is_to_blame() -> None:
    """Those behind it may ask another process; it hears nothing any more."""

    async def die(process: Process, transport: Transport) -> list[Any]:
        answers = [process.ask(bytes([number])) for number in range(3)]
        process.connection_lost(None)
        process.connection_lost(ConnectionResetError())
        assert (process.lives, transport.aborted > 0) == (False, True)
        return await asyncio.gather(*answers, return_exceptions=True)

    assert list(map(type, with_process(die))) == [EOFError, NotBegunError, NotBegunError]


def test_the_time_of_a_page_is_its_own() -> None:
    """It begins anew with each answer, and its end ends the process."""

    async def wait(process: Process, _transport: Transport) -> list[Any]:
        answers = [process.ask(b"a"), process.ask(b"b")]
        first = process._timer
        process.data_received(framed(b"A"))
        assert (first is not None, first is not process._timer) == (True, True)
        assert first is not None
        assert first.cancelled()
        process.limit_seconds = 0
        process._watch()
        return await asyncio.gather(*answers, return_exceptions=True)

    done = with_process(wait)
    assert (done[0], type(done[1])) == (b"A", TimeoutError)


@pytest.mark.parametrize("sent", [LENGTH.pack(MOST_BYTES + 1), b"\xff" * 100])
def test_a_process_that_was_taken_over_fills_no_memory(sent: bytes) -> None:
    """Lengths beyond any page's end it."""

    async def ask(process: Process, _transport: Transport) -> list[Any]:
        answers = [process.ask(b"a"), process.ask(b"b")]
        process.data_received(sent)
        return await asyncio.gather(*answers, return_exceptions=True)

    assert list(map(type, with_process(ask))) == [NonsenseError, NotBegunError]


def test_an_answer_that_nobody_asked_for_ends_it() -> None:
    """The next question would have it for its own."""

    async def ask(process: Process, _transport: Transport) -> tuple[bytes, bool]:
        answer = process.ask(b"a")
        process.data_received(framed(b"A", b"B"))
        return await answer, process.lives

    assert with_process(ask) == (b"A", False)


def test_who_stops_waiting_leaves_the_order_alone() -> None:
    """The answer to a question that was given up is nobody else's."""

    async def ask(process: Process, _transport: Transport) -> list[Any]:
        answers = [process.ask(b"a"), process.ask(b"b"), process.ask(b"c")]
        answers[0].cancel()
        process.data_received(framed(b"A", b"B"))
        answers[2].cancel()
        process.end(EOFError())
        return await asyncio.gather(*answers, return_exceptions=True)

    first, second, third = with_process(ask)
    assert (type(first), second, type(third)) == (asyncio.CancelledError, b"B", asyncio.CancelledError)


def test_a_process_that_cannot_be_started_tells_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """And leaves no socket open; it is gone all the same."""

    async def refused(*_: Any, **__: Any) -> None:
        await asyncio.sleep(0)
        raise OSError("no processes are left")

    async def main() -> list[Any]:
        monkeypatch.setattr(asyncio, "create_subprocess_exec", refused)
        process = ReadingProcess(3600)
        answers = [process.ask(b"a"), process.ask(b"b")]
        done = await asyncio.gather(*answers, return_exceptions=True)
        await process.close()
        return done

    assert list(map(type, awaited(main()))) == [OSError, NotBegunError]


@pytest.mark.parametrize("error", [None, ProcessLookupError()])
def test_it_is_killed_and_waited_for(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    """One that has gone meanwhile as well."""
    killed, waited = [], []

    def kill(*given: int) -> None:
        killed.append(given)
        if error:
            raise error

    async def wait() -> None:
        await asyncio.sleep(0)
        waited.append(True)

    class Living(Process):
        async def _start(self) -> Any:
            await asyncio.sleep(0)
            return SimpleNamespace(pid=12345, returncode=None, wait=wait)

    async def main() -> None:
        process = Living(3600)
        await process.close()
        await process.close()  # once more does no harm

    monkeypatch.setattr("crawler.reading.process.os.kill", kill)
    awaited(main())
    assert (killed, waited) == ([(12345, signal.SIGKILL)], [True])
