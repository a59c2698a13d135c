"""Sources are registered, archived by jobs, and jobs have steps that workers lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa
from alembic import op

from crawler.db.migrations.first_tables.columns import BIG_KEY, JSON, TIME

if TYPE_CHECKING:
    from sqlalchemy.schema import SchemaItem

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

STATUSES = (
    "status IN ('queued', 'running', 'retryable', 'failed', 'completed', 'indexing', 'indexed', "
    "'index_failed')"
)
COUNTS = (
    "pages_crawled",
    "pages_total",
    "pages_failed",
    "warc_file_count",
    "indexed_page_count",
    "records_bad",
)
PATHS = ("final_zim_path", "combined_log_path", "state_file_path")
SIZES = ("warc_bytes_total", "output_bytes_total", "tmp_bytes_total", "tmp_non_warc_bytes_total")
JOB_TIMES = ("queued_at", "started_at", "finished_at", "cleaned_at", "storage_scanned_at")


def upgrade() -> None:
    """Create the three tables with their indexes."""
    _create_sources()
    _create_jobs()
    _create_steps()


def _create_sources() -> None:
    op.create_table(
        "sources",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("base_url", sa.String()),
        sa.Column("description", sa.String()),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        *_stamps(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
        sa.UniqueConstraint("code", name=op.f("uq_sources_code")),
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("source_id", BIG_KEY),
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("name", "output_dir", "engine", "status")
        ),
        *(sa.Column(name, JSON) for name in ("config", "last_stats_json")),
        sa.Column("run_id", BIG_KEY),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("retry_count", "infra_errors", *COUNTS)),
        sa.Column("crawler_exit_code", sa.Integer()),
        *(sa.Column(name, sa.String()) for name in ("crawler_status", "crawler_stage", *PATHS)),
        sa.Column("cleanup_status", sa.String(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in SIZES),
        *(sa.Column(name, TIME) for name in JOB_TIMES),
        *_stamps(),
        sa.CheckConstraint(STATUSES, name=op.f("ck_jobs_status")),
        sa.CheckConstraint("engine IN ('vitrine', 'zimit')", name=op.f("ck_jobs_engine")),
        sa.CheckConstraint("cleanup_status IN ('none', 'temp_cleaned')", name=op.f("ck_jobs_cleanup_status")),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name=op.f("fk_jobs_source_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_jobs_run_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("output_dir", name=op.f("uq_jobs_output_dir")),
    )
    op.create_index(op.f("ix_jobs_source_id_id"), "jobs", ["source_id", "id"])
    op.create_index(op.f("ix_jobs_status_id"), "jobs", ["status", "id"])
    op.create_index(op.f("ix_jobs_run_id"), "jobs", ["run_id"])


def _create_steps() -> None:
    op.create_table(
        "job_steps",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("job_id", BIG_KEY, nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("kind", "status")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("priority", "attempts", "lease_epoch")),
        *(
            sa.Column(name, sa.String())
            for name in ("outcome", "process", "lease_owner", "last_error", "cause")
        ),
        *(sa.Column(name, TIME) for name in ("lease_expires_at", "lease_deadline_at", "finished_at")),
        sa.Column("next_run_at", TIME, nullable=False),
        sa.Column("detail", JSON, nullable=False),
        *_stamps(),
        sa.CheckConstraint(
            "status IN ('pending', 'in_progress', 'finished', 'error')", name=op.f("ck_job_steps_status")
        ),
        sa.CheckConstraint("kind IN ('crawl', 'index', 'changes')", name=op.f("ck_job_steps_kind")),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_job_steps_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_steps")),
        sa.UniqueConstraint("job_id", "kind", name=op.f("uq_job_steps_job_id_kind")),
    )
    for name, column, status in (
        ("ix_job_steps_pending", "next_run_at", "pending"),
        ("ix_job_steps_in_progress", "lease_expires_at", "in_progress"),
    ):
        where = sa.text(f"status = '{status}'")
        op.create_index(name, "job_steps", [column], postgresql_where=where, sqlite_where=where)


def _stamps() -> list[SchemaItem]:
    return [sa.Column(name, TIME, nullable=False) for name in ("created_at", "updated_at")]
