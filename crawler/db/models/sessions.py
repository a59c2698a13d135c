"""Visits: the session, its pages, its log, and the batch of a URL file."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey, one_of

# What a session may be asked for; a new value takes a migration of its CHECK.
MODES = ("standard", "debug", "evidence_pack")
RENDERS = ("0", "1", "auto")
RETENTIONS = ("short", "standard", "long")
IS_OPEN = "status IN ('queued', 'running')"
IS_FLEETS_AND_OPEN = "entry_id IS NOT NULL AND finished_at IS NULL"


class Batch(Base):
    """A URL file that is being worked through; run again, it goes on where it stopped."""

    __tablename__ = "batches"
    __table_args__ = (Index(None, "source", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    source: Mapped[str]  # the file's absolute path
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]  # set when none of its sessions is left to do


class CrawlSession(Base):
    """One visit to a domain (SPEC F135)."""

    __tablename__ = "sessions"
    __table_args__ = (
        CheckConstraint("status IN ('queued', 'running', 'completed', 'failed', 'partial')", name="status"),
        CheckConstraint("kind IN ('page', 'run')", name="kind"),
        CheckConstraint(one_of("mode", MODES), name="mode"),
        CheckConstraint(one_of("render", RENDERS), name="render"),
        CheckConstraint(one_of("retention_policy", RETENTIONS), name="retention_policy"),
        Index("ix_sessions_open", "alive_until", postgresql_where=text(IS_OPEN), sqlite_where=text(IS_OPEN)),
        Index(
            "ix_sessions_fleet", "status", "domain", "created_at",
            postgresql_where=text(IS_FLEETS_AND_OPEN), sqlite_where=text(IS_FLEETS_AND_OPEN),
        ),
        Index(None, "domain", "created_at"),
        Index(None, "created_at"),
        Index(None, "finished_at", "id"),
    )  # fmt: skip

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    kind: Mapped[str] = mapped_column(default="page")  # or run: a visit that a durable run pays to a domain
    run_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("runs.id", ondelete="SET NULL"), index=True)
    batch_id: Mapped[int | None] = mapped_column(ForeignKey("batches.id"), index=True)
    entry_id: Mapped[str | None] = mapped_column(unique=True)  # of the entry that fed a fleet with it
    deaths: Mapped[int] = mapped_column(default=0)  # workers of a fleet that died while they ran it
    url: Mapped[str]  # as it was asked for, without its password
    domain: Mapped[str]  # the lock's domain; empty where the URL names none
    mode: Mapped[str]  # standard, debug or evidence_pack
    retention_policy: Mapped[str]  # short, standard or long
    render: Mapped[str] = mapped_column(
        default="0"
    )  # 1: in a browser; auto: where the plain page says nothing
    warc: Mapped[bool] = mapped_column(default=False)  # what is sent and received is kept in a WARC file
    status: Mapped[str]  # queued, running, completed, failed, partial
    error_summary: Mapped[str | None]  # one of the listed sentences (SPEC F141)
    cause: Mapped[str | None]  # a stable code that says more
    owner: Mapped[str | None]  # the process that works on it
    epoch: Mapped[int] = mapped_column(default=0)  # rises at each start; a write of an older epoch is refused
    heartbeat_at: Mapped[datetime | None]  # the last sign of life
    alive_until: Mapped[datetime | None]  # its owner is taken for dead after that; the owner says how long
    crawl_policy_version: Mapped[str]  # the version of the rule
    config_snapshot: Mapped[dict[str, Any]]  # the settings that it runs under, frozen at its creation
    wanted_pdp_url: Mapped[str | None]  # a product page that was named instead of looked for
    final_url: Mapped[str | None]  # where its start page was found
    pdp_url: Mapped[str | None]  # its product page
    # whether one of its pages is not to be trusted much
    low_confidence: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]  # when it began
    finished_at: Mapped[datetime | None]  # when it ended


class Page(Base):
    """What came of one page of a session."""

    __tablename__ = "pages"
    __table_args__ = (
        CheckConstraint("status IN ('ok', 'failed', 'pending')", name="status"),
        Index(None, "session_id", "epoch"),
        Index(None, "created_at", "id"),
        Index(None, "listing_id"),
        Index(None, "record_id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    epoch: Mapped[int]  # the attempt, counted from 1
    page_type: Mapped[str]  # homepage, pdp, page, media
    viewport: Mapped[str]  # desktop or mobile
    status: Mapped[str]  # ok, failed, pending
    url: Mapped[str]
    http_status: Mapped[int | None]  # as the server answered
    low_confidence_reasons: Mapped[list[str]]  # why it is not to be trusted much
    load_timings: Mapped[dict[str, Any]]  # how long it took
    verdict: Mapped[dict[str, Any] | None]  # what the rule decided, and on which evidence
    facts: Mapped[dict[str, Any] | None]  # what the page says of its product
    listing_id: Mapped[UUID | None] = mapped_column(ForeignKey("listings.id", ondelete="SET NULL"))
    # An artifact names its page, its record the artifact, and the page its record: one of them comes last.
    record_id: Mapped[int | None] = mapped_column(
        BigKey, ForeignKey("records.id", ondelete="SET NULL", use_alter=True)
    )
    content_sha256: Mapped[str | None]  # of its content, wherever that lies
    created_at: Mapped[datetime]


class CrawlLog(Base):
    """One line of a session's log (SPEC F145)."""

    __tablename__ = "crawl_logs"
    __table_args__ = (
        CheckConstraint("level IN ('info', 'warn', 'error')", name="level"),
        Index(None, "session_id", "timestamp", "id"),
        Index(None, "timestamp", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    timestamp: Mapped[datetime]
    level: Mapped[str]  # as of a log: info, warn, error
    event_type: Mapped[str]  # the kind of event
    message: Mapped[str]  # in words
    details: Mapped[dict[str, Any]]  # further fields, as JSON
