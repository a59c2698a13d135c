"""One change to the book: the rows that it writes, and the files that they speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy.orm import Session

    from crawler.sessions.files import KeptFile
    from crawler.sessions.journal import Journal, LogLine
    from crawler.sessions.store import Fence, Life

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
