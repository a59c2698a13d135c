"""What was kept: one row for each stored file."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from crawler.capture.artifact_types import HTML
from crawler.db.models.base import Base

# What a cleanup looks for, in the words of the partial indexes: a query that repeats them is served by one,
# however many rows are held, failing or gone.
_IS_EXPIRING = f"type = '{HTML.name}' AND deleted_at IS NULL AND NOT legal_hold"
IS_UNTRIED = f"{_IS_EXPIRING} AND cleanup_attempts = 0"
HAS_FAILED = f"{_IS_EXPIRING} AND cleanup_attempts > 0"
IS_CLAIMED = "cleanup_claim IS NOT NULL"


def _partial_index(name: str, *columns: str, where: str) -> Index:
    return Index(name, *columns, postgresql_where=text(where), sqlite_where=text(where))


class Artifact(Base):
    """A stored file with its digests, and the date on which it goes (SPEC B40-44, F143)."""

    __tablename__ = "artifacts"
    __table_args__ = (
        CheckConstraint(f"type = '{HTML.name}' OR retention_until IS NULL", name="only_html_expires"),
        _partial_index("ix_artifacts_untried", "retention_until", "id", where=IS_UNTRIED),
        _partial_index("ix_artifacts_failed", "cleanup_next", "id", where=HAS_FAILED),
        _partial_index("ix_artifacts_claimed", "cleanup_claim", where=IS_CLAIMED),
        Index(None, "storage_uri"),
        Index(None, "session_id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id"))
    page_id: Mapped[UUID | None] = mapped_column(ForeignKey("pages.id"), index=True)
    type: Mapped[str]
    storage_uri: Mapped[str]  # relative to the artifacts' root
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    checksum: Mapped[str]  # SHA-256 of the stored file
    content_sha256: Mapped[str]  # SHA-256 of what it decodes to
    content_type: Mapped[str | None]  # as the server declared it, so that the page is judged again alike
    charset: Mapped[str | None]
    created_at: Mapped[datetime]
    retention_until: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]
    legal_hold: Mapped[bool] = mapped_column(default=False)
    cleanup_claim: Mapped[str | None]  # the cleaner that is at it; readers see the file as gone
    cleanup_claimed_until: Mapped[datetime | None]
    cleanup_attempts: Mapped[int] = mapped_column(default=0)
    cleanup_next: Mapped[datetime | None]  # not before this time, after a failure
