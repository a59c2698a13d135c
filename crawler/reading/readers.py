"""The reading processes of a crawl: what parsing costs is paid beside the event loop, not in it.

A page that kills its reader, or takes for ever, costs that page and a new reader; nothing else.
"""

from __future__ import annotations

import asyncio
import os
import pickle  # ruff: ignore[suspicious-pickle-import] - what is taken from a child is restricted below
import sys
from decimal import Decimal
from io import BytesIO
from struct import Struct
from typing import TYPE_CHECKING, TypeVar

from crawler import logs
from crawler.errors import CrawlerError
from crawler.html.content import Content, Section
from crawler.pdp import Evidence, Facts, Rating, Reading, Signals, Variant, Verdict

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from crawler.html.content import ContentQuestion
    from crawler.pdp import PageQuestion


LENGTH = Struct("!I")
A = TypeVar("A")


# A page of the largest size takes a tenth of this.
LIMIT_SECONDS = 60.0
MOST_BYTES = 256 * 1024 * 1024  # of an answer; a page of the largest size has a quarter of it
# All that an answer is made of, beside numbers, texts and their lists.
_VALUES: dict[tuple[str, str], type] = {
    (each.__module__, each.__qualname__): each
    for each in (Reading, Verdict, Signals, Evidence, Facts, Rating, Variant, Decimal, Content, Section)
}

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
        return await self._answer(question, Reading)

    async def content(self, question: ContentQuestion) -> Content:
        """Have it said what of a page counts."""
        return await self._answer(question, Content)

    async def _answer(self, question: PageQuestion | ContentQuestion, kind: type[A]) -> A:
        async with self._free:
            process = await self._living() or await _started()
            try:
                async with asyncio.timeout(self._limit):
                    answer = await _ask(process, question, kind)
            except BaseException as error:
                await _killed(process)
                if isinstance(error, TimeoutError | EOFError | OSError | pickle.UnpicklingError):
                    log.error("reader.died", url=question.url, error=type(error).__name__)  # ruff: ignore[error-instead-of-exception] - the reader's, not ours
                    raise ReadingFailedError(f"reading {question.url} came to nothing") from error
                raise
            self._idle.append(process)
            return answer

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


async def _ask(process: Process, question: PageQuestion | ContentQuestion, kind: type[A]) -> A:
    if process.stdin is None or process.stdout is None:
        raise EOFError
    data = pickle.dumps(question, pickle.HIGHEST_PROTOCOL)
    process.stdin.write(LENGTH.pack(len(data)) + data)
    await process.stdin.drain()
    (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    if length > MOST_BYTES:
        raise pickle.UnpicklingError(f"an answer of {length} bytes")
    return _answer_in(await process.stdout.readexactly(length), kind)


def _answer_in(answer: bytes, kind: type[A]) -> A:
    """What a reader says; it has looked at a stranger's page, and may be that page's by now."""
    try:
        found = _Answers(BytesIO(answer)).load()
    except Exception as error:
        raise pickle.UnpicklingError(f"no answer: {error}") from error
    if not isinstance(found, kind):
        raise pickle.UnpicklingError(f"no {kind.__name__}")
    return found


class _Answers(pickle.Unpickler):  # ruff: ignore[suspicious-pickle-usage] - see `find_class`
    """Makes the values of an answer, and nothing else."""

    def find_class(self, module: str, name: str) -> type:
        """Called for whatever is to be made; what is not in the table never is."""
        return _VALUES[module, name]


async def _killed(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()
