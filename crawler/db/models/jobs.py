"""Archive jobs: sources as jobs refer to them, the orders to archive one, and their steps."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey
from crawler.db.models.leased import IS_IN_PROGRESS, IS_PENDING, LEASED_STATUSES, Leased


class RegisteredSource(Base):
    """A source under its code; what is crawled of it, and how, stands in its file (SPEC 12)."""

    __tablename__ = "sources"
    __table_args__ = (UniqueConstraint("code"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    code: Mapped[str]  # in lower case
    name: Mapped[str]  # as people call it
    base_url: Mapped[str | None]  # where it begins
    description: Mapped[str | None]  # in a sentence
    enabled: Mapped[bool] = mapped_column(default=True)  # whether jobs are made of it
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class Job(Base):
    """An order to archive a source, from its first attempt to its cleanup (SPEC 13-21)."""

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint(
            "status IN ('queued', 'running', 'retryable', 'failed', 'completed', 'indexing', 'indexed', "
            "'index_failed')",
            name="status",
        ),
        CheckConstraint("engine IN ('vitrine', 'zimit')", name="engine"),
        CheckConstraint(
            "cleanup_status IN ('none', 'temp_cleaned', 'temp_nonwarc_cleaned')", name="cleanup_status"
        ),
        UniqueConstraint("output_dir"),
        Index(None, "source_id", "id"),
        Index(None, "status", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    source_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("sources.id", ondelete="SET NULL"))
    name: Mapped[str]  # as people call it
    output_dir: Mapped[str]  # in full
    engine: Mapped[str] = mapped_column(default="vitrine")  # what archives: vitrine or zimit
    status: Mapped[str] = mapped_column(default="queued")  # of its states; docs/jobs.md says what each means
    config: Mapped[dict[str, Any] | None]  # seeds, arguments, options, and the source as it was
    # of our own engine, which the next attempt goes on with
    run_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("runs.id", ondelete="SET NULL"), index=True)
    retry_count: Mapped[int] = mapped_column(default=0)  # crawls that failed and were to be tried again
    infra_errors: Mapped[int] = mapped_column(
        default=0
    )  # in a row, of disk, mount, Docker; no retry is counted
    crawler_exit_code: Mapped[int | None]  # of the engine, in the codes of the archive tool
    crawler_status: Mapped[str | None]  # success, failed, infra_error, infra_error_config
    crawler_stage: Mapped[str | None]  # how far the engine had come
    last_stats_json: Mapped[dict[str, Any] | None]  # the figures that it told last
    pages_crawled: Mapped[int] = mapped_column(default=0)  # pages that were fetched
    pages_total: Mapped[int] = mapped_column(default=0)  # pages that were known
    pages_failed: Mapped[int] = mapped_column(default=0)  # pages that were not to be had
    warc_file_count: Mapped[int] = mapped_column(default=0)  # its WARC files
    indexed_page_count: Mapped[int] = mapped_column(default=0)  # its captures that can be searched
    records_bad: Mapped[int] = mapped_column(default=0)  # records that cannot be read
    final_zim_path: Mapped[str | None]  # the ZIM file, where one was made
    combined_log_path: Mapped[str | None]  # the log of all attempts
    state_file_path: Mapped[str | None]  # of the archive tool; None once it was cleaned up
    cleanup_status: Mapped[str] = mapped_column(default="none")  # what a cleanup has taken of it
    cleaned_at: Mapped[datetime | None]  # when that was
    emptied_at: Mapped[datetime | None]  # when a purge took the last of its WARC files
    warc_bytes_total: Mapped[int] = mapped_column(BigInteger, default=0)  # size of its WARC files
    output_bytes_total: Mapped[int] = mapped_column(BigInteger, default=0)  # size of its folder
    # size of what is only needed meanwhile
    tmp_bytes_total: Mapped[int] = mapped_column(BigInteger, default=0)
    # the same without WARC files
    tmp_non_warc_bytes_total: Mapped[int] = mapped_column(BigInteger, default=0)
    storage_scanned_at: Mapped[datetime | None]  # when these sizes were looked up
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    queued_at: Mapped[datetime | None]  # when it was ordered
    started_at: Mapped[datetime | None]  # when it began
    finished_at: Mapped[datetime | None]  # when it ended


class JobStep(Leased, Base):
    """A part of a job that one worker has on loan; its status and its job's change together."""

    __tablename__ = "job_steps"
    __table_args__ = (
        CheckConstraint(LEASED_STATUSES, name="status"),
        CheckConstraint("kind IN ('crawl', 'index', 'changes')", name="kind"),
        UniqueConstraint("job_id", "kind"),
        Index(
            "ix_job_steps_pending", "next_run_at",
            postgresql_where=text(IS_PENDING), sqlite_where=text(IS_PENDING),
        ),
        Index(
            "ix_job_steps_in_progress", "lease_expires_at",
            postgresql_where=text(IS_IN_PROGRESS), sqlite_where=text(IS_IN_PROGRESS),
        ),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    job_id: Mapped[int] = mapped_column(BigKey, ForeignKey("jobs.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(default="crawl")  # crawl, index or changes
    outcome: Mapped[str | None]  # what came of its last attempt
    process: Mapped[str | None]  # by which its own machine can tell that its worker is gone
    detail: Mapped[dict[str, Any]]  # its attempts, the newest last
    created_at: Mapped[datetime]


class JobWorker(Base):
    """A worker of jobs that runs, also while it has nothing to do."""

    __tablename__ = "job_workers"

    process: Mapped[str] = mapped_column(
        primary_key=True
    )  # by which its own machine can tell that it is gone
    started_at: Mapped[datetime]  # when it first said so
    seen_at: Mapped[datetime]  # when it last said that it looks for jobs
    lasts_until: Mapped[datetime]  # it is taken for gone then, unless it says so again or is at a job
