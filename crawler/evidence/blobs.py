"""The artifact store: a file is whole or absent, is never overwritten, and never lies outside the root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from crawler.config import S3_SCHEME
from crawler.evidence.blob_rules import (
    BlobEntry,
    BlobExistsError,
    BlobMissingError,
    BlobWriter,
    DiskFullError,
    Removal,
    Stored,
    StoreUnavailableError,
    UnsafePathError,
    safe_parts,
)
from crawler.evidence.folder_store import FolderStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from crawler.config import Settings

__all__ = [
    "BlobEntry",
    "BlobExistsError",
    "BlobMissingError",
    "BlobStore",
    "BlobWriter",
    "DiskFullError",
    "FolderStore",
    "Removal",
    "StoreUnavailableError",
    "Stored",
    "UnsafePathError",
    "open_blobs",
    "safe_parts",
]


class BlobStore(Protocol):
    """Named bytes, written once. Any thread may call it."""

    def publish(self, uri: str, data: bytes) -> None:
        """Store `data` under `uri`, durably and as a whole; refuse a name that is taken."""

    def publish_all(self, files: Mapping[str, bytes]) -> None:
        """The same for several, or for none of them if one is refused."""

    def writing(self, uri: str) -> AbstractContextManager[BlobWriter]:
        """The same piece by piece: published when the block ends, gone without a trace if it raises."""

    def read(self, uri: str) -> bytes:
        """The bytes stored under `uri`."""

    def stream(self, uri: str) -> Iterator[bytes]:
        """The same, a chunk at a time; what can be refused is refused at the first chunk."""

    def exists(self, uri: str) -> bool:
        """Whether `uri` can be read."""

    def delete(self, uri: str) -> bool:
        """Remove a file; False when there is none."""

    def delete_all(self, uris: Iterable[str]) -> Iterator[Removal]:
        """Remove many, saying of each what came of it; raises only when the store as a whole is away."""

    def entries(self) -> Iterator[BlobEntry]:
        """Every stored file with its age, in no promised order."""


def open_blobs(settings: Settings) -> BlobStore:
    """The store that `ARTIFACTS_DIR` names: a folder, or a bucket."""
    if not settings.artifacts_dir.startswith(S3_SCHEME):
        return FolderStore(settings.artifacts)
    from crawler.evidence.object_store import open_bucket  # ruff: ignore[import-outside-top-level] - slow to load

    return open_bucket(settings.artifacts_dir, settings)
