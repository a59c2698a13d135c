"""The artifact store: a file is whole or absent, is never overwritten, and never lies outside the root."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from crawler.errors import CrawlerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_NAME_BYTES = 255
_CHANCES = 5


class BlobExistsError(CrawlerError):
    """There is a file of that name already."""

    code = "artifact_exists"
    exit_code = 5


class UnsafePathError(CrawlerError):
    """The path leaves the artifacts' root."""

    code = "unsafe_path"


class DiskFullError(CrawlerError):
    """There is no room left for artifacts."""

    code = "disk_full"


class BlobStore(Protocol):
    """Named bytes, written once."""

    def publish(self, uri: str, data: bytes) -> None:
        """Store `data` under `uri`, durably and as a whole; refuse a name that is taken."""

    def read(self, uri: str) -> bytes:
        """The bytes stored under `uri`."""

    def delete(self, uri: str) -> bool:
        """Remove a file; False when there is none."""


class FolderStore:
    """Artifacts as files below a folder.

    Folders are opened one by one and symbolic links are not followed, so that neither a URI nor a
    link that somebody planted leads outside.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def publish(self, uri: str, data: bytes) -> None:
        """Write to a nameless file, then give it its name: a crash leaves nothing behind."""
        *folders, name = safe_parts(uri)
        for chance in range(_CHANCES):
            try:
                with self._folder(folders, create=True) as folder:
                    _write_and_link(folder, name, data)
            except FileExistsError:
                raise BlobExistsError(f"{uri} exists already") from None
            except OSError as error:
                # A cleaner may remove an empty folder just as we put something into it.
                if not isinstance(error, FileNotFoundError) or chance == _CHANCES - 1:
                    raise _as_store_error(error, uri) from error
            else:
                return

    def read(self, uri: str) -> bytes:
        """The bytes stored under `uri`."""
        *folders, name = safe_parts(uri)
        try:
            with self._folder(folders) as folder:
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                with os.fdopen(file, "rb") as stream:
                    return stream.read()
        except FileNotFoundError:
            raise NotFoundError(f"{uri} is not in the artifact store") from None
        except OSError as error:
            raise _as_store_error(error, uri) from error

    def delete(self, uri: str) -> bool:
        """Remove a regular file, and the folders that it leaves empty."""
        *folders, name = safe_parts(uri)
        try:
            with self._folder(folders) as folder:
                if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise UnsafePathError(f"{uri} is not a regular file")
                os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _as_store_error(error, uri) from error
        self._prune(folders)
        return True

    @contextmanager
    def _folder(self, parts: list[str], *, create: bool = False) -> Generator[int]:
        if create:
            self.root.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.root, _FOLDER & ~os.O_NOFOLLOW)
        try:
            for part in parts:
                inner = _open_inner(folder, part, create=create)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)

    def _prune(self, parts: list[str]) -> None:
        while parts:
            *parents, last = parts
            try:
                with self._folder(parents) as folder:
                    os.rmdir(last, dir_fd=folder)
            except OSError:
                return  # not empty, or gone
            parts = parents


def safe_parts(uri: str) -> list[str]:
    """The steps of a relative path; anything that could leave the root is refused."""
    parts = uri.split("/")
    for part in parts:
        if part in {"", ".", ".."} or "\\" in part or "\x00" in part or len(part.encode()) > _MAX_NAME_BYTES:
            raise UnsafePathError(f"{uri!r} is not a path below the artifacts' root")
    return parts


def _open_inner(folder: int, part: str, *, create: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):  # another thread was faster
        os.mkdir(part, dir_fd=folder)
    return os.open(part, _FOLDER, dir_fd=folder)


def _write_and_link(folder: int, name: str, data: bytes) -> None:
    if hasattr(os, "O_TMPFILE"):
        try:
            file = os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o640, dir_fd=folder)
        except OSError as error:
            if error.errno not in {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL}:
                raise
        else:
            with os.fdopen(file, "wb", buffering=0) as stream:
                _write_all(stream.fileno(), data)
                os.link(f"/proc/self/fd/{stream.fileno()}", name, dst_dir_fd=folder, follow_symlinks=True)
            return
    _write_and_link_named(folder, name, data)


def _write_and_link_named(folder: int, name: str, data: bytes) -> None:
    """The same where a file system knows no nameless files; a crash may leave a `.part` file."""
    part = f".{uuid4().hex}.part"
    file = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o640, dir_fd=folder)
    try:
        with os.fdopen(file, "wb", buffering=0) as stream:
            _write_all(stream.fileno(), data)
        os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    finally:
        os.unlink(part, dir_fd=folder)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
    os.fdatasync(file)


def _as_store_error(error: OSError, uri: str) -> CrawlerError:
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return UnsafePathError(f"{uri!r} passes through something that is not a folder")
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DiskFullError(f"no room for {uri}: {error.strerror}")
    return CrawlerError(f"{uri}: {error.strerror}", hint="check ARTIFACTS_DIR and its permissions")
