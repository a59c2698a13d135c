"""A snapshot as an exhibit: how it came here, step by step, what proves it, and how long it stays."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve, frozen
from sqlalchemy import and_, or_, select

from crawler.db import lookup
from crawler.db.models import Artifact, CrawlSession, Hold, Job, Page, Record, Snapshot, WarcFile
from crawler.errors import CrawlerError
from crawler.evidence.bodies import Finding, Heads, examined, heads_of
from crawler.evidence.warc_checks import Damage, note_damage, note_whole, why_damaged
from crawler.evidence.warc_tools import digest_of
from crawler.pdp import verdict_in
from crawler.retention import holds as retention_holds
from crawler.views import snapshots as views
from crawler.views.documents import document_of
from crawler.views.retention import HoldDocument
from crawler.views.snapshots import PublicSnapshot, SnapshotDocument

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore
    from crawler.pdp import Verdict


@frozen(kw_only=True)
class ChainStep:
    """Something that happened to a page on its way here."""

    what: str
    at: datetime | None
    detail: str
    link: str | None = None


@frozen(kw_only=True)
class PublicExhibit:
    """What everybody may read of a snapshot."""

    snapshot: PublicSnapshot
    chain: list[ChainStep]
    verdict: dict[str, Any] | None
    facts: dict[str, Any] | None
    file_sha256: str | None  # of the stored file, in which the body is packed
    file_bytes: int | None
    retention_until: datetime | None
    previous: int | None  # the capture of the same page before this one
    next: int | None
    file_damage: str  # why its WARC file counts as damaged; empty where it does not

    @property
    def judged(self) -> Verdict | None:
        """The verdict as a value; `verdict` is its JSON."""
        return verdict_in(self.verdict)


AnExhibit = TypeVar("AnExhibit", bound=PublicExhibit)


@frozen(kw_only=True)
class Exhibit(PublicExhibit):
    """A snapshot for operators: with its place on the server and the holds on it."""

    snapshot: SnapshotDocument
    file: str | None  # the path of the WARC file, or the name of the file in the artifact store
    holds: list[HoldDocument]


@frozen
class Check:
    """One thing that was compared with what was recorded of it."""

    what: str  # page or file
    finding: str
    said: str  # the finding as a sentence
    recorded: str | None  # SHA-256 as it was written down
    found: str | None

    @property
    def tone(self) -> str:
        """How it is shown: good, bad, or warn for what was not compared."""
        return "good" if self.finding == Finding.INTACT else "warn" if self.finding in UNCHECKED else "bad"


@frozen
class Verification:
    """What came of reading a snapshot again: its page's bytes, and the whole file that they lie in."""

    checks: tuple[Check, ...]

    @property
    def tone(self) -> str:
        """The worst of all checks."""
        tones = {each.tone for each in self.checks}
        return next(tone for tone in ("bad", "warn", "good") if tone in tones)


MAX_HASHED_BYTES = 512 * 1024 * 1024  # of a file that is read within a request: some seconds at most
NOT_READ, NOT_SEALED, NOT_RECORDED = "not_read", "not_sealed", "not_recorded"
UNCHECKED = {NOT_READ, NOT_SEALED, NOT_RECORDED, views.TOO_LARGE, views.UNDECODABLE}
_GONE = {views.RETENTION, views.CLEANUP, views.PURGED}
_SAID_OF_PAGES = {
    Finding.INTACT: "it is, byte for byte, what was captured.",
    Finding.CONTENT: "it can be read, and it is not what was captured: its digest is another.",
    views.DAMAGED: "the part of the file in which it lies is damaged, and cannot be read.",
    views.MISSING: "the file in which it lies is missing.",
    views.UNDECODABLE: "it cannot be unpacked, as it could not when it was captured; nothing is compared.",
    views.TOO_LARGE: "it is too large to be read here; nothing is compared.",
    views.RETENTION: "it was deleted when its retention was over.",
    views.CLEANUP: "it was deleted by a cleanup.",
    views.PURGED: "it was purged.",
}
_SAID_OF_FILES = {
    Finding.INTACT: "it is, byte for byte, what was written.",
    Finding.CHECKSUM: "it is not what was written: something in it was changed, its digest is another.",
    Finding.MISSING: "it is missing, or cannot be read.",
    Finding.UNSAFE_PATH: "its path leads out of the store.",
    NOT_READ: "it is too large to be read here; `vitrine warcs verify FILE` compares its digest.",
    NOT_SEALED: "it is still being written, and has no digest yet.",
    NOT_RECORDED: "no digest of it was recorded; nothing is compared.",
}


