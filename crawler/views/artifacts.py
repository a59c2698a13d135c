"""Artifacts: one stored file, and whether stored files are what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen
from sqlalchemy import select

from crawler.capture.artifact_types import SCREENSHOT
from crawler.db import lookup
from crawler.db.models import Artifact, CrawlSession
from crawler.errors import NotFoundError
from crawler.evidence.bodies import Finding, is_readable, require_readable
from crawler.views.documents import document_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy.orm import Session

    from crawler.evidence.bodies import Examined
    from crawler.evidence.recorded_pages import ExaminedPage


@frozen(kw_only=True)
class DamagedArtifact:
    """A stored file that is not what it was."""

    id: UUID
    session_id: UUID
    type: str
    storage_uri: str
    finding: Finding


@frozen(kw_only=True)
class DamagedPage:
    """A page in a WARC file that is not what it was."""

    id: UUID
    session_id: UUID
    url: str | None
    warc: str
    offset: int | None
    finding: Finding


@frozen
class Verification:
    """What came of reading stored files again."""

    checked: int
    intact: int
    bytes: int
    failed: tuple[DamagedArtifact, ...]
    pages_checked: int = 0  # of those that lie in WARC files
    pages_failed: tuple[DamagedPage, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether nothing is damaged."""
        return not (self.failed or self.pages_failed)


@frozen(kw_only=True)
class Picture:
    """Where the bytes of a screenshot lie, and what they are."""

    storage_uri: str
    checksum: str
    content_type: str


def picture(db: Session, now: datetime, session: str, artifact_id: UUID) -> Picture:
    """A screenshot of that session that is there to be read."""
    found = db.scalar(
        select(Artifact).where(
            Artifact.id == artifact_id, Artifact.session_id == lookup.find(db, CrawlSession, session).id,
            Artifact.type == SCREENSHOT.name, is_readable(now),
        )
    )  # fmt: skip
    if found is None:
        raise NotFoundError("There is no such picture")
    return document_of(Picture, found, content_type=SCREENSHOT.content_type)


def readable(db: Session, now: datetime, given: str) -> Artifact:
    """The artifact whose id begins so; of one that is gone the day on which it went."""
    row = lookup.find(db, Artifact, given)
    require_readable(db, row, now)
    return row


def count(db: Session, now: datetime) -> int:
    """How many there are to be read."""
    return lookup.count(db, Artifact, is_readable(now))


def verification(found: Iterable[Examined]) -> Verification:
    """The figures of files that were read again."""
    checked, size = 0, 0
    failed = []
    for each in found:
        row = each.artifact
        checked += 1
        size += row.size_bytes
        if each.finding is not Finding.INTACT:
            failed.append(document_of(DamagedArtifact, row, finding=each.finding))
    return Verification(checked, checked - len(failed), size, tuple(failed))


def with_pages(done: Verification, found: Iterable[ExaminedPage]) -> Verification:
    """The same, and the figures of pages in WARC files that were read again."""
    checked, failed = 0, []
    for each in found:
        checked += 1
        if each.finding is not Finding.INTACT:
            where = {"warc": f"{each.file.folder}/{each.file.path}", "offset": each.record.offset}
            failed.append(document_of(DamagedPage, each.page, finding=each.finding, **where))
    return evolve(done, pages_checked=checked, pages_failed=tuple(failed))
