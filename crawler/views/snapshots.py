"""A snapshot as it is shown, to operators and to the public, and its body."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve, frozen
from sqlalchemy import exists, select

from crawler.archive.asked import capture_date
from crawler.archive.warc_answers import MAX_DECODED_BYTES
from crawler.db import lookup
from crawler.db.models import Artifact, Page, Record, RegisteredSource, Snapshot, Text, WarcFile
from crawler.errors import IntegrityError, NotFoundError
from crawler.evidence.blobs import BlobMissingError, UnsafePathError
from crawler.evidence.bodies import Bodies, BodyGoneError, BodyMissingError, Finding, is_readable
from crawler.evidence.warc_checks import known_finding
from crawler.html.parse import charset_of
from crawler.views.paging import Resource
from crawler.views.search import RAW_URL, sources_of
from crawler.warc.cdxj import domain_keys
from crawler.warc.messages import UndecodableError

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement

    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore
    from crawler.evidence.bodies import Body
    from crawler.views.paging import Condition

THERE = "there"
RETENTION, CLEANUP, PURGED, MISSING, DAMAGED, UNDECODABLE, TOO_LARGE = (
    "removed_by_retention", "removed_by_cleanup", "purged", "file_missing", "damaged", "undecodable",
    "too_large",
)  # fmt: skip
MAX_RAW_BYTES = MAX_DECODED_BYTES  # what is larger is no page to the index either
_STATES = {Finding.INTACT: THERE, Finding.MISSING: MISSING, Finding.DAMAGED: DAMAGED}
_UNREADABLE = {MISSING, DAMAGED}
_ERASED = {"erased": PURGED, "purge": PURGED, "purged": PURGED}


class NoBodyError(NotFoundError):
    """The snapshot is there, and its body is not; `reason` says why."""

    code = "no_body"

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason  # one of the words above


@frozen(kw_only=True)
class PublicSnapshot:
    """A snapshot without its place on the server."""

    id: int
    url: str
    captured_at: datetime
    date_precision: str | None  # year, month, day or minute, where no more is known
    source: str
    job: int | None
    session: UUID | None
    status_code: int | None
    mime_type: str | None
    language: str
    title: str
    snippet: str
    content_hash: str
    text_hash: str | None
    problem: str | None
    container: str
    offset: int | None
    length: int | None
    body: str  # there, or why it is not


ASnapshot = TypeVar("ASnapshot", bound=PublicSnapshot)


@frozen(kw_only=True)
class SnapshotDocument(PublicSnapshot):
    """A snapshot with the place of its body: `vitrine snapshots show`."""

    warc: str | None
    artifact: UUID | None
    raw_snapshot_path: str | None  # a static copy, where one was written


@frozen(kw_only=True)
class ListedSnapshot:
    """A snapshot in a list of them: `vitrine snapshots list`."""

    id: int
    url: str
    captured_at: datetime
    date_precision: str | None
    source: str
    job_id: int | None
    page_id: UUID | None
    status_code: int | None
    mime_type: str | None
    language: str
    title: str
    snippet: str
    content_hash: str
    problem: str | None
    deduplicated: bool


@frozen(kw_only=True)
class SnapshotSummary:
    """A snapshot as `/api/snapshot/{id}` has it (SPEC 74)."""

    id: int
    title: str
    source_code: str
    source_name: str
    language: str
    capture_date: str
    capture_timestamp: datetime
    date_precision: str | None
    job_id: int | None
    original_url: str
    snippet: str
    raw_snapshot_url: str
    mime_type: str | None
    status_code: int | None


@frozen(kw_only=True)
class RawSnapshot:
    """A snapshot's body as it was sent, unpacked, with what is needed to show it (SPEC 75)."""

    id: int
    url: str
    captured_at: datetime
    mime_type: str
    charset: str  # in which the bytes really are
    body: bytes


def snapshot(db: Transaction, given: str) -> SnapshotDocument:
    """The snapshot with that number."""
    row = lookup.find(db, Snapshot, given)
    record = db.get_one(Record, row.record_id)
    file = db.get(WarcFile, record.warc_file_id) if record.warc_file_id else None
    [(source, _)] = sources_of(db, {row.source_id}).values()
    return SnapshotDocument(
        id=row.id, url=row.url, captured_at=row.captured_at,
        date_precision=row.date_precision, source=source, job=file.job_id if file else None,
        session=db.scalar(select(Page.session_id).where(Page.id == row.page_id)),
        status_code=row.status_code, mime_type=row.mime_type, language=row.language, title=row.title,
        snippet=row.snippet, content_hash=row.content_hash,
        text_hash=db.scalar(select(Text.text_hash).where(Text.id == row.text_id)), problem=row.problem,
        container="warc" if file else "artifact", warc=f"{file.folder}/{file.path}" if file else None,
        offset=record.offset, length=record.length, artifact=record.artifact_id,
        raw_snapshot_path=row.raw_snapshot_path,
        body=body_state(db, record, file),
    )  # fmt: skip


