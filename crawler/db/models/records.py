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
    kind: Mapped[str]  # what ended: session, run, task or exception
    subject_id: Mapped[str]  # the key of what ended
    domain: Mapped[str]
    url: Mapped[str]
    status: Mapped[str]  # as the row of what ended had it
    cause: Mapped[str | None]  # why it ended so, in a stable word
    duration_ms: Mapped[int | None] = mapped_column(BigInteger)  # None for what never began
    details: Mapped[dict[str, Any]]  # further fields, as JSON


class AuditEntry(Base):
    """What somebody did to what is kept."""

    __tablename__ = "audit_log"
    __table_args__ = (Index(None, "timestamp", "id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    timestamp: Mapped[datetime]
    actor: Mapped[str]  # who did it: a user or a program
    action: Mapped[str]  # what was done, in a word
    subject: Mapped[str]  # what it was done to
    details: Mapped[dict[str, Any]]  # further fields, as JSON


class ExportRecord(Base):
    """What was given out, and in which form."""

    __tablename__ = "export_history"
    __table_args__ = (Index(None, "timestamp", "id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    timestamp: Mapped[datetime]
    actor: Mapped[str]  # who did it: a user or a program
    what: Mapped[str]  # the table
    format: Mapped[str]  # csv or jsonl
    destination: Mapped[str]  # the file, or - for standard output
    row_count: Mapped[int] = mapped_column(BigInteger)  # rows that were written
    status: Mapped[str]  # complete, or failed where it broke off
