"""What is stored as a whole or not at all: the files of a write, and the rows that name them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from crawler.db.engine import DatabaseUnavailableError
from crawler.errors import LockedError
from crawler.evidence.blobs import DiskFullError, StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.db.engine import Transaction
    from crawler.evidence.files import KeptFile
    from crawler.sessions.journal import Journal, LogLine
    from crawler.sessions.rows import Fence

T = TypeVar("T")
UNAVAILABLE = (DatabaseUnavailableError, DiskFullError, LockedError, StoreUnavailableError)  # for a while


class Write(ABC, Generic[T]):
    """One thing to store. A subclass says which files and rows; `WriteQueue` stores it and sets its result.

    Lines waiting in its journal are written with it, and return to the journal where it fails.
    """

    replaces: ClassVar[bool] = False  # files of a dead process under the same names are overwritten
    retries_lost_commits: ClassVar[bool] = False  # a commit without an answer is tried again
    lies_in_warc = False  # the WARC file that holds its content is flushed before its rows are written

    def __init__(self, fence: Fence | None = None, journal: Journal | None = None) -> None:
        self.fence = fence  # checked in the transaction, before anything is written
        self.journal = journal
        self.lines: list[LogLine] = []  # of the journal, written along
        self.error: BaseException | None = None
        self.is_published = False  # its files are in the store
        self.is_in_doubt = False  # its commit got no answer
        self._results: list[T] = []

    @cached_property
    def files(self) -> Sequence[KeptFile]:
        """The files to publish before the rows are written; made in a thread of the queue."""
        return ()

    @abstractmethod
    def write_rows(self, db: Transaction) -> T:
        """Write the rows; called again where the first transaction was rolled back."""

    def was_written(self, _db: Transaction) -> bool:
        """Return whether a commit without an answer went through; False if writing twice is harmless."""
        return False

    def committed(self, result: T) -> None:
        """Do what follows the commit; called once, in the event loop or by the caller of `post_now`."""

    @property
    def is_held(self) -> bool:
        """Whether a store is unavailable for now, so that this may still be written."""
        return isinstance(self.error, UNAVAILABLE) and (not self.is_in_doubt or self.retries_lost_commits)

    def wrote(self, result: T) -> None:
        """Remember the result of writing the rows; an earlier failure is forgotten."""
        self.error, self.is_in_doubt = None, False
        self._results = [result]

    def fail(self, error: BaseException) -> None:
        """Remember why it is not stored."""
        self.error = error
        if self.journal is not None and self.lines:
            self.journal.give_back(self.lines)
            self.lines = []

    def follow_up(self) -> None:
        """Call `committed` if it was stored."""
        if self.error is None:
            try:
                self.committed(self._results[0])
            except Exception as error:  # ruff: ignore[blind-except] - `result` raises it
                self.error = error

    @property
    def result(self) -> T:
        """What writing the rows returned; raises the error where it was not stored."""
        if self.error is not None:
            raise self.error
        return self._results[0]
