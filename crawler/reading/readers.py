"""The reading processes of a crawl: what parsing costs is paid beside the event loop, not in it.

A page that kills its reader, or takes for ever, costs that page and a new reader; nothing else.
"""

from __future__ import annotations

import asyncio
import os
import pickle  # ruff: ignore[suspicious-pickle-import] - what is taken from a child is restricted below
from contextlib import nullcontext, suppress
from decimal import Decimal
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from crawler import logs
from crawler.errors import CrawlerError
from crawler.html.content import Content, Section
from crawler.pdp import Evidence, Facts, Rating, Reading, Signals, Variant, Verdict
from crawler.reading.process import NonsenseError, NotBegunError, ReadingProcess

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.html.content import ContentQuestion
    from crawler.pdp import PageQuestion


A = TypeVar("A")
# A page of the largest size takes a tenth of this.
LIMIT_SECONDS = 60.0
AT_ONCE = 4  # questions that a process has: it need not wait for the next one
LARGE_BYTES = 1024 * 1024  # of a page; of those it has one
TOGETHER = 16  # pages in one question, where many are asked about at once
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
    """Starts its processes when they are first needed; if not told, at most one less than there are cores."""

    def __init__(
        self, count: int | None = None, limit_seconds: float = LIMIT_SECONDS, niceness: int = 0
    ) -> None:
        self._count = count or max(1, (os.cpu_count() or 1) - 1)
        self._places = asyncio.Semaphore(self._count * AT_ONCE)
        self._large = asyncio.Semaphore(self._count)
        self._limit = limit_seconds
        self._niceness = niceness
        self._processes: list[ReadingProcess] = []

    async def read(self, question: PageQuestion) -> Reading:
        """Have a page read by whichever process has least to do."""
        return await self._of_page(question, Reading)

    async def contents(self, questions: Sequence[ContentQuestion]) -> list[Content | None]:
        """Have it said what of some pages counts; None for one that came to nothing."""
        groups = list(_groups(questions))
        return list(chain.from_iterable(await asyncio.gather(*(self._contents(each) for each in groups))))

    async def _contents(self, group: list[ContentQuestion]) -> Sequence[Content | None]:
        """One answer for a few pages; where one of them ends its reader, each is asked about alone."""
        if len(group) > 1:
            with suppress(ReadingFailedError):
                found = await self._answer(group, list, sum(len(each.body) for each in group))
                if len(found) == len(group) and all(isinstance(each, Content) for each in found):
                    return found
        return [await self._content(each) for each in group]

    async def _content(self, question: ContentQuestion) -> Content | None:
        with suppress(ReadingFailedError):
            return await self.content(question)
        return None

    async def content(self, question: ContentQuestion) -> Content:
        """Have it said what of a page counts."""
        return await self._of_page(question, Content)

    async def _of_page(self, question: PageQuestion | ContentQuestion, kind: type[A]) -> A:
        try:
            return await self._answer(question, kind, len(question.body))
        except ReadingFailedError as error:
            log.error("reader.died", url=question.url, error=type(error.__cause__).__name__)  # ruff: ignore[error-instead-of-exception] - the reader's, not ours
            raise ReadingFailedError(f"reading {question.url} came to nothing") from error

    async def _answer(self, question: object, kind: type[A], size: int) -> A:
        async with self._places, self._large if size > LARGE_BYTES else nullcontext():
            asked = pickle.dumps(question, pickle.HIGHEST_PROTOCOL)
            while True:
                process = await self._least_busy()
                try:
                    return _answer_in(await process.ask(asked), kind)
                except NotBegunError:
                    continue  # the page that was being read has ended it; there is one less of these now
                except (TimeoutError, EOFError, OSError, NonsenseError) as error:
                    process.end(error)
                    raise ReadingFailedError(f"reading came to nothing: {type(error).__name__}") from error

    async def _least_busy(self) -> ReadingProcess:
        # Let a death be noticed: what killed a process while it did nothing was no page's doing.
        await asyncio.sleep(0)
        self._processes = [process for process in self._processes if process.lives]
        least = min(self._processes, key=lambda process: len(process.asked), default=None)
        if least is None or (least.asked and len(self._processes) < self._count):
            least = ReadingProcess(self._limit, self._niceness)
            self._processes.append(least)
        return least

    async def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            await process.close()


def _groups(questions: Iterable[ContentQuestion]) -> Iterator[list[ContentQuestion]]:
    """Questions in their order, some together; a large page is alone."""
    group: list[ContentQuestion] = []
    size = 0
    for each in questions:
        if group and (len(group) == TOGETHER or size + len(each.body) > LARGE_BYTES):
            yield group
            group, size = [], 0
        group.append(each)
        size += len(each.body)
    if group:
        yield group


def _answer_in(answer: bytes, kind: type[A]) -> A:
    """What a reader says; it has looked at a stranger's page, and may be that page's by now."""
    try:
        found = _Answers(BytesIO(answer)).load()
    except Exception as error:
        raise NonsenseError(f"no answer: {error}") from error
    if not isinstance(found, kind):
        raise NonsenseError(f"no {kind.__name__}")
    return found


class _Answers(pickle.Unpickler):  # ruff: ignore[suspicious-pickle-usage] - see `find_class`
    """Makes the values of an answer, and nothing else."""

    def find_class(self, module: str, name: str) -> type:
        """Called for whatever is to be made; what is not in the table never is."""
        return _VALUES[module, name]
