"""Domains, sessions, their pages, logs and artifacts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from crawler.db.migrations.first_tables.columns import BIG_KEY, JSON, TIME, only_where


def create() -> None:
    """Create them."""
    _batches()
    _domain_gates()
    _sessions()
    _crawl_logs()
    _pages()
    _artifacts()
    _diagnostics()


def _batches() -> None:
    op.create_table(
        "batches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("finished_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
    )
    op.create_index(op.f("ix_batches_source_id"), "batches", ["source", "id"])


def _domain_gates() -> None:
    op.create_table(
        "domain_gates",
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("token", sa.String(), nullable=True),
        sa.Column("holder", sa.String(), nullable=True),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("last_end_at", TIME, nullable=True),
        sa.Column("delay_until", TIME, nullable=True),
        sa.Column("delay_reason", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("domain", name=op.f("pk_domain_gates")),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("run_id", BIG_KEY, nullable=True),
        sa.Column("batch_id", sa.Integer(), nullable=True),
        sa.Column("entry_id", sa.String(), nullable=True),
        sa.Column("deaths", sa.Integer(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("retention_policy", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("error_summary", sa.String(), nullable=True),
        sa.Column("cause", sa.String(), nullable=True),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("heartbeat_at", TIME, nullable=True),
        sa.Column("alive_until", TIME, nullable=True),
        sa.Column("crawl_policy_version", sa.String(), nullable=False),
        sa.Column("config_snapshot", JSON, nullable=False),
        sa.Column("wanted_pdp_url", sa.String(), nullable=True),
        sa.Column("final_url", sa.String(), nullable=True),
        sa.Column("pdp_url", sa.String(), nullable=True),
        sa.Column("low_confidence", sa.Boolean(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("started_at", TIME, nullable=True),
        sa.Column("finished_at", TIME, nullable=True),
        sa.CheckConstraint("kind IN ('page', 'run')", name=op.f("ck_sessions_kind")),
        sa.CheckConstraint("mode IN ('standard', 'debug', 'evidence_pack')", name=op.f("ck_sessions_mode")),
        sa.CheckConstraint(
            "retention_policy IN ('short', 'standard', 'long')", name=op.f("ck_sessions_retention_policy")
        ),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'completed', 'failed', 'partial')",
            name=op.f("ck_sessions_status"),
        ),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name=op.f("fk_sessions_batch_id")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_sessions_run_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("entry_id", name=op.f("uq_sessions_entry_id")),
    )
    op.create_index(op.f("ix_sessions_batch_id"), "sessions", ["batch_id"])
    op.create_index(op.f("ix_sessions_created_at"), "sessions", ["created_at"])
    op.create_index(op.f("ix_sessions_domain_created_at"), "sessions", ["domain", "created_at"])
    op.create_index(op.f("ix_sessions_finished_at_id"), "sessions", ["finished_at", "id"])
    op.create_index(op.f("ix_sessions_run_id"), "sessions", ["run_id"])
    op.create_index(
        "ix_sessions_fleet",
        "sessions",
        ["status", "domain", "created_at"],
        **only_where("entry_id IS NOT NULL AND finished_at IS NULL"),
    )
    op.create_index(
        "ix_sessions_open", "sessions", ["alive_until"], **only_where("status IN ('queued', 'running')")
    )


def _crawl_logs() -> None:
    op.create_table(
        "crawl_logs",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("timestamp", TIME, nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("event_type", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("details", JSON, nullable=False),
        sa.CheckConstraint("level IN ('info', 'warn', 'error')", name=op.f("ck_crawl_logs_level")),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_crawl_logs_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crawl_logs")),
    )
    op.create_index(
        op.f("ix_crawl_logs_session_id_timestamp_id"), "crawl_logs", ["session_id", "timestamp", "id"]
    )
    op.create_index(op.f("ix_crawl_logs_timestamp_id"), "crawl_logs", ["timestamp", "id"])


def _pages() -> None:
    op.create_table(
        "pages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("page_type", sa.String(), nullable=False),
        sa.Column("viewport", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("low_confidence_reasons", JSON, nullable=False),
        sa.Column("load_timings", JSON, nullable=False),
        sa.Column("verdict", JSON, nullable=True),
        sa.Column("facts", JSON, nullable=True),
        sa.Column("listing_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.CheckConstraint("status IN ('ok', 'failed', 'pending')", name=op.f("ck_pages_status")),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_pages_listing_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_pages_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
    )
    op.create_index(op.f("ix_pages_listing_id"), "pages", ["listing_id"])
    op.create_index(op.f("ix_pages_session_id_epoch"), "pages", ["session_id", "epoch"])


def _artifacts() -> None:
    op.create_table(
        "artifacts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("page_id", sa.Uuid(), nullable=True),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("storage_uri", sa.String(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("checksum", sa.String(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("content_type", sa.String(), nullable=True),
        sa.Column("charset", sa.String(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("retention_until", TIME, nullable=True),
        sa.Column("deleted_at", TIME, nullable=True),
        sa.Column("legal_hold", sa.Boolean(), nullable=False),
        sa.Column("cleanup_claim", sa.String(), nullable=True),
        sa.Column("cleanup_claimed_until", TIME, nullable=True),
        sa.Column("cleanup_attempts", sa.Integer(), nullable=False),
        sa.Column("cleanup_next", TIME, nullable=True),
        sa.CheckConstraint(
            "type = 'html_gz' OR retention_until IS NULL", name=op.f("ck_artifacts_only_html_expires")
        ),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_artifacts_page_id")),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name=op.f("fk_artifacts_session_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artifacts")),
    )
    op.create_index(
        "ix_artifacts_claimed", "artifacts", ["cleanup_claim"], **only_where("cleanup_claim IS NOT NULL")
    )
    op.create_index(
        "ix_artifacts_failed",
        "artifacts",
        ["cleanup_next", "id"],
        **only_where("type = 'html_gz' AND deleted_at IS NULL AND NOT legal_hold AND cleanup_attempts > 0"),
    )
    op.create_index(op.f("ix_artifacts_page_id"), "artifacts", ["page_id"])
    op.create_index(op.f("ix_artifacts_session_id"), "artifacts", ["session_id"])
    op.create_index(op.f("ix_artifacts_storage_uri"), "artifacts", ["storage_uri"])
    op.create_index(
        "ix_artifacts_untried",
        "artifacts",
        ["retention_until", "id"],
        **only_where("type = 'html_gz' AND deleted_at IS NULL AND NOT legal_hold AND cleanup_attempts = 0"),
    )


def _diagnostics() -> None:
    op.create_table(
        "diagnostics",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("timestamp", TIME, nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("page_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("is_pdp", sa.Boolean(), nullable=False),
        sa.Column("quality", sa.Integer(), nullable=False),
        sa.Column("traces", JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_diagnostics_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_diagnostics")),
    )
    op.create_index(op.f("ix_diagnostics_session_id"), "diagnostics", ["session_id"])
    op.create_index(op.f("ix_diagnostics_timestamp_id"), "diagnostics", ["timestamp", "id"])
