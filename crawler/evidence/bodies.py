"""Which artifacts may be read, and whether their files are what they were."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from itertools import starmap
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import and_, or_, select

from crawler.capture.artifact_types import GZIPPED
from crawler.config import S3_SCHEME
from crawler.db.models.evidence import Artifact
from crawler.errors import IntegrityError
from crawler.evidence import files
from crawler.evidence.blobs import BlobMissingError, UnsafePathError
from crawler.evidence.folder_store import FolderStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement

    from crawler.config import Settings
    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore


def open_blobs(settings: Settings) -> BlobStore:
    """The store that `ARTIFACTS_DIR` names: a folder, or a bucket."""
    if not settings.artifacts_dir.startswith(S3_SCHEME):
        return FolderStore(settings.artifacts)
    from crawler.evidence.object_store import open_bucket  # ruff: ignore[import-outside-top-level] - slow to load

    return open_bucket(settings.artifacts_dir, settings)


def is_readable(now: datetime) -> ColumnElement[bool]:
    """Neither deleted nor just being deleted; a cleaner's claim hides a row until its lease is over."""
    free = or_(Artifact.cleanup_claim.is_(None), Artifact.cleanup_claimed_until < now)
    return and_(Artifact.deleted_at.is_(None), free)


def decoded(blobs: BlobStore, artifact: Artifact) -> Iterator[bytes]:
    """An artifact's content, unpacked where it is packed, a piece at a time."""
    chunks = blobs.stream(artifact.storage_uri)
    return files.gunzipped_chunks(chunks) if artifact.type in GZIPPED else chunks


# ── re-reads stored files and compares them with what was recorded when they were written ──


PAGE_ROWS = 200
_READERS = 4  # a digest lets other threads run, and a bucket answers late


class Finding(StrEnum):
    """What a re-read file is like."""

    INTACT = "intact"
    MISSING = "missing"
    UNSAFE_PATH = "unsafe_path"
    CHECKSUM = "checksum_differs"  # the stored bytes are others
    CONTENT = "content_differs"  # the stored bytes are the same, what they decode to is not


@frozen
class Examined:
    """An artifact, and what was found."""

    artifact: Artifact
    finding: Finding


def examined(blobs: BlobStore, artifact: Artifact) -> Finding:
    """Read a file once, and compare both of its digests."""
    try:
        checksum, content = _digests(blobs.stream(artifact.storage_uri), gzipped=artifact.type in GZIPPED)
    except BlobMissingError:
        return Finding.MISSING
    except UnsafePathError:
        return Finding.UNSAFE_PATH
    if checksum != artifact.checksum:
        return Finding.CHECKSUM
    return Finding.INTACT if content == artifact.content_sha256 else Finding.CONTENT


def examine_all(database: Database, blobs: BlobStore) -> Iterator[Examined]:
    """Every readable artifact in the order of the ids; no transaction is open while files are read."""
    last: UUID | None = None
    with ThreadPoolExecutor(_READERS) as readers:
        while rows := _page(database, last):
            last = rows[-1].id
            findings = readers.map(lambda row: examined(blobs, row), rows)
            yield from _still_there(database, list(starmap(Examined, zip(rows, findings, strict=True))))


def _digests(chunks: Iterator[bytes], *, gzipped: bool) -> tuple[str, str | None]:
    """Of the file, and of what it decodes to; None if it does not decode."""
    file, content = hashlib.sha256(), hashlib.sha256()

    def seen() -> Iterator[bytes]:
        for chunk in chunks:
            file.update(chunk)
            yield chunk

    source = seen()
    decodes = True
    try:
        for piece in files.gunzipped_chunks(source) if gzipped else source:
            content.update(piece)
    except IntegrityError:
        decodes = False
        _exhaust(source)  # the file's digest is that of all of it
    return file.hexdigest(), content.hexdigest() if decodes else None


def _exhaust(chunks: Iterable[bytes]) -> None:
    for _ in chunks:
        pass


def _page(database: Database, after: UUID | None) -> Sequence[Artifact]:
    query = select(Artifact).order_by(Artifact.id).limit(PAGE_ROWS)
    with database.read() as db:
        query = query.where(is_readable(db.now))
        return db.scalars(query if after is None else query.where(Artifact.id > after)).all()


def _still_there(database: Database, found: list[Examined]) -> Iterator[Examined]:
    """Leave out what a cleaner took while we read."""
    doubted = [one.artifact.id for one in found if one.finding is Finding.MISSING]
    live: set[UUID] = set()
    if doubted:
        with database.read() as db:
            query = select(Artifact.id).where(Artifact.id.in_(doubted), is_readable(db.now))
            live = set(db.scalars(query))
    return (one for one in found if one.finding is not Finding.MISSING or one.artifact.id in live)
