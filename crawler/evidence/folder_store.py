"""Artifacts as files below a folder: whole or absent, never overwritten, never outside the root."""

from __future__ import annotations

import errno
import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, BinaryIO, Self, TypeVar
from uuid import uuid4

from crawler.errors import CrawlerError
from crawler.evidence.blobs import (
    CHUNK_BYTES,
    MARK,
    BlobEntry,
    BlobExistsError,
    BlobMissingError,
    Removal,
    StoreUnavailableError,
    UnsafePathError,
    as_store_error,
    safe_parts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
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
        alike = 0
        for ours, theirs in zip(self._names, names, strict=False):
            if ours != theirs:
                break
            alike += 1
        self._back_to(alike)
        for name in names[len(self._names) :]:
            self._open.append(self._open_inner(name, create=create))
            self._names.append(name)
        return self.here

    def leave(self) -> None:
        """Go back to the root, and look at every folder anew."""
        self._back_to(0)

    def prune(self) -> None:
        """Remove the folders on the way back that are empty."""
        while self._names:
            name = self._names[-1]
            try:
                os.rmdir(name, dir_fd=self._open[-2])
            except OSError:
                return  # not empty, or gone
            self._back_to(len(self._names) - 1)

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
        self.changed.add(self.here)
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self.here)


# ── artifacts as files below a folder: whole or absent, never overwritten, never outside the root ──


