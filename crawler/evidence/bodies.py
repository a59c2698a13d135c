"""The one way to a body, in whichever file it lies; and whether stored files are what they were."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from enum import StrEnum
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from attrs import evolve, frozen
from sqlalchemy import and_, bindparam, func, or_, select

from crawler.capture.artifact_types import GZIPPED, HTML, MEDIA, RESPONSE
from crawler.db.models import Artifact, Page, Record, WarcFile
from crawler.errors import CrawlerError, IntegrityError, NotFoundError
from crawler.evidence import files
from crawler.evidence.blobs import BlobMissingError, UnsafePathError
from crawler.warc.members import BadRecordError
from crawler.warc.messages import UndecodableError, is_secret
from crawler.warc.messages import decoded as unpacked
from crawler.warc.reader import body_of, open_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore
    from crawler.warc.messages import MessageHead
    from crawler.warc.reader import RecordStream


def is_readable(now: datetime) -> ColumnElement[bool]:
    """Neither deleted nor just being deleted; a cleaner's claim hides a row until its lease is over."""
    free = or_(Artifact.cleanup_claim.is_(None), Artifact.cleanup_claimed_until < now)
    return and_(Artifact.deleted_at.is_(None), free)


def require_readable(db: Session, artifact: Artifact, now: datetime) -> None:
    """Refuse an artifact that is not readable, with the time at which it was deleted."""
    if db.scalar(select(Artifact.id).where(Artifact.id == artifact.id, is_readable(now))) is not None:
        return
    when = f" at {artifact.deleted_at:%Y-%m-%d %H:%M}Z" if artifact.deleted_at else " just now"
    raise BodyGoneError(f"artifact {artifact.id} was deleted{when}, as its retention says")


def decoded(blobs: BlobStore, artifact: Artifact) -> Iterator[bytes]:
    """An artifact's content, unpacked where it is packed, a piece at a time."""
    chunks = blobs.stream(artifact.storage_uri)
    return files.gunzipped_chunks(chunks) if artifact.type in GZIPPED else chunks


# ── the body of a record, in whichever file it lies ──

# Built once: building a statement costs more than running it.
_KEPT = (
    select(
        Record.id, Record.url, Record.kind, Record.original_id,
        func.coalesce(Record.artifact_id, WarcFile.artifact_id),
        func.coalesce(Record.gone_at, WarcFile.gone_at), WarcFile.gone_why,
        WarcFile.folder, WarcFile.path, Record.offset, Record.length, Record.record_urn,
    )
    .outerjoin(WarcFile, WarcFile.id == Record.warc_file_id)
    .where(Record.id == bindparam("record"))
)  # fmt: skip
_PLACE = 7  # behind so many columns the ones of the place begin


class BodyGoneError(NotFoundError):
    """The body is not kept any more."""

    code = "body_gone"
    http_status = 410


class BodyMissingError(NotFoundError):
    """The body should be there, and is not."""

    code = "body_missing"


@frozen
class Body:
    """What a site sent, unpacked; the pieces can be read once."""

    content_type: str | None
    charset: str | None
    pieces: Iterator[bytes]
    location: str | None = None  # where the answer leads, if it is a redirect
    close: Callable[[], None] = lambda: None  # for who does not read it to its end

    def read(self) -> bytes:
        """All of it."""
        return b"".join(self.pieces)


@frozen
class _Place:
    """Where in a WARC file a record lies."""

    folder: str
    path: str
    offset: int | None
    length: int | None
    urn: str | None

    @classmethod
    def of(cls, file: WarcFile, record: Record) -> _Place:
        return cls(file.folder, file.path, record.offset, record.length, record.record_urn)


@frozen
class _Kept:
    """A record, and what holds its body."""

    place: _Place | None  # None: the body is a file of its own
    id: int
    url: str
    kind: str
    original_id: int | None
    artifact_id: UUID | None  # the body, or the WARC file that the body is in
    gone_at: datetime | None
    gone_why: str | None


class Bodies:
    """Finds and opens what records say of."""

    def __init__(self, database: Database, blobs: BlobStore) -> None:
        self._database = database
        self._blobs = blobs

    def of_page(self, page_id: UUID) -> Body:
        """The body of a page, whatever keeps it."""
        with self._database.read() as db:
            page = db.get(Page, page_id)
            if page is None:
                raise NotFoundError(f"there is no page {page_id}")
            record = page.record_id
            html = select(Artifact).where(Artifact.page_id == page_id, is_body())
            artifact = None if record else db.scalars(html.order_by(Artifact.created_at).limit(1)).first()
        if record:
            return self.of_record(record)
        if artifact is None:
            raise BodyMissingError(f"page {page_id} has no body")
        return self.of_artifact(artifact)

    def of_record(self, record_id: int) -> Body:
        """The body of a record; of a revisit that of the answer that it repeats."""
        with self._database.read() as db:
            kept = _kept(db, record_id)
            if kept.kind == "revisit" and kept.original_id is not None:
                kept = _kept(db, kept.original_id)
            artifact = db.get(Artifact, kept.artifact_id) if kept.artifact_id else None
        if artifact and kept.place is None:
            return self.of_artifact(artifact)
        if kept.place is None:
            raise BodyMissingError(f"nothing keeps record {record_id}")
        if kept.gone_at is not None:
            why = kept.gone_why or "erased"
            raise BodyGoneError(f"the body of {kept.url} is gone since {kept.gone_at:%Y-%m-%d %H:%M}Z: {why}")
        return _body_at(kept.place, self._open(artifact) if artifact else _opened_warc(kept.place))

    def _open(self, artifact: Artifact) -> BinaryIO:
        """Open a session's WARC file where the artifact store has it."""
        with self._database.read() as db:
            require_readable(db, artifact, db.now)
        try:
            return self._blobs.open(artifact.storage_uri)
        except BlobMissingError as error:
            raise BodyMissingError(str(error)) from error

    def of_artifact(self, artifact: Artifact) -> Body:
        """The body that a file of its own holds."""
        with self._database.read() as db:
            require_readable(db, artifact, db.now)
        return Body(artifact.content_type, artifact.charset, decoded(self._blobs, artifact))


