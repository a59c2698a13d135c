"""Logs that outlive what they are about, and so have no foreign keys: endings, actions, exports."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey


class ScrapeRecord(Base):
    """Something that ended: a session, a run, a task of a run."""

    __tablename__ = "scrape_metadata"
    __table_args__ = (Index(None, "timestamp", "id"), Index(None, "subject_id"))

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    timestamp: Mapped[datetime]  # when it ended
    kind: Mapped[str]
    subject_id: Mapped[str]
    domain: Mapped[str]
    url: Mapped[str]
    status: Mapped[str]
    cause: Mapped[str | None]
    duration_ms: Mapped[int | None] = mapped_column(BigInteger)  # None for what never began
    details: Mapped[dict[str, Any]]


class AuditEntry(Base):
    """What somebody did to what is kept."""

    __tablename__ = "audit_log"
    __table_args__ = (Index(None, "timestamp", "id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    timestamp: Mapped[datetime]
    actor: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str]
    details: Mapped[dict[str, Any]]


class ExportRecord(Base):
    """What was given out, and in which form."""

    __tablename__ = "export_history"
    __table_args__ = (Index(None, "timestamp", "id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    timestamp: Mapped[datetime]
    actor: Mapped[str]
    what: Mapped[str]
    format: Mapped[str]
    destination: Mapped[str]
    row_count: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str]  # complete, or failed where it broke off