T = TypeVar("T")
_CHANCES = 5
_DELETERS = 8
_FLUSHERS = 4
_WORTH_THREADS = 32  # so many removals are worth threads; the first of them tell how long one takes
_QUICK_SECONDS = 50e-6  # of a removal that waits for nothing
_SLOW_SECONDS = 1e-3  # of one that waits for a disk that turns, or for another machine
_NO_NAMELESS_FILES = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL}
# Opening a pipe would wait for somebody to write into it.
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class FolderStore:
    """A `BlobStore` on a file system."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.shown = str(root.absolute())
        self._flushers = ThreadPoolExecutor(_FLUSHERS, thread_name_prefix="flush")
        self._deleters = ThreadPoolExecutor(_DELETERS, thread_name_prefix="delete")
        self._removing_threads: int | None = None  # once it is known how long a removal takes

    def publish(self, uri: str, data: bytes) -> None:
        """Store `data` under `uri`; a crash leaves nothing behind."""
        self.publish_all({uri: data})

    def publish_all(self, files: Mapping[str, bytes]) -> None:
        """Store several files or none; they share the ways to their folders, and the flushes of these."""
        with self._drafts(list(files)) as drafts:
            for draft, data in zip(drafts, files.values(), strict=True):
                draft.write(data)
            self._publish(drafts)

    def read(self, uri: str) -> bytes:
        """The bytes stored under `uri`."""
        with _opened(self.root, uri) as file:
            return file.read()

    def stream(self, uri: str) -> Iterator[bytes]:
        """The same, a chunk at a time."""
        with _opened(self.root, uri) as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def open(self, uri: str) -> BinaryIO:
        """Open the file under `uri`, of which some part is to be read."""
        return _open(self.root, uri)

    def exists(self, uri: str) -> bool:
        """Whether a file of that name can be read."""
        try:
            with _opened(self.root, uri):
                return True
        except BlobMissingError:
            return False

    def delete(self, uri: str) -> bool:
        """Remove a regular file, and the folders that it leaves empty; False when there is none."""
        with FolderWalk(self.root) as walk:
            return _removed(walk, uri)

    def delete_all(self, uris: Iterable[str]) -> Iterator[Removal]:
        """Remove files, side by side where the system waits for the disk; sorted names are reached faster.

        Where it does not, threads take longer to take turns than to remove a file: the first ones tell.
        """
        wanted = list(uris)
        if self._removing_threads is None and len(wanted) >= _WORTH_THREADS:
            began = time.perf_counter()
            first, wanted = _removals(self.root, wanted[:_WORTH_THREADS]), wanted[_WORTH_THREADS:]
            self._removing_threads = _threads_for((time.perf_counter() - began) / _WORTH_THREADS)
            yield from first
        threads = self._removing_threads or 1
        if threads == 1 or len(wanted) < _WORTH_THREADS:
            yield from _removals(self.root, wanted)
            return
        share = -(-len(wanted) // threads)
        parts = [wanted[start : start + share] for start in range(0, len(wanted), share)]
        deleting = [self._deleters.submit(_removals, self.root, part) for part in parts]
        try:
            for part in deleting:
                yield from part.result()
        finally:
            wait(deleting)

    def entries(self, endings: tuple[str, ...] = ("",)) -> Iterator[BlobEntry]:
        """All regular files whose names end in one of these ways, in no promised order."""
        with FolderWalk(self.root) as walk:
            yield from (entry for entry in _entries(walk, (), endings) if entry.uri != MARK)

    @contextmanager
    def _drafts(self, uris: Sequence[str]) -> Generator[list[_Draft]]:
        parts = [safe_parts(uri) for uri in uris]
        with ExitStack() as stack:
            with _as_store_errors(str(self.root)):
                self.root.mkdir(parents=True, exist_ok=True)
            root = stack.enter_context(FolderWalk(self.root)).here
            drafts: list[_Draft] = []
            for uri, steps in zip(uris, parts, strict=True):
                with _as_store_errors(uri):
                    drafts.append(_new_draft(root, uri, steps))
                stack.callback(drafts[-1].close)
            yield drafts

    def _publish(self, drafts: Sequence[_Draft]) -> None:
        """Give the drafts their names, once all their bytes are on the disk; all of them or none."""
        for draft in drafts:
            draft.start_flush()
        self._flush(_Draft.flush, drafts)
        try:
            with FolderWalk(self.root) as walk:
                for folders, neighbours in groupby(drafts, key=attrgetter("folders")):
                    _give_names(walk, folders, list(neighbours))
                self._flush(os.fsync, walk.changed)
        except BaseException:
            for draft in drafts:
                if draft.is_named:
                    self.delete(draft.uri)
            raise

    def _flush(self, flush: Callable[[T], object], things: Collection[T]) -> None:
        """Wait for the disk; the waits of several overlap, and the disk makes one of them.

        Each thread has its share: to hand them one by one costs as much as to flush them.
        """
        if len(things) > 1:
            waiting = list(things)
            shares = [waiting[start::_FLUSHERS] for start in range(min(_FLUSHERS, len(waiting)))]
            list(self._flushers.map(lambda share: list(map(flush, share)), shares))
        else:
            list(map(flush, things))


@contextmanager
def _opened(root: Path, uri: str) -> Generator[BinaryIO]:
    with _open(root, uri) as file, _as_store_errors(uri):
        yield file


def _open(root: Path, uri: str) -> BinaryIO:
    *folders, name = safe_parts(uri)
    with _as_store_errors(uri), FolderWalk(root) as walk:
        file = os.fdopen(os.open(name, _READING, dir_fd=walk.enter(folders)), "rb", closefd=True)
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise UnsafePathError(f"{uri!r} is not a regular file")
        return file


class _Draft:
    """A file that has no name yet; the system removes it when it is closed."""

    def __init__(self, file: int, uri: str, steps: Sequence[str]) -> None:
        self.uri = uri
        *self.folders, self.name = steps
        self.is_named = False
        self._file = file

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        with _as_store_errors(self.uri):
            while view:
                view = view[os.write(self._file, view) :]

    def start_flush(self) -> None:
        # What is not on the disk yet cannot be dropped, so the system begins to write it.
        os.posix_fadvise(self._file, 0, 0, os.POSIX_FADV_DONTNEED)

    def flush(self) -> None:
        with _as_store_errors(self.uri):
            os.fdatasync(self._file)

    def link(self, folder: int) -> None:
        if not self.is_named:
            self._link(folder, self.name)
            self.is_named = True

    def _link(self, folder: int, name: str) -> None:
        os.link(f"/proc/self/fd/{self._file}", name, dst_dir_fd=folder, follow_symlinks=True)

    def close(self) -> None:
        os.close(self._file)


class _NamedDraft(_Draft):
    """The same where a file system knows no nameless files; a crash may leave a `.part` file."""

    def __init__(self, root: int, uri: str, steps: Sequence[str]) -> None:
        self._root = root
        self._part = f".{uuid4().hex}.part"
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        super().__init__(os.open(self._part, flags, 0o640, dir_fd=root), uri, steps)

    def _link(self, folder: int, name: str) -> None:
        os.link(self._part, name, src_dir_fd=self._root, dst_dir_fd=folder, follow_symlinks=False)

    def close(self) -> None:
        super().close()
        os.unlink(self._part, dir_fd=self._root)


def _new_draft(root: int, uri: str, steps: Sequence[str]) -> _Draft:
    if hasattr(os, "O_TMPFILE"):
        try:
            file = os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o640, dir_fd=root)
        except OSError as error:
            if error.errno not in _NO_NAMELESS_FILES:
                raise
        else:
            return _Draft(file, uri, steps)
    return _NamedDraft(root, uri, steps)


def _give_names(walk: FolderWalk, folders: Sequence[str], drafts: Sequence[_Draft]) -> None:
    for _ in range(_CHANCES):
        # A cleaner may remove an empty folder just as we put something into it.
        with suppress(FileNotFoundError):
            with _as_store_errors(drafts[0].uri, missing=False):
                folder = walk.enter(folders, create=True)
            for draft in drafts:
                with _as_store_errors(draft.uri, missing=False):
                    draft.link(folder)
            walk.changed.add(folder)
            return
        walk.leave()
    raise CrawlerError(f"the folder of {drafts[0].uri} goes whenever it is made")


def _threads_for(seconds: float) -> int:
    """How many remove files side by side, where one file takes so long."""
    if seconds < _QUICK_SECONDS:
        return 1
    return min(_DELETERS, 2 * (os.cpu_count() or 1)) if seconds < _SLOW_SECONDS else _DELETERS


def _removals(root: Path, uris: Sequence[str]) -> list[Removal]:
    with FolderWalk(root) as walk:
        return [_removal(walk, uri) for uri in uris]


def _removal(walk: FolderWalk, uri: str) -> Removal:
    try:
        return Removal(uri, found=_removed(walk, uri))
    except CrawlerError as error:
        return Removal(uri, error=error)


def _removed(walk: FolderWalk, uri: str) -> bool:
    *folders, name = safe_parts(uri)
    try:
        folder = walk.enter(folders)
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise UnsafePathError(f"{uri!r} is not a regular file")
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise as_store_error(error, uri) from error
    else:
        return True
    finally:
        walk.prune()  # of a missing file as well: its remover may have died before it came to this


def _entries(walk: FolderWalk, names: tuple[str, ...], endings: tuple[str, ...]) -> Iterator[BlobEntry]:
    folders: list[str] = []
    with _as_store_errors("/".join(names) or "."), os.scandir(walk.enter(names)) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif entry.name.endswith(endings) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):  # it went while we looked
                    status = entry.stat(follow_symlinks=False)
                    modified = datetime.fromtimestamp(status.st_mtime, UTC)
                    yield BlobEntry("/".join((*names, entry.name)), status.st_size, modified)
    for folder in folders:
        with suppress(BlobMissingError):
            yield from _entries(walk, (*names, folder), endings)


@contextmanager
def _as_store_errors(uri: str, *, missing: bool = True) -> Generator[None]:
    try:
        yield
    except FileExistsError:
        raise BlobExistsError(f"{uri} exists already") from None
    except FileNotFoundError:
        if not missing:
            raise
        raise BlobMissingError(f"{uri} is not in the artifact store") from None
    except OSError as error:
        raise as_store_error(error, uri) from error
