"""Folders below a root, opened one by one: neither a path nor a planted link leads outside."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from crawler.evidence.blob_rules import StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class FolderWalk:
    """The way from the root to one folder, kept open, so that the next folder nearby is reached cheaply.

    The root itself may be a link; whoever set it meant it. Below it none is followed.
    """

    def __init__(self, root: Path) -> None:
        """Open the root; without it nothing can be said about any file."""
        try:
            self._open = [os.open(root, _FOLDER)]
        except OSError as error:
            raise StoreUnavailableError(
                f"the artifacts' folder {root} cannot be opened: {error.strerror}",
                hint="check ARTIFACTS_DIR, and that its volume is mounted",
            ) from error
        self._names: list[str] = []
        self.changed: set[int] = set()  # open folders with new entries, which are safe once these are flushed
        self._left: list[int] = []  # those of them that the walk has gone back from

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for folder in (*self._open, *self._left):
            os.close(folder)
        self._open, self._left = [], []

    @property
    def here(self) -> int:
        """The open folder that the walk has come to."""
        return self._open[-1]

    def enter(self, names: Sequence[str], *, create: bool = False) -> int:
        """Go to a folder; `create` makes what is missing on the way, and makes that last."""
        self._back_to(self._shared_with(names))
        for name in names[len(self._names) :]:
            self._open.append(self._open_inner(name, create=create))
            self._names.append(name)
        return self.here

    def leave(self) -> None:
        """Go back to the root, and look at every folder anew."""
        self._back_to(0)

    def note_change(self) -> None:
        """Here is a new entry."""
        self.changed.add(self.here)

    def prune(self) -> None:
        """Remove the folders on the way back that are empty."""
        while self._names:
            name = self._names[-1]
            try:
                os.rmdir(name, dir_fd=self._open[-2])
            except OSError:
                return  # not empty, or gone
            self._back_to(len(self._names) - 1)

    def _shared_with(self, names: Sequence[str]) -> int:
        count = 0
        for ours, theirs in zip(self._names, names, strict=False):
            if ours != theirs:
                break
            count += 1
        return count

    def _back_to(self, depth: int) -> None:
        while len(self._names) > depth:
            self._names.pop()
            folder = self._open.pop()
            if folder in self.changed:
                self._left.append(folder)
            else:
                os.close(folder)

    def _open_inner(self, name: str, *, create: bool) -> int:
        try:
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self.here)
        except FileNotFoundError:
            if not create:
                raise
        with suppress(FileExistsError):  # another thread was faster
            os.mkdir(name, dir_fd=self.here)
        self.note_change()
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self.here)