def _kept(db: Transaction, record_id: int) -> _Kept:
    # On the connection itself: what the session does for objects costs more than this statement.
    row: Any = db.connection().execute(_KEPT, {"record": record_id}).first()
    if row is None:
        raise NotFoundError(f"there is no record {record_id}")
    place = None if row.path is None else _Place(*row[_PLACE:])
    return _Kept(place, *row[:_PLACE])


def body_in(file: WarcFile, record: Record) -> Body:
    """The body of a record in its file."""
    place = _Place.of(file, record)
    return _body_at(place, _opened_warc(place))


def _body_at(place: _Place, opened: BinaryIO) -> Body:
    with ExitStack() as stack:
        stack.enter_context(opened)
        stream = open_record(opened, place.offset or 0, place.length)
        if place.urn not in {None, stream.head.get("warc-record-id")}:
            raise BadRecordError(f"{place.path} has another record at {place.offset}")
        head, sent = body_of(stream)
        stack.pop_all()
    content_type = head.get(b"content-type") if head else stream.head.get("content-type")
    location = head.get(b"location") if head else None
    pieces = _unpacked(head, sent) if head else sent
    return Body(content_type, None, _until_read(opened, pieces), location, opened.close)


def _unpacked(head: MessageHead, sent: Iterator[bytes]) -> Iterator[bytes]:
    """What was sent, unpacked; where that fails, the record's own checksum tells whether it is damaged."""
    try:
        yield from unpacked(head, sent)
    except UndecodableError:
        _exhaust(sent)
        raise


def is_body() -> ColumnElement[bool]:
    """Whether an artifact is its page's body: what was judged, not what a browser made that of."""
    unrendered = Artifact.storage_uri.endswith(f"/{RESPONSE.file_name}")
    return Artifact.type.in_([HTML.name, MEDIA.name]) & ~unrendered


@frozen
class Heads:
    """The headers of a stored answer and of its request, and the fields of its record; empty if unknown."""

    answer: tuple[tuple[str, str], ...] = ()
    request: tuple[tuple[str, str], ...] = ()
    fields: tuple[tuple[str, str], ...] = ()


def heads_of(database: Database, record: Record) -> Heads:
    """Both from a WARC file, as far as they can be read there."""
    with database.read() as db:
        file = db.get(WarcFile, record.warc_file_id) if record.warc_file_id else None
    if file is None or file.gone_at is not None or record.gone_at is not None:
        return Heads()
    heads = Heads()
    try:
        with _opened_warc(_Place.of(file, record)) as opened:
            stream = open_record(opened, record.offset or 0)
            heads = Heads(_headers(stream), fields=tuple(stream.head.fields.items()))
            return evolve(heads, request=_request_headers(opened, record))
    except (CrawlerError, OSError):
        return heads


def _request_headers(opened: BinaryIO, record: Record) -> tuple[tuple[str, str], ...]:
    """Those of the request that stands behind its answer and names it; elsewhere none is looked for."""
    if record.length is None or record.record_urn is None:
        return ()
    behind = open_record(opened, (record.offset or 0) + record.length)
    is_its = behind.head.kind == "request" and behind.head.get("warc-concurrent-to") == record.record_urn
    # Not what a client proved itself with, whoever wrote it down.
    return tuple(pair for pair in _headers(behind) if not is_secret(pair[0].encode())) if is_its else ()


def _headers(record: RecordStream) -> tuple[tuple[str, str], ...]:
    """What a message says before its body."""
    head, _ = body_of(record)
    pairs = head.headers if head else ()
    return tuple((name.decode("latin-1"), value.decode("utf-8", "replace")) for name, value in pairs)


def _opened_warc(place: _Place) -> BinaryIO:
    """A file under the name that it has once it is sealed, or the one that it has before."""
    for name in (place.path, f"{place.path}.open"):
        try:
            return (Path(place.folder) / name).open("rb")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise BodyMissingError(f"{place.path} cannot be read: {error.strerror}") from error
    raise BodyMissingError(f"{place.path} is not in {place.folder}", hint="was the folder moved?")


def _until_read(file: BinaryIO, pieces: Iterator[bytes]) -> Iterator[bytes]:
    with file:
        yield from pieces


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
    DAMAGED = "damaged"  # the part of the file in which it lies cannot be read


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
        while rows := readable_after(database, last, PAGE_ROWS):
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


def readable_after(database: Database, after: UUID | None, most: int) -> Sequence[Artifact]:
    """The next readable artifacts in the order of the ids."""
    query = select(Artifact).order_by(Artifact.id).limit(most)
    with database.read() as db:
        query = query.where(is_readable(db.now))
        return db.scalars(query if after is None else query.where(Artifact.id > after)).all()


def _still_there(database: Database, found: list[Examined]) -> Iterator[Examined]:
    """Leave out what a cleaner took while we read."""
    live = still_readable(database, [one.artifact.id for one in found if one.finding is Finding.MISSING])
    return (one for one in found if one.finding is not Finding.MISSING or one.artifact.id in live)


def still_readable(database: Database, ids: Sequence[UUID]) -> set[UUID]:
    """Those of some artifacts that no cleaner has taken meanwhile."""
    if not ids:
        return set()
    with database.read() as db:
        return set(db.scalars(select(Artifact.id).where(Artifact.id.in_(ids), is_readable(db.now))))
