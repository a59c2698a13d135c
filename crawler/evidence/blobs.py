"""The artifact store: a file is whole or absent, is never overwritten, and never lies outside the root."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, BinaryIO, Protocol

from attrs import frozen

from crawler.errors import NO_ROOM, CrawlerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime


CHUNK_BYTES = 256 * 1024
MARK = ".vitrine-store"  # the name in the root that tells one store from another; no listing has it
_MAX_NAME_BYTES = 255
# Names that begin with a letter or a digit and are short: nothing else needs to be asked about them.
_USUAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,200})*")
_NEVER_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\\]")


class BlobExistsError(CrawlerError):
    """There is a file of that name already."""

    code = "artifact_exists"
    exit_code = 5


class BlobMissingError(NotFoundError):
    """There is no file of that name."""

    code = "artifact_missing"


class UnsafePathError(CrawlerError):
    """The path leaves the artifacts' root."""

    code = "unsafe_path"


class DiskFullError(CrawlerError):
    """There is no room left for artifacts."""

    code = "disk_full"


class StoreUnavailableError(CrawlerError):
    """The artifact store as a whole is away; nothing can be said about any file in it."""

    code = "artifacts_unavailable"


@frozen
class BlobEntry:
    """A stored file as a listing shows it."""

    uri: str
    size_bytes: int
    modified: datetime


@frozen
class Removal:
    """What came of one file that was to go."""

    uri: str
    found: bool = True  # False: it is known to have been missing before
    error: CrawlerError | None = None  # why it is still there


def safe_parts(uri: str) -> list[str]:
    """The steps of a relative path; anything that could leave the root is refused."""
    parts = uri.split("/")
    if not _USUAL.fullmatch(uri) and any(_is_unsafe(part) for part in parts):
        raise UnsafePathError(f"{uri!r} is not a path below the artifacts' root")
    return parts


def as_store_error(
    error: OSError, uri: str, hint: str = "check ARTIFACTS_DIR and its permissions"
) -> CrawlerError:
    """What an error of the file system means for one file."""
    if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EISDIR}:
        return UnsafePathError(f"{uri!r} does not lead through folders to a regular file")
    if error.errno in NO_ROOM:
        return DiskFullError(f"no room for {uri}: {error.strerror}")
    return CrawlerError(f"{uri}: {error.strerror}", hint=hint)


def _is_unsafe(part: str) -> bool:
    if part in {"", ".", ".."} or _NEVER_IN_NAMES.search(part):
        return True
    try:
        return len(part.encode()) > _MAX_NAME_BYTES
    except UnicodeEncodeError:
        return True


# ── the artifact store: a file is whole or absent, is never overwritten, and never lies outside the root ──


class BlobStore(Protocol):
    """Named bytes, written once. Any thread may call it."""

    @property
    def shown(self) -> str:
        """Where its root is, as it may be shown."""

    def publish(self, uri: str, data: bytes) -> None:
        """Store `data` under `uri`, durably and as a whole; refuse a name that is taken."""

    def publish_all(self, files: Mapping[str, bytes]) -> None:
        """The same for several, or for none of them if one is refused."""

    def read(self, uri: str) -> bytes:
        """The bytes stored under `uri`."""

    def stream(self, uri: str) -> Iterator[bytes]:
        """The same, a chunk at a time; what can be refused is refused at the first chunk."""

    def open(self, uri: str) -> BinaryIO:
        """Open the file under `uri`, of which some part is to be read."""

    def exists(self, uri: str) -> bool:
        """Whether `uri` can be read."""

    def delete(self, uri: str) -> bool:
        """Remove a file; False when there is none."""

    def delete_all(self, uris: Iterable[str]) -> Iterator[Removal]:
        """Remove many, saying of each what came of it; raises only when the store as a whole is away."""

    def entries(self, endings: tuple[str, ...] = ("",)) -> Iterator[BlobEntry]:
        """Every stored file whose name ends in one of these ways, but the store's mark."""
