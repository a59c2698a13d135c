"""One pass over pages: while a batch is read, the next one is fetched and the one before is written."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import exists, or_, select

from crawler.archive.writing import UNREADABLE, no_content
from crawler.db.models import CrawlSession, RunWorker
from crawler.html.parse import DEFAULT_MAX_BYTES
from crawler.reading.readers import Readers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawler.db.engine import Database
    from crawler.html.content import Content, ContentQuestion

AT_ONCE = 160  # pages in one transaction: other writers wait for it
BATCH_BYTES = 8 * 1024 * 1024  # of bodies that are held at once
# Crawls come first: readers yield to them, and who fetches pages does, but not who writes, and holds locks.
NICENESS = 10
RESTS = 8.0  # of what writing a batch took, while something is crawled and the processors have no time left
LEFT = 0.2  # of the processors' time: a crawl that waits for its sites leaves more
MAX_REST_SECONDS = 3.0  # so that a pass still ends beside a crawl that does not, and hears that it is to stop
PROCESSORS = Path("/proc/stat")
LIMIT_SECONDS = 300.0  # for a page, when a crawl has nearly all of the machine
B = TypeVar("B")
T = TypeVar("T")


def run(
    database: Database,
    batches: Iterator[B],
    questions: Callable[[B], Sequence[ContentQuestion | None]],
    write: Callable[[B, Sequence[Content | None]], None],
) -> None:
    """Ask what is in the pages of each batch, and have it written; None is answered by None.

    While something is crawled there is a rest behind each batch: crawls come first.
    """
    asking = Readers(None, LIMIT_SECONDS, NICENESS)
    with asyncio.Runner() as runner:
        try:
            runner.run(_overlapped(batches, questions, partial(_restfully, database, write), asking))
        finally:
            runner.run(asking.close())


async def _overlapped(
    batches: Iterator[B],
    questions: Callable[[B], Sequence[ContentQuestion | None]],
    write: Callable[[B, Sequence[Content | None]], None],
    readers: Readers,
) -> None:
    in_thread = asyncio.get_running_loop().run_in_executor
    # A thread for each: what another one allocates is not given back to this one.
    with (
        ThreadPoolExecutor(1, "fetch", _yield_to_others) as fetcher,
        ThreadPoolExecutor(1, "index") as writer,
    ):
        writing: asyncio.Future[None] | None = None
        batch = await in_thread(fetcher, next, batches, None)
        while batch is not None:
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(_answers(readers, questions(batch)))
                fetching = group.create_task(_awaited(in_thread(fetcher, next, batches, None)))
                if writing is not None:
                    group.create_task(_awaited(writing))
            writing = in_thread(writer, write, batch, reading.result())
            batch = fetching.result()
        if writing is not None:
            await writing


def _yield_to_others() -> None:
    """Only this thread: Linux gives each its own niceness, and what is nice cannot be made less so again."""
    if sys.platform == "linux":
        os.setpriority(
            os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
        )


def _restfully(
    database: Database,
    write: Callable[[B, Sequence[Content | None]], None],
    batch: B,
    contents: Sequence[Content | None],
) -> None:
    """Write a batch, and rest for some times as long while something is crawled that could use the time.

    Where processors have time left it rests as long as it wrote: others wait for what a batch holds.
    """
    began, before = time.monotonic(), _processors()
    write(batch, contents)
    took, after = time.monotonic() - began, _processors()
    if is_crawled(database):
        time.sleep(min((1.0 if _had_time(before, after) else RESTS) * took, MAX_REST_SECONDS))


def is_crawled(database: Database) -> bool:
    """Whether somebody who shows signs of life visits a domain or works on a run."""
    with database.read() as db:
        visited = exists().where(CrawlSession.status == "running", CrawlSession.alive_until > db.now)
        crewed = exists().where(RunWorker.alive_until > db.now)
        return bool(db.scalar(select(or_(visited, crewed))))


def _processors() -> tuple[int, int] | None:
    """How long they were idle so far, and how long they ran in all; None where the system does not say."""
    try:
        spent = [int(each) for each in PROCESSORS.read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
        return spent[3] + spent[4], sum(spent)
    except (OSError, ValueError, IndexError):
        return None


def _had_time(before: tuple[int, int] | None, after: tuple[int, int] | None) -> bool:
    if before is None or after is None or after[1] <= before[1]:
        return False
    return after[0] - before[0] > LEFT * (after[1] - before[1])


async def _awaited(result: asyncio.Future[T]) -> T:
    return await result


async def _answers(readers: Readers, questions: Sequence[ContentQuestion | None]) -> Sequence[Content | None]:
    found = iter(await readers.contents([each for each in questions if each is not None]))
    # A page that killed its reader, or took too long, has no text.
    return [None if each is None else next(found) or no_content(UNREADABLE) for each in questions]


def taken(pieces: Iterable[bytes]) -> tuple[bytes, str]:
    """As much of a body as a page may have, and one byte more; and the digest of all of it."""
    digest, kept, size = hashlib.sha256(), list[bytes](), 0
    for piece in pieces:
        digest.update(piece)
        if size <= DEFAULT_MAX_BYTES:
            kept.append(piece[: DEFAULT_MAX_BYTES + 1 - size])
            size += len(kept[-1])
    return b"".join(kept), digest.hexdigest()
