"""One change to the book: the rows that it writes, and the files that they speak of."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from attrs import define, field
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from crawler import logs
from crawler.db.engine import DatabaseUnavailableError
from crawler.db.models import Artifact
from crawler.errors import LockedError
from crawler.evidence.blobs import BlobExistsError
from crawler.sessions import rows
from crawler.sessions.rows import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from sqlalchemy.orm import Session

    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore
    from crawler.evidence.files import KeptFile
    from crawler.sessions.journal import Journal, LogLine
    from crawler.sessions.rows import Fence, Life


T = TypeVar("T")


@define(eq=False)
class Write(Generic[T]):
    """Stays or goes as a whole; afterwards it carries what became of it.

    Its lines of the log go along; they return to their journal when it comes to nothing.
    """

    rows: Callable[[Session, Life], T]  # called again where the first time was taken back
    files: Sequence[KeptFile] = ()  # published before anything is written
    replaces: bool = False  # what a dead process left under the files' names gives way
    fence: Fence | None = None  # checked before anything is written
    journal: Journal | None = None
    then: Callable[[T], object] | None = None  # called in the writer's thread once it is in the book
    error: BaseException | None = None
    _results: list[T] = field(factory=list, init=False)
    _lines: list[LogLine] = field(factory=list, init=False)

    def begin(self) -> None:
        """Forget an earlier try."""
        self.error = None
        self._results.clear()

    def take_lines(self) -> list[LogLine]:
        """The lines that are written along with it."""
        if self.journal is not None:
            self._lines += self.journal.take()
        return self._lines

    def done(self, result: T) -> None:
        """Remember what its writing brought."""
        self._results[:] = [result]

    def fail(self, error: BaseException) -> None:
        """Remember why it is not in the book."""
        self.error = error
        if self.journal is not None and self._lines:
            self.journal.give_back(self._lines)
            self._lines = []

    def is_in_the_book(self) -> None:
        """Do what is to follow; called once, after the commit."""
        if self.then is not None:
            try:
                self.then(self._results[0])
            except Exception as error:  # ruff: ignore[blind-except] - told by `result`
                self.error = error

    @property
    def result(self) -> T:
        """What its writing brought; raises what kept it out of the book."""
        if self.error is not None:
            raise self.error
        return self._results[0]


def lines_of(journal: Journal) -> Write[None]:
    """A write of a journal's lines, and of nothing else."""
    return Write(lambda _db, _life: None, journal=journal)


# ── group commit: writes that come at the same time share a transaction and the flushes of their files ──


MOST = 50  # writes a commit

log = logs.get_logger(__name__)


