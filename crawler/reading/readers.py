"""The reading processes of a crawl: what parsing costs is paid beside the event loop, not in it.

A page that kills its reader, or takes for ever, costs that page and a new reader; nothing else.
"""

from __future__ import annotations

import asyncio
import os
import pickle  # ruff: ignore[suspicious-pickle-import] - between us and our own children
import sys
from typing import TYPE_CHECKING

from crawler import logs
from crawler.errors import CrawlerError
from crawler.reading.frames import LENGTH

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from crawler.reading.page import PageQuestion, Reading

# A page of the largest size takes a tenth of this.
LIMIT_SECONDS = 60.0

log = logs.get_logger(__name__)


class ReadingFailedError(CrawlerError):
    """The page could not be read."""

    code = "unreadable"


class Readers:
    """Starts its processes when they are first needed, at most one less than there are cores."""

    def __init__(self, count: int | None = None, limit_seconds: float = LIMIT_SECONDS) -> None:
        self._free = asyncio.Semaphore(count or max(1, (os.cpu_count() or 1) - 1))
        self._idle: list[Process] = []
        self._limit = limit_seconds

    async def read(self, question: PageQuestion) -> Reading:
        """Have a page read by whichever process is free."""
        async with self._free:
            process = await self._living() or await _started()
            try:
                async with asyncio.timeout(self._limit):
                    reading = await _ask(process, question)
            except BaseException as error:
                await _killed(process)
                if isinstance(error, TimeoutError | EOFError | OSError):
                    log.error("reader.died", url=question.url, error=type(error).__name__)  # ruff: ignore[error-instead-of-exception] - the reader's, not ours
                    raise ReadingFailedError(f"reading {question.url} came to nothing") from error
                raise
            self._idle.append(process)
            return reading

    async def _living(self) -> Process | None:
        """An idle process, if one is alive: what killed it while it did nothing was no page's doing."""
        while self._idle:
            process = self._idle.pop()
            await asyncio.sleep(0)  # let its death be noticed
            if process.returncode is None:
                return process
        return None

    async def close(self) -> None:
        """End the processes."""
        idle, self._idle = self._idle, []
        for process in idle:
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()


async def _started() -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "crawler.reading.worker",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # a Ctrl-C is for the crawl, which decides what becomes of us
    )  # fmt: skip


async def _ask(process: Process, question: PageQuestion) -> Reading:
    if process.stdin is None or process.stdout is None:
        raise EOFError
    data = pickle.dumps(question, pickle.HIGHEST_PROTOCOL)
    process.stdin.write(LENGTH.pack(len(data)) + data)
    await process.stdin.drain()
    (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    answer: Reading = pickle.loads(await process.stdout.readexactly(length))  # ruff: ignore[suspicious-pickle-usage] - from our own child
    return answer


async def _killed(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()
