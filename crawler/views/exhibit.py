"""A snapshot as an exhibit: how it came here, step by step, what proves it, and how long it stays."""

from __future__ import annotations

import hashlib
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import and_, or_, select

from crawler.db import lookup
from crawler.db.models import Artifact, CrawlSession, Hold, Job, Page, Record, Snapshot, WarcFile
from crawler.evidence.bodies import Finding, Heads, examined, heads_of
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

    @property
    def judged(self) -> Verdict | None:
        """The verdict as a value; `verdict` is its JSON."""
        return verdict_in(self.verdict)


@frozen(kw_only=True)
class Exhibit(PublicExhibit):
    """A snapshot for operators: with its place on the server and the holds on it."""

    snapshot: SnapshotDocument
    file: str | None  # the path of the WARC file, or the name of the file in the artifact store
    holds: list[HoldDocument]


@frozen
class Verification:
    """What came of reading the body again."""

    finding: str
    recorded: str  # SHA-256 of the body, as it was written down
    found: str | None


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
        next=_beside(db, row, before=False),
    )  # fmt: skip


def public_exhibit(db: Transaction, given: str) -> PublicExhibit:
    """The same, without what only operators may read."""
    found = exhibit(db, given)
    return document_of(PublicExhibit, found, snapshot=document_of(PublicSnapshot, found.snapshot))


def headers_of(database: Database, given: str) -> Heads:
    """The headers of the archived answer and its request; none where only the body was kept, or is gone."""
    with database.read() as db:
        record = db.get_one(Record, lookup.find(db, Snapshot, given).record_id)
    return heads_of(database, record)


def verified(database: Database, blobs: BlobStore, given: str) -> Verification:
    """Read a body again, and compare it with what was recorded."""
    with database.read() as db:
        row = lookup.find(db, Snapshot, given)
        record = db.get_one(Record, row.record_id)
        artifact = db.get(Artifact, record.artifact_id) if record.artifact_id else None
    try:
        found = hashlib.sha256(views.raw(database, blobs, given).body).hexdigest()
    except views.NoBodyError as error:
        return Verification(error.reason, row.content_hash, None)
    finding = examined(blobs, artifact) if artifact else Finding.INTACT
    if finding is Finding.INTACT and found != row.content_hash:
        finding = Finding.CONTENT
    return Verification(str(finding), row.content_hash, found)


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
