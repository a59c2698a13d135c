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

    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore
    from crawler.evidence.files import KeptFile
    from crawler.sessions.journal import Journal, LogLine
    from crawler.sessions.rows import Fence, Life


T = TypeVar("T")


@define(eq=False)
class Posting(Generic[T]):
    """Stays or goes as a whole; afterwards it carries what became of it.

    Its lines of the log go along; they return to their journal when it comes to nothing.
    """

    write: Callable[[Session, Life], T]  # called again where the first time was taken back
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


def lines_of(journal: Journal) -> Posting[None]:
    """A posting of a journal's lines, and of nothing else."""
    return Posting(lambda _db, _life: None, journal=journal)


# ── group commit: postings that come at the same time share a transaction and the flushes of their files ──


MOST = 50  # postings a commit

log = logs.get_logger(__name__)


class GroupCommit:
    """Writes postings, each whole or not at all, whatever becomes of its neighbours."""

    def __init__(self, database: Database, blobs: BlobStore, life: Callable[[Session], Life]) -> None:
        self.database = database
        self.blobs = blobs
        self.life = life

    def commit(self, postings: Sequence[Posting[Any]]) -> None:
        """Publish the files, then write the rows; each posting carries what became of it."""
        self._publish([posting for posting in postings if posting.files])
        published = [posting for posting in postings if posting.error is None]
        self._write(published)
        for posting in published:
            if posting.error is None:
                posting.is_in_the_book()
            elif posting.files:
                self._withdraw_unclaimed(posting.files)

    # ── files ──

    def _publish(self, postings: Sequence[Posting[Any]]) -> None:
        """Publish all files with one flush; where that is refused, each posting's for themselves."""
        files = {file.uri: file.packed.data for posting in postings for file in posting.files}
        is_each_once = len(files) == sum(len(posting.files) for posting in postings)
        if len(postings) > 1 and is_each_once:
            try:
                self.blobs.publish_all(files)
            except Exception as error:  # ruff: ignore[blind-except] - told below, of whichever it is
                log.debug("group.published_singly", error=str(error))
            else:
                return
        for posting in postings:
            try:
                self._publish_one(posting)
            except BaseException as error:  # ruff: ignore[blind-except] - `result` raises it
                posting.fail(error)

    def _publish_one(self, posting: Posting[Any]) -> None:
        files = {file.uri: file.packed.data for file in posting.files}
        try:
            self.blobs.publish_all(files)
        except BlobExistsError:
            shared = {file.uri for file in posting.files if file.is_shared and self.blobs.exists(file.uri)}
            if not (posting.replaces or shared):
                raise
            for uri in files.keys() - shared if posting.replaces else ():
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

    def _write(self, postings: Sequence[Posting[Any]]) -> None:
        """Write the rows in one transaction; where that is refused as a whole, each posting's in its own.

        A commit that fails is not tried again: nobody knows what came of it.
        """
        if not postings:
            return
        is_committing = False
        try:
            with self.database.write() as db:
                self._write_rows(db, postings)
                is_committing = True
        except BaseException as error:  # ruff: ignore[blind-except] - `result` raises it
            for posting in postings:
                if posting.error is None:
                    posting.fail(error)
            if is_committing or not _may_be_a_postings(error):
                return
        if len(postings) > 1 and not is_committing:
            self._write_singly(postings)
        elif len(postings) > 1:
            # A deadlock, or whatever else the neighbours' locks had to do with it.
            self._write_singly([p for p in postings if isinstance(p.error, OperationalError)])

    def _write_singly(self, postings: Sequence[Posting[Any]]) -> None:
        for posting in postings:
            self._write([posting])

    def _write_rows(self, db: Session, postings: Sequence[Posting[Any]]) -> None:
        life = self.life(db)
        stale = _stale(db, {posting.fence for posting in postings if posting.fence}, life)
        lines = []
        for posting in postings:
            posting.begin()
            if posting.fence in stale:
                posting.fail(StaleSessionError())
                continue
            _write_in_savepoint(db, posting, life)
            if posting.error is None and posting.journal is not None:
                lines += [rows.log_row(posting.journal.key, line) for line in posting.take_lines()]
        rows.write_log(db, lines)


def _may_be_a_postings(error: BaseException) -> bool:
    """Whether it may have been one posting's doing that the whole group was refused."""
    return isinstance(error, Exception) and not isinstance(error, DatabaseUnavailableError | LockedError)


def _stale(db: Session, fences: set[Fence], life: Life) -> set[Fence]:
    """The sessions that are no longer ours; the others cannot be taken over before the transaction's end."""
    return {fence for fence in fences if not rows.beat(db, fence, life)}


def _write_in_savepoint(db: Session, posting: Posting[Any], life: Life) -> None:
    """Write one posting; what it raises takes back its own rows, if the transaction still stands."""
    connection = db.connection()
    connection.exec_driver_sql("SAVEPOINT posting")
    try:
        posting.done(posting.write(db, life))
        db.flush()
        connection.exec_driver_sql("RELEASE SAVEPOINT posting")
    except Exception as error:  # ruff: ignore[blind-except] - `result` raises it
        db.expunge_all()
        try:
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT posting")
            connection.exec_driver_sql("RELEASE SAVEPOINT posting")
        except Exception:  # ruff: ignore[blind-except] - what came first says more
            raise error from None
        posting.fail(error)


# ── brings together what is posted while a group is being written; the next group takes all of it ──


class Ledger:
    """One group is under way at a time; nobody waits for a group to grow.

    `commit` is awaited with each group; afterwards its postings carry what became of them.
    """

    def __init__(self, commit: Callable[[list[Posting[Any]]], Awaitable[None]]) -> None:
        self._commit = commit
        self._waiting: deque[tuple[Posting[Any], asyncio.Future[None]]] = deque()
        self._writing: asyncio.Task[None] | None = None

    async def post(self, posting: Posting[T]) -> T:
        """Have a posting written, with whatever else is there by then; its result, once that is committed."""
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((posting, written))
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write())
        await written
        return posting.result

    async def settle(self) -> None:
        """Wait for what is under way."""
        while self._writing is not None:
            await asyncio.wait([self._writing])

    async def _write(self) -> None:
        try:
            while self._waiting:
                group = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
                try:
                    await self._commit([posting for posting, _ in group])
                except Exception as error:  # ruff: ignore[blind-except] - told to those who wait
                    for posting, _ in group:
                        posting.fail(error)
                for _, written in group:
                    if not written.done():  # its waiter may have been cancelled
                        written.set_result(None)
        finally:
            self._writing = None
