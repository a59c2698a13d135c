"""Stores writes: those that come at the same time share one flush of files and one transaction."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sqlalchemy.exc import OperationalError

from crawler.db.engine import DatabaseUnavailableError
from crawler.errors import LockedError
from crawler.leases.patience import Patience
from crawler.sessions.journal import write_log
from crawler.sessions.page_rows import PageWrite, days_of, write_pages
from crawler.sessions.publishing import publish, publish_ahead, withdraw
from crawler.sessions.rows import StaleSessionError, stale_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from crawler.capture.items import PageCapture
    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore
    from crawler.evidence.warc_shelf import WarcShelf
    from crawler.sessions.journal import LogLine
    from crawler.sessions.page_rows import Hooks
    from crawler.sessions.visit import Visit
    from crawler.sessions.writes import Write

T = TypeVar("T")
MOST = 50  # writes a commit
GROWS_SECONDS = 0.01  # that a group waits for others before it is written
THREADS = 4  # one commits, one publishes


class WriteQueue:
    """Takes writes one by one and commits them in groups, each whole or not at all, whatever the others do.

    While the rows of one group are written, the files of the next are published, which takes all that came
    meanwhile. The first one waits a moment for company: a group of one costs nearly as much as one of ten.
    """

    grows_seconds: float = GROWS_SECONDS

    def __init__(
        self, settings: Settings, database: Database, blobs: BlobStore, hooks: Sequence[Hooks]
    ) -> None:
        self.settings = settings
        self.database = database
        self.blobs = blobs
        self.hooks = hooks
        self.shelf: WarcShelf | None = None  # of the WARC files that pages lie in
        self.spool: WarcShelf | None = None  # of those that become artifacts of their sessions
        self.patience = Patience(settings.store_patience_seconds)
        self.is_away = (
            False  # a store has refused for longer than it is waited for, and not taken anything since
        )
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="writes")
        self._waiting: deque[tuple[Write[Any], asyncio.Future[None]]] = deque()
        self._writing: asyncio.Task[None] | None = None

    def page(self, visit: Visit, capture: PageCapture) -> PageWrite:
        """Return the write of a page of a running session."""
        days = days_of(self.settings, visit.order.retention_policy)
        return PageWrite(capture, visit, days, self.hooks)

    async def post(self, write: Write[T]) -> T:
        """Have a write written, with whatever else is there by then; its result, once that is committed."""
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((write, written))
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write_groups())
        await written
        return write.result

    def post_now(self, write: Write[T]) -> T:
        """Write one write by itself, in the caller's thread."""
        self.commit([write])
        return write.result

    async def settle(self) -> None:
        """Wait for what is under way."""
        while self._writing is not None:
            await asyncio.wait([self._writing])

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown()

    async def _write_groups(self) -> None:
        loop = asyncio.get_running_loop()
        storing: asyncio.Future[None] | None = None  # the group before
        try:
            await asyncio.sleep(self.grows_seconds)
            while self._waiting or storing is not None:
                group = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
                if storing is not None:
                    if group and not self.is_away:
                        ahead = [write for write, _ in group]
                        await loop.run_in_executor(self._threads, publish_ahead, self.blobs, ahead)
                    await storing
                storing = asyncio.ensure_future(self._finish(group)) if group else None
                if storing is not None:
                    await asyncio.wait([storing], timeout=self.grows_seconds)
        finally:
            self._writing = None

    async def _finish(self, group: Sequence[tuple[Write[Any], asyncio.Future[None]]]) -> None:
        """Store a group, and have those who wait for it go on."""
        await self._store_patiently([write for write, _ in group])
        for write, written in group:
            write.follow_up()
            if not written.done():  # its waiter may have been cancelled
                written.set_result(None)

    async def _store_patiently(self, group: Sequence[Write[Any]]) -> None:
        """Store a group; while a store is away it is held, and tried again until that has lasted too long."""
        loop, held = asyncio.get_running_loop(), group

        async def attempt() -> None:
            nonlocal held
            try:
                await loop.run_in_executor(self._threads, self._store, held)
            except Exception as error:  # ruff: ignore[blind-except] - told to those who wait
                for write in held:
                    write.fail(error)
            held = [write for write in held if write.is_held]
            if held:
                raise cast("Exception", held[0].error)

        try:
            await (attempt() if self.is_away else self.patience.outlast(attempt))
        except Exception:  # ruff: ignore[blind-except] - told to those who wait
            self.is_away = True
        else:
            self.is_away = False
        if any(write.error is not None for write in group):
            await loop.run_in_executor(self._threads, withdraw, self.database, self.blobs, group)

    def commit(self, writes: Sequence[Write[Any]]) -> None:
        """Store writes as one group; each carries what became of it."""
        self._store(writes)
        withdraw(self.database, self.blobs, writes)
        for write in writes:
            write.follow_up()

    def _store(self, writes: Sequence[Write[Any]]) -> None:
        """Publish the files, have what lies in WARC files last, then write the rows."""
        in_doubt = [write for write in writes if write.is_in_doubt]
        if in_doubt:
            _look_after(self.database, in_doubt)
        left = [write for write in writes if not (write in in_doubt and write.error is None)]
        self._write(_lasting(self.shelf, publish(self.blobs, left)))

    def _write(self, writes: Sequence[Write[Any]]) -> None:
        """Write the rows in one transaction; where that is refused as a whole, each write's in its own.

        A commit that fails is not tried again: nobody knows what came of it.
        """
        if not writes:
            return
        is_committing = False
        try:
            with self.database.write() as db:
                _write_rows(db, writes, timedelta(seconds=self.settings.domain_lock_ttl_seconds))
                is_committing = True
        except BaseException as error:  # ruff: ignore[blind-except] - `result` raises it
            for write in writes:
                if write.error is None:
                    write.fail(error)
                    write.is_in_doubt = is_committing
            if is_committing or not _may_be_one_writes_doing(error):
                return
        if len(writes) > 1:
            # Committed, but a deadlock or whatever else the neighbours' locks had to do with it: those again.
            again = [w for w in writes if isinstance(w.error, OperationalError)] if is_committing else writes
            for write in again:
                self._write([write])