def exhibit(db: Transaction, given: str) -> Exhibit:
    """The snapshot with that number, and its story."""
    document = views.snapshot(db, given)
    row = db.get_one(Snapshot, document.id)
    record = db.get_one(Record, row.record_id)
    page = db.get(Page, row.page_id) if row.page_id else None
    artifact = db.get(Artifact, record.artifact_id) if record.artifact_id else None
    file = db.get(WarcFile, record.warc_file_id) if record.warc_file_id else None
    session = db.get(CrawlSession, page.session_id) if page else None
    return Exhibit(
        snapshot=document, chain=_chain(db, row, session=session, artifact=artifact, file=file),
        verdict=page.verdict if page else None, facts=page.facts if page else None,
        file_sha256=artifact.checksum if artifact else file.sha256 if file else None,
        file_bytes=artifact.size_bytes if artifact else record.length,
        retention_until=artifact.retention_until if artifact else None,
        file=document.warc or (artifact.storage_uri if artifact else None),
        holds=_holds(db, session), previous=_beside(db, row, before=True),
        next=_beside(db, row, before=False), file_damage=why_damaged(file) if file else "",
    )  # fmt: skip


def public_exhibit(db: Transaction, given: str) -> PublicExhibit:
    """The same, without what only operators may read."""
    found = exhibit(db, given)
    return document_of(PublicExhibit, found, snapshot=document_of(PublicSnapshot, found.snapshot))


def as_read(database: Database, blobs: BlobStore, found: AnExhibit) -> AnExhibit:
    """Return the exhibit with the state of its body as reading the body shows it."""
    return evolve(found, snapshot=views.as_read(database, blobs, found.snapshot))


def headers_of(database: Database, given: str) -> Heads:
    """The headers of the archived answer and its request; none where only the body was kept, or is gone."""
    with database.read() as db:
        record = db.get_one(Record, lookup.find(db, Snapshot, given).record_id)
    return heads_of(database, record)


def verified(database: Database, blobs: BlobStore, given: str, *, is_stored: bool) -> Verification:
    """Compare a page and its file with what was recorded of them; store it if asked to."""
    with database.read() as db:
        row = lookup.find(db, Snapshot, given)
        record = db.get_one(Record, row.record_id)
        artifact = db.get(Artifact, record.artifact_id) if record.artifact_id else None
        warc = db.get(WarcFile, record.warc_file_id) if record.warc_file_id else None
    page = _page_check(database, blobs, row)
    if page.finding in _GONE:
        return Verification((page,))
    if warc is None:
        return Verification((page, _artifact_check(blobs, artifact)) if artifact else (page,))
    file = _warc_check(warc)
    if not is_stored:
        return Verification((page, file))
    if file.tone == "good":
        if warc.state == "damaged":
            note_whole(database, warc.id)
    elif "bad" in {page.tone, file.tone}:
        note_damage(database, warc.id, _damage_of(record, page, file))
    return Verification((page, file))


def _page_check(database: Database, blobs: BlobStore, row: Snapshot) -> Check:
    try:
        body = views.raw(database, blobs, str(row.id), even_damaged=True).body
    except views.NoBodyError as error:
        return Check("page", error.reason, _SAID_OF_PAGES[error.reason], row.content_hash, None)
    found = hashlib.sha256(body).hexdigest()
    finding = Finding.INTACT if found == row.content_hash else Finding.CONTENT
    return Check("page", finding, _SAID_OF_PAGES[finding], row.content_hash, found)