class GroupCommit:
    """Writes writes, each whole or not at all, whatever becomes of its neighbours."""

    def __init__(self, database: Database, blobs: BlobStore, life: Callable[[Transaction], Life]) -> None:
        self.database = database
        self.blobs = blobs
        self.life = life

    def commit(self, writes: Sequence[Write[Any]]) -> None:
        """Publish the files, then write the rows; each write carries what became of it."""
        self._publish([write for write in writes if write.files])
        published = [write for write in writes if write.error is None]
        self._write(published)
        for write in published:
            if write.error is None:
                write.is_in_the_book()
            elif write.files:
                self._withdraw_unclaimed(write.files)

    # ── files ──

    def _publish(self, writes: Sequence[Write[Any]]) -> None:
        """Publish all files with one flush; where that is refused, each write's for themselves."""
        files = {file.uri: file.packed.data for write in writes for file in write.files}
        is_each_once = len(files) == sum(len(write.files) for write in writes)
        if len(writes) > 1 and is_each_once:
            try:
                self.blobs.publish_all(files)
            except Exception as error:  # ruff: ignore[blind-except] - told below, of whichever it is
                log.debug("group.published_singly", error=str(error))
            else:
                return
        for write in writes:
            try:
                self._publish_one(write)
            except BaseException as error:  # ruff: ignore[blind-except] - `result` raises it
                write.fail(error)

    def _publish_one(self, write: Write[Any]) -> None:
        files = {file.uri: file.packed.data for file in write.files}
        try:
            self.blobs.publish_all(files)
        except BlobExistsError:
            shared = {file.uri for file in write.files if file.is_shared and self.blobs.exists(file.uri)}
            if not (write.replaces or shared):
                raise
            for uri in files.keys() - shared if write.replaces else ():
                self.blobs.delete(uri)
            if left := {uri: data for uri, data in files.items() if uri not in shared}:
                self.blobs.publish_all(left)

    def _withdraw_unclaimed(self, files: Sequence[KeptFile]) -> None:
        """Take files back, unless the write went through and only its answer got lost.

        Where nobody can tell, they stay: a file without a row does no harm, and the orphan scan finds it.
        """
        try:
            with self.database.read() as db:
                uris = [file.uri for file in files]
                if db.scalar(select(Artifact.id).where(Artifact.storage_uri.in_(uris)).limit(1)):
                    return
        except Exception:
            log.exception("artifact.left_behind", uris=[file.uri for file in files])
            return
        for file in files:
            try:
                self.blobs.delete(file.uri)
            except Exception:
                log.exception("artifact.withdraw_failed", uri=file.uri)

    # ── rows ──

    def _write(self, writes: Sequence[Write[Any]]) -> None:
        """Write the rows in one transaction; where that is refused as a whole, each write's in its own.

        A commit that fails is not tried again: nobody knows what came of it.
        """
        if not writes:
            return
        is_committing = False
        try:
            with self.database.write() as db:
                self._write_rows(db, writes)
                is_committing = True
        except BaseException as error:  # ruff: ignore[blind-except] - `result` raises it
            for write in writes:
                if write.error is None:
                    write.fail(error)
            if is_committing or not _may_be_a_postings(error):
                return
        if len(writes) > 1 and not is_committing:
            self._write_singly(writes)
        elif len(writes) > 1:
            # A deadlock, or whatever else the neighbours' locks had to do with it.
            self._write_singly([p for p in writes if isinstance(p.error, OperationalError)])

    def _write_singly(self, writes: Sequence[Write[Any]]) -> None:
        for write in writes:
            self._write([write])

    def _write_rows(self, db: Transaction, writes: Sequence[Write[Any]]) -> None:
        life = self.life(db)
        stale = _stale(db, {write.fence for write in writes if write.fence}, life)
        lines = []
        for write in writes:
            write.begin()
            if write.fence in stale:
                write.fail(StaleSessionError())
                continue
            _write_in_savepoint(db, write, life)
            if write.error is None and write.journal is not None:
                lines += [rows.log_row(write.journal.key, line) for line in write.take_lines()]
        rows.write_log(db, lines)


def _may_be_a_postings(error: BaseException) -> bool:
    """Whether it may have been one write's doing that the whole group was refused."""
    return isinstance(error, Exception) and not isinstance(error, DatabaseUnavailableError | LockedError)


def _stale(db: Session, fences: set[Fence], life: Life) -> set[Fence]:
    """The sessions that are no longer ours; the others cannot be taken over before the transaction's end."""
    return {fence for fence in fences if not rows.beat(db, fence, life)}


def _write_in_savepoint(db: Session, write: Write[Any], life: Life) -> None:
    """Write one write; what it raises takes back its own rows, if the transaction still stands."""
    connection = db.connection()
    connection.exec_driver_sql("SAVEPOINT write")
    try:
        write.done(write.rows(db, life))
        db.flush()
        connection.exec_driver_sql("RELEASE SAVEPOINT write")
    except Exception as error:  # ruff: ignore[blind-except] - `result` raises it
        db.expunge_all()
        try:
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT write")
            connection.exec_driver_sql("RELEASE SAVEPOINT write")
        except Exception:  # ruff: ignore[blind-except] - what came first says more
            raise error from None
        write.fail(error)


# ── brings together what is posted while a group is being written; the next group takes all of it ──


class WriteQueue:
    """One group is under way at a time; nobody waits for a group to grow.

    `commit` is awaited with each group; afterwards its writes carry what became of them.
    """

    def __init__(self, commit: Callable[[list[Write[Any]]], Awaitable[None]]) -> None:
        self._commit = commit
        self._waiting: deque[tuple[Write[Any], asyncio.Future[None]]] = deque()
        self._writing: asyncio.Task[None] | None = None

    async def post(self, write: Write[T]) -> T:
        """Have a write written, with whatever else is there by then; its result, once that is committed."""
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((write, written))
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write())
        await written
        return write.result

    async def settle(self) -> None:
        """Wait for what is under way."""
        while self._writing is not None:
            await asyncio.wait([self._writing])

    async def _write(self) -> None:
        try:
            while self._waiting:
                group = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
                try:
                    await self._commit([write for write, _ in group])
                except Exception as error:  # ruff: ignore[blind-except] - told to those who wait
                    for write, _ in group:
                        write.fail(error)
                for _, written in group:
                    if not written.done():  # its waiter may have been cancelled
                        written.set_result(None)
        finally:
            self._writing = None
