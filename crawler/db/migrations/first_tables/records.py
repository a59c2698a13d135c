"""What happened, and how long all of it is kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from crawler.db.migrations.first_tables.columns import BIG_KEY, JSON, TIME, only_where


def create() -> None:
    """Create them."""
    _scrape_metadata()
    _scraper_health()
    _audit_log()
    _export_history()
    _retention_config()
    _retention_results()
    _holds()


def _scrape_metadata() -> None:
    op.create_table(
        "scrape_metadata",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("timestamp", TIME, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject_id", sa.String(), nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), nullable=True),
        sa.Column("details", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scrape_metadata")),
    )
    op.create_index(op.f("ix_scrape_metadata_subject_id"), "scrape_metadata", ["subject_id"])
    op.create_index(op.f("ix_scrape_metadata_timestamp_id"), "scrape_metadata", ["timestamp", "id"])


def _scraper_health() -> None:
    op.create_table(
        "scraper_health",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("timestamp", TIME, nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("sessions", sa.Integer(), nullable=False),
        sa.Column("successes", sa.Integer(), nullable=False),
        sa.Column("blocks", sa.Integer(), nullable=False),
        sa.Column("reached", sa.Integer(), nullable=False),
        sa.Column("products", sa.Integer(), nullable=False),
        sa.Column("verdict_rate", sa.Double(), nullable=True),
        sa.Column("median_latency_ms", sa.Integer(), nullable=True),
        sa.Column("latencies", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scraper_health")),
        sa.UniqueConstraint("domain", "timestamp", name=op.f("uq_scraper_health_domain_timestamp")),
    )
    op.create_index(op.f("ix_scraper_health_timestamp_id"), "scraper_health", ["timestamp", "id"])


def _audit_log() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("timestamp", TIME, nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("details", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_timestamp_id"), "audit_log", ["timestamp", "id"])


def _export_history() -> None:
    op.create_table(
        "export_history",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("timestamp", TIME, nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("destination", sa.String(), nullable=False),
        sa.Column("row_count", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_export_history")),
    )
    op.create_index(op.f("ix_export_history_timestamp_id"), "export_history", ["timestamp", "id"])


def _retention_config() -> None:
    op.create_table(
        "retention_config",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("document", JSON, nullable=False),
        sa.Column("updated_at", TIME, nullable=True),
        sa.Column("triggered_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retention_config")),
    )


def _retention_results() -> None:
    op.create_table(
        "retention_results",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("timestamp", TIME, nullable=False),
        sa.Column("dry_run", sa.Boolean(), nullable=False),
        sa.Column("total_deleted", sa.Integer(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("details", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retention_results")),
    )


def _holds() -> None:
    op.create_table(
        "holds",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("listing_id", sa.Uuid(), nullable=True),
        sa.Column("domain", sa.String(), nullable=True),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("until", TIME, nullable=True),
        sa.Column("released_at", TIME, nullable=True),
        sa.Column("released_by", sa.String(), nullable=True),
        sa.CheckConstraint(
            "CAST(session_id IS NOT NULL AS INTEGER) + CAST(listing_id IS NOT NULL AS INTEGER)"
            " + CAST(domain IS NOT NULL AS INTEGER) = 1",
            name=op.f("ck_holds_one_target"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_holds")),
    )
    op.create_index("ix_holds_standing", "holds", ["created_at"], **only_where("released_at IS NULL"))