def _artifact_check(blobs: BlobStore, artifact: Artifact) -> Check:
    if artifact.size_bytes > MAX_HASHED_BYTES:
        return _file_check(NOT_READ, artifact.checksum)
    found = examined(blobs, artifact)
    finding = Finding.INTACT if found is Finding.CONTENT else found  # of what it unpacks to the page tells
    return _file_check(finding, artifact.checksum)


def _warc_check(file: WarcFile) -> Check:
    """Compare a WARC file's digest with the recorded one, unless the file is too large for a request."""
    if file.sha256 is None:
        return _file_check(NOT_SEALED if file.state == "open" else NOT_RECORDED, None)
    path = Path(file.folder) / file.path
    try:
        if path.stat().st_size > MAX_HASHED_BYTES:
            return _file_check(NOT_READ, file.sha256)
        found = digest_of(path)
    except (CrawlerError, OSError):
        return _file_check(Finding.MISSING, file.sha256)
    return _file_check(Finding.INTACT if found == file.sha256 else Finding.CHECKSUM, file.sha256, found)


def _file_check(finding: str, recorded: str | None, found: str | None = None) -> Check:
    return Check("file", finding, _SAID_OF_FILES[finding], recorded, found)


def _damage_of(record: Record, page: Check, file: Check) -> Damage:
    """What is wrong with a file whose digest differs, or was not compared while a page in it is bad."""
    is_missing = file.finding == Finding.MISSING or page.finding == views.MISSING
    at = {"offset": record.offset or 0, "length": record.length or 1, "reason": page.finding}
    bad = [at] if page.tone == "bad" and not is_missing else []
    why = file.said if file.tone == "bad" else f"a page in it: {page.said}"
    return Damage(why.removesuffix("."), bad, is_missing=is_missing, is_of_all=False)


def _chain(
    db: Transaction,
    row: Snapshot,
    *,
    session: CrawlSession | None,
    artifact: Artifact | None,
    file: WarcFile | None,
) -> list[ChainStep]:
    steps: list[ChainStep] = []
    if session is not None:
        link = f"/admin/sessions/{session.id}"
        steps += [
            ChainStep(what="Ordered", at=session.created_at, detail=session.url, link=link),
            ChainStep(what="Domain held", at=session.started_at, detail=session.domain),
        ]
    job = db.get(Job, file.job_id) if file and file.job_id else None
    if job is not None:
        link = f"/admin/jobs/{job.id}"
        steps.append(ChainStep(what="Ordered", at=job.queued_at, detail=f"job {job.name}", link=link))
    answered = f"HTTP {row.status_code}" if row.status_code else "without a status"
    steps.append(
        ChainStep(what="Answered", at=row.captured_at, detail=f"{answered}, {row.mime_type or 'no type'}")
    )
    if artifact is not None:
        steps.append(ChainStep(what="Kept", at=artifact.created_at, detail="as a file of its own"))
    if file is not None:
        steps.append(
            ChainStep(what="Kept", at=row.captured_at, detail=f"in the WARC file {PurePath(file.path).name}")
        )
        steps.append(ChainStep(what="Sealed", at=file.sealed_at, detail=file.sha256 or "not yet"))
    return steps


def _holds(db: Transaction, session: CrawlSession | None) -> list[HoldDocument]:
    """The holds that cover the session, by itself or by its domain."""
    if session is None:
        return []
    covers = or_(Hold.session_id == session.id, Hold.domain == session.domain)
    query = select(Hold).where(and_(retention_holds.is_standing(db.now), covers)).order_by(Hold.created_at)
    return [document_of(HoldDocument, row) for row in db.scalars(query)]


def _beside(db: Transaction, row: Snapshot, *, before: bool) -> int | None:
    if row.group_id is None:
        return None
    at, key = Snapshot.captured_at, Snapshot.id  # of captures of one moment, too, each has its place
    mine = select(key).where(Snapshot.group_id == row.group_id).limit(1)
    if before:
        earlier = or_(at < row.captured_at, and_(at == row.captured_at, key < row.id))
        return db.scalar(mine.where(earlier).order_by(at.desc(), key.desc()))
    later = or_(at > row.captured_at, and_(at == row.captured_at, key > row.id))
    return db.scalar(mine.where(later).order_by(at, key))
