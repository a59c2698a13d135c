"""What the retention knows of itself: its configuration, its results, and the holds against it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey, JsonValue

CURRENT = "current"
IS_STANDING = "released_at IS NULL"


class RetentionConfig(Base):
    """The one document that says how long each collection is kept; without it the defaults hold."""

    __tablename__ = "retention_config"

    id: Mapped[str] = mapped_column(primary_key=True, default=CURRENT)
    document: Mapped[dict[str, Any]]  # days by collection, as JSON
    updated_at: Mapped[datetime | None]
    triggered_at: Mapped[datetime | None]  # when a request last started a cleanup
    looked_at: Mapped[datetime | None]  # when a cleanup last looked through all of the store


class RetentionResult(Base):
    """What came of one pass over the collections."""

    __tablename__ = "retention_results"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    timestamp: Mapped[datetime]
    dry_run: Mapped[bool]  # whether nothing was to be deleted
    total_deleted: Mapped[int]  # rows that went
    duration_ms: Mapped[int] = mapped_column(BigInteger)  # how long it took
    details: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue)  # further fields, as JSON


class StoreMark(Base):
    """Where this database's files lie: its store, by the mark in the store's root, and its home."""

    __tablename__ = "store_marks"

    place: Mapped[str] = mapped_column(primary_key=True)  # artifacts, artifacts_planned, home
    mark: Mapped[UUID]  # what stands in the store's own mark
    root: Mapped[str]  # where it was when it was marked, or the home when it was last used
    created_at: Mapped[datetime]


class Hold(Base):
    """Somebody's word that evidence stays, whatever its date: of a session, of a listing, or of a domain."""

    __tablename__ = "holds"
    __table_args__ = (
        CheckConstraint(
            "CAST(session_id IS NOT NULL AS INTEGER) + CAST(listing_id IS NOT NULL AS INTEGER)"
            " + CAST(domain IS NOT NULL AS INTEGER) = 1",
            name="one_target",
        ),
        Index(
            "ix_holds_standing",
            "created_at",
            postgresql_where=text(IS_STANDING),
            sqlite_where=text(IS_STANDING),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    session_id: Mapped[UUID | None]  # no foreign keys: what was once held stays on record
    listing_id: Mapped[UUID | None]  # a product's key, without a reference
    domain: Mapped[str | None]
    who: Mapped[str]  # whose word it is
    why: Mapped[str]  # the reason that was given
    created_at: Mapped[datetime]
    until: Mapped[datetime | None]  # None: until it is lifted
    released_at: Mapped[datetime | None]  # when it was lifted
    released_by: Mapped[str | None]  # who lifted it; `its date` where it ran out
