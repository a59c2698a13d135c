"""A process beside the crawl's, as the crawl sees it: questions go in, answers come in their order."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections import deque
from contextlib import suppress
from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio.subprocess import Process

LENGTH = Struct("!I")  # in front of each question and each answer
MOST_BYTES = 256 * 1024 * 1024  # of an answer; a page of the largest size has a quarter of it
READER = "crawler.reading.worker"
BUFFER_BYTES = 1024 * 1024  # asked of the system, so that a usual page goes over in one call


class NotBegunError(Exception):
    """The process ended before it came to the question, which another one can answer."""


class NonsenseError(Exception):
    """What came is no answer."""


class ReadingProcess(asyncio.Protocol):
    """Has the questions that are not answered yet, the oldest first: that one is being read."""

    def __init__(self, limit_seconds: float, niceness: int = 0, module: str = READER) -> None:
        """Start it; whoever asks need not wait for that. The limit is for one question."""
        self.lives = True
        self.asked: deque[asyncio.Future[bytes]] = deque()
        self.limit_seconds = limit_seconds
        self._module = module
        self._niceness = niceness
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self._early: list[bytes] = []  # questions, until there is a transport
        self._received = bytearray()
        self._started = asyncio.ensure_future(self._start())
        self._killed: asyncio.Task[None] | None = None

    def ask(self, question: bytes) -> asyncio.Future[bytes]:
        """Its answer; `NotBegunError` where the process ended under another question."""
        answer: asyncio.Future[bytes] = self._loop.create_future()
        self.asked.append(answer)
        framed = LENGTH.pack(len(question)) + question
        if self._transport is None:
            self._early.append(framed)
            return answer
        if len(self.asked) == 1:
            self._watch()
        self._transport.write(framed)
        return answer

    def end(self, error: BaseException) -> None:
        """Whoever's page was being read hears why it ended; the others may ask again."""
        if not self.lives:
            return
        self.lives = False
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.abort()
        for number, answer in enumerate(self.asked):
            if not answer.done():
                answer.set_exception(NotBegunError() if number else error)
        self.asked.clear()
        self._killed = asyncio.ensure_future(self._kill())

    async def close(self) -> None:
        """End it, and wait until the system has forgotten it."""
        self.end(EOFError())
        if self._killed is not None:
            await self._killed

    def kill(self) -> None:
        """Kill it without waiting, where no event loop runs any more."""
        if self._started.done() and not self._started.cancelled() and self._started.exception() is None:
            with suppress(ProcessLookupError):
                os.kill(self._started.result().pid, signal.SIGKILL)

    # ── called by the event loop ──

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It can be written to."""
        assert isinstance(transport, asyncio.Transport)  # ruff: ignore[assert] - a socket has no other
        self._transport = transport
        transport.writelines(self._early)
        self._early.clear()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what is there of answers; it has looked at a stranger's page, and may be his by now."""
        self._received += data
        try:
            while (answer := self._next_answer()) is not None:
                asked = self.asked.popleft()
                if not asked.done():
                    asked.set_result(answer)
                self._watch()
        except (IndexError, NonsenseError) as error:
            self.end(NonsenseError(str(error)))

    def connection_lost(self, exc: Exception | None) -> None:
        """It died."""
        self.end(exc or EOFError())

    # ──

    def _next_answer(self) -> bytes | None:
        if len(self._received) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(self._received)
        if length > MOST_BYTES:
            raise NonsenseError(f"an answer of {length} bytes")
        end = LENGTH.size + length
        if len(self._received) < end:
            return None
        with memoryview(self._received) as received:
            answer = bytes(received[LENGTH.size : end])
        del self._received[:end]
        return answer

    def _watch(self) -> None:
        """From now on the oldest question is being read, and its time begins."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = (
            self._loop.call_later(self.limit_seconds, self.end, TimeoutError()) if self.asked else None
        )

    async def _start(self) -> Process:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                for side in (ours, theirs):
                    side.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-P", "-m", self._module, str(self._niceness),
                    stdin=theirs.fileno(), stdout=theirs.fileno(),
                    start_new_session=True,  # a Ctrl-C is for the crawl, which decides what becomes of us
                )  # fmt: skip
        except BaseException as error:
            ours.close()
            self.end(error)
            raise
        ours.settimeout(0)
        await self._loop.create_connection(lambda: self, sock=ours)
        return process

    async def _kill(self) -> None:
        with suppress(OSError):
            process = await self._started
            if self._transport is not None:
                self._transport.abort()
            if process.returncode is None:
                # Asyncio's own way looks whether it has died, and takes that from whoever waits for it.
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            await process.wait()
