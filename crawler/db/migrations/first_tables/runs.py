"""Durable runs, their tasks, and what is worth a look in them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from crawler.db.migrations.first_tables.columns import BIG_KEY, JSON, TIME, only_where


def create() -> None:
    """Create them."""
    _runs()
    _run_workers()
    _run_domains()
    _run_denials()
    _tasks()
    _exceptions()


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("plan", JSON, nullable=False),
        sa.Column("max_pages", sa.Integer(), nullable=True),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("stop_requested_at", TIME, nullable=True),
        sa.Column("last_error", sa.String(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("started_at", TIME, nullable=True),
        sa.Column("completed_at", TIME, nullable=True),
        sa.CheckConstraint(
            "status IN ('initialized', 'running', 'stopped', 'completed', 'failed')",
            name=op.f("ck_runs_status"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index(op.f("ix_runs_source_id"), "runs", ["source", "id"])
    op.create_index(op.f("ix_runs_completed_at_id"), "runs", ["completed_at", "id"])


def _run_workers() -> None:
    op.create_table(
        "run_workers",
        sa.Column("run_id", BIG_KEY, nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("alive_until", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_run_workers_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "owner", name=op.f("pk_run_workers")),
    )


def _run_domains() -> None:
    op.create_table(
        "run_domains",
        sa.Column("run_id", BIG_KEY, nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_run_domains_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "domain", name=op.f("pk_run_domains")),
    )


def _run_denials() -> None:
    op.create_table(
        "run_denials",
        sa.Column("run_id", BIG_KEY, nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("pattern", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_run_denials_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "domain", "pattern", name=op.f("pk_run_denials")),
    )


def _tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("run_id", BIG_KEY, nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("url_sha256", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("page_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_run_at", TIME, nullable=False),
        sa.Column("lease_owner", sa.String(), nullable=True),
        sa.Column("lease_epoch", sa.Integer(), nullable=False),
        sa.Column("lease_expires_at", TIME, nullable=True),
        sa.Column("lease_deadline_at", TIME, nullable=True),
        sa.Column("last_error", sa.String(), nullable=True),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("finished_at", TIME, nullable=True),
        sa.CheckConstraint(
            "status IN ('pending', 'in_progress', 'finished', 'error')", name=op.f("ck_tasks_status")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_tasks_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint("run_id", "url_sha256", name=op.f("uq_tasks_run_id_url_sha256")),
    )
    op.create_index(
        "ix_tasks_resting",
        "tasks",
        ["run_id", "next_run_at"],
        **only_where("status = 'pending' AND attempts > 0"),
    )
    op.create_index("ix_tasks_error", "tasks", ["run_id", "id"], **only_where("status = 'error'"))
    op.create_index(
        "ix_tasks_in_progress",
        "tasks",
        ["run_id", "lease_expires_at"],
        **only_where("status = 'in_progress'"),
    )
    op.create_index(
        "ix_tasks_pending",
        "tasks",
        ["run_id", "domain", sa.text("priority DESC"), "id"],
        **only_where("status = 'pending'"),
    )


def _exceptions() -> None:
    op.create_table(
        "exceptions",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("run_id", BIG_KEY, nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("context", JSON, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("last_at", TIME, nullable=False),
        sa.Column("resolved_at", TIME, nullable=True),
        sa.Column("resolved_by", sa.String(), nullable=True),
        sa.Column("resolution", sa.String(), nullable=True),
        sa.CheckConstraint(
            "stage IN ('fetch', 'parse', 'plugin', 'disappeared')", name=op.f("ck_exceptions_stage")
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_exceptions_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exceptions")),
        sa.UniqueConstraint("run_id", "key", name=op.f("uq_exceptions_run_id_key")),
    )
    op.create_index("ix_exceptions_open", "exceptions", ["id"], **only_where("resolved_at IS NULL"))
    op.create_index(op.f("ix_exceptions_run_id_id"), "exceptions", ["run_id", "id"])
