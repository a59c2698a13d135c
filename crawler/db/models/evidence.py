"""What was kept: a row for each stored file, each WARC file, and each answer that lies in one of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from crawler.capture.artifact_types import EXPIRING
from crawler.db.models.base import Base, BigKey, SortedByBytes, one_of

# What a cleanup looks for, in the words of the partial indexes: a query that repeats them is served by one,
# however many rows are held, failing or gone.
_IS_EXPIRING = "retention_until IS NOT NULL AND deleted_at IS NULL AND NOT legal_hold"
IS_UNTRIED = f"{_IS_EXPIRING} AND cleanup_attempts = 0"
HAS_FAILED = f"{_IS_EXPIRING} AND cleanup_attempts > 0"
IS_CLAIMED = "cleanup_claim IS NOT NULL"


def _partial_index(name: str, *columns: str, where: str) -> Index:
    return Index(name, *columns, postgresql_where=text(where), sqlite_where=text(where))


class Artifact(Base):
    """A stored file with its digests, and the date on which it goes (SPEC B40-44, F143)."""

    __tablename__ = "artifacts"
    __table_args__ = (
        CheckConstraint(f"{one_of('type', sorted(EXPIRING))} OR retention_until IS NULL", name="may_expire"),
        _partial_index("ix_artifacts_untried", "retention_until", "id", where=IS_UNTRIED),
        _partial_index("ix_artifacts_failed", "cleanup_next", "id", where=HAS_FAILED),
        _partial_index("ix_artifacts_claimed", "cleanup_claim", where=IS_CLAIMED),
        Index(None, "storage_uri"),
        Index(None, "session_id"),
        Index(None, "created_at", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id"))
    page_id: Mapped[UUID | None] = mapped_column(ForeignKey("pages.id"), index=True)
    type: Mapped[str]  # which kind of file it is
    storage_uri: Mapped[str]  # relative to the artifacts' root
    size_bytes: Mapped[int] = mapped_column(BigInteger)  # as stored, in bytes
    checksum: Mapped[str]  # SHA-256 of the stored file
    content_sha256: Mapped[str]  # SHA-256 of what it decodes to
    content_type: Mapped[str | None]  # as the server declared it, so that the page is judged again alike
    charset: Mapped[str | None]  # as the page declares it
    created_at: Mapped[datetime]
    retention_until: Mapped[datetime | None]  # the day on which the file goes; null: with its session
    deleted_at: Mapped[datetime | None]  # when the file went
    legal_hold: Mapped[bool] = mapped_column(default=False)  # whether a hold keeps it
    cleanup_claim: Mapped[str | None]  # the cleaner that is at it; readers see the file as gone
    cleanup_claimed_until: Mapped[datetime | None]  # until when a cleaner has it
    cleanup_attempts: Mapped[int] = mapped_column(default=0)  # cleanups that failed on it
    cleanup_next: Mapped[datetime | None]  # not before this time, after a failure


class WarcFile(Base):
    """A file of records: open while it is written, sealed for ever after, or known to be damaged, or gone."""

    __tablename__ = "warc_files"
    __table_args__ = (
        CheckConstraint("state IN ('open', 'sealed', 'damaged', 'gone')", name="state"),
        UniqueConstraint("folder", "path"),
        Index(None, "job_id"),
        Index(None, "session_id"),
        Index(None, "artifact_id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    job_id: Mapped[int | None] = mapped_column(BigKey)  # the archive job that it came of
    session_id: Mapped[UUID | None] = mapped_column(ForeignKey("sessions.id", ondelete="SET NULL"))
    artifact_id: Mapped[UUID | None] = mapped_column(ForeignKey("artifacts.id", ondelete="SET NULL"))
    folder: Mapped[str]  # absolute; or the artifacts' root, as it is set, for a session's artifact
    path: Mapped[str]  # below that folder, the name that it has once it is sealed
    state: Mapped[str] = mapped_column(default="open")  # open, sealed or gone
    size_bytes: Mapped[int] = mapped_column(BigInteger, default=0)  # as stored, in bytes
    sha256: Mapped[str | None]  # of the file, once it is sealed
    records: Mapped[int] = mapped_column(default=0)  # answers in it, as rows have them
    records_bad: Mapped[int] = mapped_column(default=0)  # records that cannot be read
    damage: Mapped[dict[str, Any] | None]  # bad stretches, and what was cut off or erased, and why
    first_at: Mapped[datetime | None]  # of its records
    last_at: Mapped[datetime | None]  # of its newest record
    created_at: Mapped[datetime]
    sealed_at: Mapped[datetime | None]  # when it was closed
    gone_at: Mapped[datetime | None]  # when it went
    gone_why: Mapped[str | None]  # why it went


class Record(Base):
    """One stored answer: which URL, when, and where its bytes are: in a WARC file, or in an artifact."""

    __tablename__ = "records"
    __table_args__ = (
        CheckConstraint("(warc_file_id IS NULL) <> (artifact_id IS NULL)", name="one_container"),
        CheckConstraint("kind IN ('response', 'revisit', 'resource')", name="kind"),
        UniqueConstraint("warc_file_id", "offset"),
        UniqueConstraint("artifact_id"),
        Index(None, "url_key", "captured_at"),
        Index(None, "original_id"),
        Index(None, "payload_digest"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    warc_file_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("warc_files.id", ondelete="CASCADE"))
    artifact_id: Mapped[UUID | None] = mapped_column(ForeignKey("artifacts.id", ondelete="CASCADE"))
    offset: Mapped[int | None] = mapped_column(BigInteger)  # of its gzip member in the WARC file
    length: Mapped[int | None] = mapped_column(BigInteger)  # of its member in the file, in bytes
    record_urn: Mapped[str | None]  # WARC-Record-ID
    kind: Mapped[str] = mapped_column(default="response")  # response, revisit or resource
    original_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("records.id", ondelete="SET NULL"))
    url: Mapped[str]
    url_key: Mapped[str] = mapped_column(SortedByBytes)  # as indexes of WARC files are sorted
    captured_at: Mapped[datetime | None]  # None: the record does not say
    date_precision: Mapped[str | None]  # year, month, day or minute, where the record says no more
    mime_type: Mapped[str | None]  # as the server declared it
    status_code: Mapped[int | None]  # as the server answered
    payload_digest: Mapped[str | None]  # with its algorithm, as the record has it
    gone_at: Mapped[datetime | None]  # erased, or gone with its file
