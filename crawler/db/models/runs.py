"""Durable runs: what is to be fetched of a source, who works on it, and what is worth a person's look."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey
from crawler.db.models.leased import IS_ERROR, IS_IN_PROGRESS, IS_PENDING, IS_RESTING, LEASED_STATUSES, Leased

IS_UNRESOLVED = "resolved_at IS NULL"


class Run(Base):
    """One crawl of a source, from its first task to its last, however many processes work on it."""

    __tablename__ = "runs"
    __table_args__ = (
        CheckConstraint(
            "status IN ('initialized', 'running', 'stopped', 'completed', 'failed')", name="status"
        ),
        Index(None, "source", "id"),
        Index(None, "completed_at", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    source: Mapped[str]  # the source's code, or the domain where only a URL was given
    # initialized, running, stopped, completed, failed
    status: Mapped[str] = mapped_column(default="initialized")
    plan: Mapped[dict[str, Any]]  # the source as it was when the run was made: scope, limits, plugins
    max_pages: Mapped[int | None]  # no more pages than that are planned
    planned: Mapped[int] = mapped_column(default=0)  # its tasks, of any status
    stop_requested_at: Mapped[datetime | None]  # when somebody asked for its stop
    last_error: Mapped[str | None]  # what went wrong last
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]  # when it began
    completed_at: Mapped[datetime | None]  # set by each end, that of a stopped run too


class RunWorker(Base):
    """A process that works on a run; one that is silent after `alive_until` is gone."""

    __tablename__ = "run_workers"

    run_id: Mapped[int] = mapped_column(BigKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    # the process that has it: host, number, and when it began
    owner: Mapped[str] = mapped_column(primary_key=True)
    alive_until: Mapped[datetime]  # the process is gone when this is over
    process: Mapped[str | None]  # by which its own machine can tell that it is gone


class RunDomain(Base):
    """A domain that a run has, or had, tasks of."""

    __tablename__ = "run_domains"

    run_id: Mapped[int] = mapped_column(BigKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    domain: Mapped[str] = mapped_column(primary_key=True)


class RunDenial(Base):
    """A path rule that a run learnt while it went on, such as that a login guards a part of the site."""

    __tablename__ = "run_denials"

    run_id: Mapped[int] = mapped_column(BigKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    domain: Mapped[str] = mapped_column(primary_key=True)
    pattern: Mapped[str] = mapped_column(primary_key=True)  # a glob of URLs
    reason: Mapped[str]  # why, in a word
    created_at: Mapped[datetime]


class Task(Leased, Base):
    """One page that a run is to fetch."""

    __tablename__ = "tasks"
    __table_args__ = (
        CheckConstraint(LEASED_STATUSES, name="status"),
        UniqueConstraint("run_id", "url_sha256"),
        Index(
            "ix_tasks_pending", "run_id", "domain", text("priority DESC"), "id",
            postgresql_where=text(IS_PENDING), sqlite_where=text(IS_PENDING),
        ),
        Index(
            "ix_tasks_resting", "run_id", "next_run_at",
            postgresql_where=text(IS_RESTING), sqlite_where=text(IS_RESTING),
        ),
        Index(
            "ix_tasks_in_progress", "run_id", "lease_expires_at",
            postgresql_where=text(IS_IN_PROGRESS), sqlite_where=text(IS_IN_PROGRESS),
        ),
        Index(
            "ix_tasks_error", "run_id", "id",
            postgresql_where=text(IS_ERROR), sqlite_where=text(IS_ERROR),
        ),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    run_id: Mapped[int] = mapped_column(BigKey, ForeignKey("runs.id", ondelete="CASCADE"))
    domain: Mapped[str]
    url: Mapped[str]  # as it was found
    url_sha256: Mapped[str]  # of its canonical form, which a run has once
    kind: Mapped[str] = mapped_column(default="page")  # or media
    depth: Mapped[int] = mapped_column(default=0)  # links between it and a start URL
    outcome: Mapped[str | None]  # what came of it, beside its status: stored, redirected, …
    page_id: Mapped[UUID | None]  # the page that it became
    created_at: Mapped[datetime]


class CrawlException(Base):
    """Something in a run that is worth a person's look, however often it came."""

    __tablename__ = "exceptions"
    __table_args__ = (
        CheckConstraint("stage IN ('fetch', 'parse', 'plugin', 'disappeared')", name="stage"),
        UniqueConstraint("run_id", "key"),
        Index(None, "run_id", "id"),
        Index(
            "ix_exceptions_open", "id",
            postgresql_where=text(IS_UNRESOLVED), sqlite_where=text(IS_UNRESOLVED),
        ),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    run_id: Mapped[int] = mapped_column(BigKey, ForeignKey("runs.id", ondelete="CASCADE"))
    stage: Mapped[str]  # where in the crawl it happened
    url: Mapped[str]
    message: Mapped[str]  # in words
    key: Mapped[str]  # stands for stage, URL and message; what has the same is counted, not repeated
    times: Mapped[int] = mapped_column(default=1)  # how often
    context: Mapped[dict[str, Any]]  # of the last time
    created_at: Mapped[datetime]
    last_at: Mapped[datetime]  # when it happened last
    resolved_at: Mapped[datetime | None]  # when somebody had looked at it
    resolved_by: Mapped[str | None]  # who that was
    resolution: Mapped[str | None]  # what came of that
