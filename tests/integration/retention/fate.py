"""Things that happen to a cleaner between two of its steps: it dies, or somebody else acts."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawler.db.engine import Database
from crawler.evidence.folder_store import FolderStore

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path

    from crawler.db.engine import Transaction
    from crawler.evidence.blobs import Removal


class Crash(BaseException):
    """The process is gone: none of its further steps happens."""


class Fate:
    """Lets the cleaner die at the n-th step from now, or lets something else happen there."""

    def __init__(self, steps: int = -1, event: Callable[[], None] | None = None) -> None:
        self._left = steps
        self._event = event
        self._dead = False

    def step(self, *, in_transaction: bool = False) -> None:
        """A step of the cleaner; inside of a transaction it can but die."""
        if self._dead:
            raise Crash
        if in_transaction and self._event:
            return
        self._left -= 1
        if self._left == 0:
            self._happen()

    def _happen(self) -> None:
        if self._event is None:
            self._dead = True
            raise Crash
        self._event()


class FatefulDatabase(Database):
    """A database whose transactions are steps: before it, before its commit, after it."""

    fate = Fate()

    @contextmanager
    def read(self) -> Generator[Transaction]:
        """A step, then the transaction."""
        self.fate.step()
        with super().read() as session:
            yield session

    @contextmanager
    def write(self) -> Generator[Transaction]:
        """Steps around the transaction; a death before the commit rolls it back."""
        fate = self.fate
        fate.step()
        with super().write() as session:
            yield session  # ruff: ignore[fallible-context-manager] - what fails before the commit is no step
            fate.step(in_transaction=True)
        fate.step()


class FatefulStore(FolderStore):
    """A folder in which each removal has a step before and after it."""

    def __init__(self, root: Path, fate: Fate) -> None:
        super().__init__(root)
        self._fate = fate

    def delete_all(self, uris: Iterable[str]) -> Iterator[Removal]:
        """Removals one by one."""
        for uri in uris:
            self._fate.step()
            for removal in super().delete_all([uri]):
                self._fate.step()
                yield removal