def _look_after(database: Database, in_doubt: Sequence[Write[Any]]) -> None:
    """Find out which of them were written, although nobody heard so."""
    with database.read() as db:
        for write in in_doubt:
            if write.retries_lost_commits and write.was_written(db):
                write.error = None


def _write_rows(db: Transaction, writes: Sequence[Write[Any]], ttl: timedelta) -> None:
    """Write the rows of pages table by table, then those of the other writes, then the lines of logs."""
    # The sessions that are still ours cannot be taken over before the transaction's end.
    stale = stale_of(db, {write.fence for write in writes if write.fence}, ttl)
    for write in writes:
        if write.fence in stale:
            write.fail(StaleSessionError())
    ours = [write for write in writes if write.fence not in stale]
    pages = [write for write in ours if isinstance(write, PageWrite)]
    for page, kept in zip(pages, write_pages(db, pages), strict=True):
        page.wrote(kept)
    for write in ours:
        if not isinstance(write, PageWrite):
            write.wrote(write.write_rows(db))
    lines: list[tuple[UUID, LogLine]] = []
    for write in ours:
        if write.journal is not None:
            write.lines += write.journal.take()
            lines += [(write.journal.key, line) for line in write.lines]
    write_log(db, lines)
    db.flush()


def _lasting(shelf: WarcShelf | None, writes: Sequence[Write[Any]]) -> Sequence[Write[Any]]:
    """Those of which nothing lies in a WARC file, or whatever does is on the disk now."""
    shelved = [write for write in writes if write.lies_in_warc]
    if not shelved or shelf is None:
        return writes
    try:
        shelf.sync()
    except Exception as error:  # ruff: ignore[blind-except] - `result` raises it
        for write in shelved:
            write.fail(error)
        return [write for write in writes if not write.lies_in_warc]
    return writes


def _may_be_one_writes_doing(error: BaseException) -> bool:
    """Whether it may have been a single write that had the whole group refused."""
    return isinstance(error, Exception) and not isinstance(error, DatabaseUnavailableError | LockedError)