def captured_of(snapshot: Any) -> Condition:
    """A snapshot, by its column, of an answer of the domain."""

    def is_of(domain: str) -> ColumnElement[bool]:
        first, last = domain_keys(domain)
        return exists().where(Record.id == snapshot.record_id, Record.url_key >= first, Record.url_key < last)

    return is_of


SNAPSHOTS = Resource(
    table=Snapshot,
    by=(Snapshot.captured_at, Snapshot.id),
    time=Snapshot.captured_at,
    domain=captured_of(Snapshot),
    query=select(Snapshot, RegisteredSource.code.label("source")).join(
        RegisteredSource, RegisteredSource.id == Snapshot.source_id
    ),
    document=ListedSnapshot,
    filters={"source": lambda _, named: lookup.of_source(named)},
)


def summary(db: Transaction, given: str) -> SnapshotSummary:
    """The snapshot with that number, for everybody."""
    row = lookup.find(db, Snapshot, given)
    [(code, name)] = sources_of(db, {row.source_id}).values()
    job = select(WarcFile.job_id).join(Record, Record.warc_file_id == WarcFile.id)
    return SnapshotSummary(
        id=row.id, title=row.title, source_code=code, source_name=name, language=row.language,
        capture_date=capture_date(row.captured_at, row.date_precision),
        capture_timestamp=row.captured_at, date_precision=row.date_precision,
        job_id=db.scalar(job.where(Record.id == row.record_id)), original_url=row.url, snippet=row.snippet,
        raw_snapshot_url=f"{RAW_URL}{row.id}", mime_type=row.mime_type, status_code=row.status_code,
    )  # fmt: skip


def body_state(db: Transaction, record: Record, file: WarcFile | None) -> str:
    """Whether rows say that a body is there, and else why not; no file is opened."""
    if file is None:
        readable = select(Artifact.id).where(Artifact.id == record.artifact_id, is_readable(db.now))
        return THERE if db.scalar(readable) else RETENTION
    if record.gone_at is None and file.gone_at is None:
        return _STATES[known_finding(file, record)]
    return _ERASED.get(file.gone_why or "erased", CLEANUP)


def raw(database: Database, blobs: BlobStore, given: str, *, even_damaged: bool = False) -> RawSnapshot:
    """Read a snapshot's body where its record says; `NoBodyError` says why there is none.

    What a check found damaged is only read to be checked again.
    """
    with database.read() as db:
        row = lookup.find(db, Snapshot, given)
        record = db.get_one(Record, row.record_id)
        file = db.get(WarcFile, record.warc_file_id) if record.warc_file_id else None
        state = body_state(db, record, file)
    # A file that a check found missing may have been put back since.
    if state not in ({THERE, *_UNREADABLE} if even_damaged else {THERE, MISSING}):
        raise NoBodyError(f"the body of snapshot {row.id} is not there: {state}", state)
    try:
        found = Bodies(database, blobs).of_record(record.id)
        body = _whole(found)
    except BodyGoneError as error:
        raise NoBodyError(str(error), RETENTION if file is None else CLEANUP) from error
    except (BodyMissingError, BlobMissingError, UnsafePathError, OSError) as error:
        raise NoBodyError(f"the body of snapshot {row.id} cannot be read: {error}", MISSING) from error
    except IntegrityError as error:
        raise NoBodyError(f"the body of snapshot {row.id} cannot be read: {error}", DAMAGED) from error
    except UndecodableError as error:
        reason = UNDECODABLE if row.problem else DAMAGED
        raise NoBodyError(f"the body of snapshot {row.id} cannot be unpacked: {error}", reason) from error
    if body is None:
        raise NoBodyError(f"the body of snapshot {row.id} is too large to be shown", TOO_LARGE)
    kind = found.content_type or row.mime_type or "text/html"
    return RawSnapshot(
        id=row.id, url=row.url, captured_at=row.captured_at,
        mime_type=kind.partition(";")[0].strip().lower(), charset=charset_of(body, kind), body=body,
    )  # fmt: skip


def as_read(database: Database, blobs: BlobStore, document: ASnapshot) -> ASnapshot:
    """Return the snapshot with the state of its body as reading the body shows it."""
    try:
        raw(database, blobs, str(document.id))
    except NoBodyError as error:
        return evolve(document, body=error.reason) if error.reason in _UNREADABLE else document
    return evolve(document, body=THERE)


def _whole(found: Body) -> bytes | None:
    """All of a body; None for one that unpacks to more than a page has."""
    body = bytearray()
    with closing(found):
        for piece in found.pieces:
            body += piece
            if len(body) > MAX_RAW_BYTES:
                return None
    return bytes(body)
