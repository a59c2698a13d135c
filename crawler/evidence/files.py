"""Where an artifact lies below the artifacts' root (SPEC F144). Pure."""

from __future__ import annotations

import hashlib
import re
import zlib
from typing import TYPE_CHECKING, Self

from attrs import frozen
from isal import igzip

from crawler.capture.artifact_types import (
    FEATURES,
    HTML,
    MEDIA,
    RESPONSE,
    SCREENSHOT,
    SESSION_LOG,
    VISIBLE_TEXT,
)
from crawler.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from uuid import UUID

    from crawler.capture.artifact_types import ArtifactType
    from crawler.capture.items import PageCapture, Sent
    from crawler.sessions.visit import Visit


# Endings that say what is inside; whatever a site calls its file, no other is given.
MEDIA_ENDINGS = {
    "application/json": "json",
    "application/pdf": "pdf",
    "audio/mpeg": "mp3",
    "image/avif": "avif",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "text/css": "css",
    "text/plain": "txt",
    "video/mp4": "mp4",
    "video/webm": "webm",
}
SPIDER_PAGE = "page"  # a page of a spider that has no page types of its own
_UNSAFE = re.compile(r"[^a-z0-9.\-]")


def session_folder(domain: str, session_id: UUID, epoch: int) -> str:
    """A session's folder; a later attempt has one of its own, so that none overwrites another's files."""
    safe = _UNSAFE.sub("_", domain.lower()).strip(".") or "unknown-domain"
    folder = f"{safe}__{session_id}"
    return folder if epoch <= 1 else f"{folder}/attempt-{epoch}"


def page_file(folder: str, *, page_type: str, viewport: str, page_id: UUID, kind: ArtifactType) -> str:
    """The name of one of a page's files."""
    where = f"pages/{page_id}" if page_type == SPIDER_PAGE else f"{page_type}/{viewport}"
    return f"{folder}/{where}/{kind.file_name}"


def media_file(folder: str, sha256: str, content_type: str | None) -> str:
    """The name of a file that is no page; a session has the same bytes once."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    return f"{folder}/media/{sha256}.{MEDIA_ENDINGS.get(kind, 'bin')}"


# ── bytes to stored bytes: deterministic gzip, and the digests that prove both. Pure ──


# Compared with zlib's default this level costs a tenth of the time and a fifth more space.
GZIP_LEVEL = 2
GZIP_WINDOW = 31  # zlib's way of saying: a gzip header, the largest window
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
_PIECE_BYTES = 1024 * 1024


@frozen
class Packed:
    """A file's bytes as they are stored, and what they decode to."""

    data: bytes
    checksum: str  # SHA-256 of data
    content_sha256: str  # SHA-256 of the decoded content


def gzipped(content: bytes) -> Packed:
    """Compress `content`; the same bytes give the same file, whenever and under whatever name."""
    data = igzip.compress(content, compresslevel=GZIP_LEVEL, mtime=0)
    return Packed(data, sha256(data), sha256(content))


def plain(content: bytes) -> Packed:
    """Keep `content` as it is."""
    digest = sha256(content)
    return Packed(content, digest, digest)


def gunzipped(data: bytes, limit: int = MAX_UNPACKED_BYTES) -> bytes:
    """Undo `gzipped`, up to `limit` bytes."""
    return b"".join(gunzipped_chunks([data], limit))


def gunzipped_chunks(chunks: Iterable[bytes], limit: int = MAX_UNPACKED_BYTES) -> Iterator[bytes]:
    """Undo `gzipped` a piece at a time, never holding more than one; `limit` is for all of them."""
    machine = zlib.decompressobj(GZIP_WINDOW)
    for chunk in chunks:
        data = chunk
        while data:
            if machine.eof:
                machine = zlib.decompressobj(GZIP_WINDOW)  # files that were joined are one file
            piece = _inflated(machine, data)
            limit -= len(piece)
            if limit < 0:
                raise IntegrityError("the gzip file unpacks to more than is allowed")
            yield piece
            data = machine.unused_data if machine.eof else machine.unconsumed_tail
    if not machine.eof:
        raise IntegrityError("the gzip file is cut short")


def _inflated(machine: zlib._Decompress, data: bytes) -> bytes:
    try:
        return machine.decompress(data, _PIECE_BYTES)
    except zlib.error as error:
        raise IntegrityError(f"the file is no gzip file: {error}") from None


def sha256(data: bytes) -> str:
    """The digest in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


# ── the files of a page: named and packed ──


@frozen
class KeptFile:
    """A published file, and the row that it gets."""

    type: ArtifactType
    uri: str
    packed: Packed
    content_type: str | None
    charset: str | None

    @classmethod
    def of(
        cls, kind: ArtifactType, uri: str, content: bytes, capture: PageCapture | Sent | None = None
    ) -> Self:
        """Pack a file as its type says; what the type leaves open is as the site said."""
        content_type, charset = (capture.content_type, capture.charset) if capture else (None, None)
        packed = (gzipped if kind.is_gzipped else plain)(content)
        return cls(kind, uri, packed, kind.content_type or content_type, kind.charset or charset)

    @property
    def is_shared(self) -> bool:
        """Whether it goes by its digest: what is there already is the same."""
        return not self.type.file_name


def files_of(visit: Visit, capture: PageCapture) -> list[KeptFile]:
    """A capture's files, named and packed; none of one that lies in a WARC file."""
    if capture.record is not None:
        return []
    folder = session_folder(visit.order.domain, visit.fence.session_id, visit.fence.epoch)
    # a run has many pages of every type
    page_type = SPIDER_PAGE if visit.order.run_id else capture.page_type
    contents = (
        (HTML, capture.body),
        (RESPONSE, capture.sent.body if capture.sent else None),
        (SCREENSHOT, capture.screenshot),
        (VISIBLE_TEXT, capture.visible_text),
        (FEATURES, capture.features),
    )
    kept = []
    for kind, content in contents:
        if content is not None:
            uri = page_file(
                folder, page_type=page_type, viewport=capture.viewport, page_id=capture.page_id, kind=kind
            )
            said = capture.sent if kind is RESPONSE else capture
            kept.append(KeptFile.of(kind, uri, content, said))
    if capture.media is not None:
        packed = plain(capture.media)
        uri = media_file(folder, packed.content_sha256, capture.content_type)
        kept.append(KeptFile(MEDIA, uri, packed, capture.content_type, None))
    return kept


def session_log(
    content: bytes, *, domain: str, session_id: UUID, epoch: int, taken: Collection[str]
) -> KeptFile:
    """A session's log under the first name that is not taken: an end that comes again gets a number."""
    folder = session_folder(domain, session_id, epoch)
    stem, dot, ending = SESSION_LOG.file_name.partition(".")
    uri, number = f"{folder}/{SESSION_LOG.file_name}", 1
    while uri in taken:
        number += 1
        uri = f"{folder}/{stem}-{number}{dot}{ending}"
    return KeptFile.of(SESSION_LOG, uri, content)
