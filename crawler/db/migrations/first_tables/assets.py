"""What plugins made of pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from crawler.db.migrations.first_tables.columns import BIG_KEY, JSON, TIME


def create() -> None:
    """Create them."""
    _assets()
    _asset_versions()
    _asset_sightings()


def _assets() -> None:
    op.create_table(
        "assets",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("plugin", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("key_sha256", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("checksum", sa.String(), nullable=False),
        sa.Column("versions", sa.Integer(), nullable=False),
        sa.Column("first_seen_at", TIME, nullable=False),
        sa.Column("last_seen_at", TIME, nullable=False),
        sa.Column("last_run_id", BIG_KEY, nullable=False),
        sa.Column("missing_since", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assets")),
        sa.UniqueConstraint(
            "source", "plugin", "key_sha256", name=op.f("uq_assets_source_plugin_key_sha256")
        ),
    )
    op.create_index(op.f("ix_assets_source_last_run_id"), "assets", ["source", "last_run_id"])


def _asset_versions() -> None:
    op.create_table(
        "asset_versions",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("asset_id", BIG_KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("checksum", sa.String(), nullable=False),
        sa.Column("content", JSON, nullable=False),
        sa.Column("details", JSON, nullable=False),
        sa.Column("run_id", BIG_KEY, nullable=False),
        sa.Column("page_id", sa.Uuid(), nullable=True),
        sa.Column("seen_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["asset_id"], ["assets.id"], name=op.f("fk_asset_versions_asset_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_asset_versions")),
        sa.UniqueConstraint("asset_id", "number", name=op.f("uq_asset_versions_asset_id_number")),
    )


def _asset_sightings() -> None:
    op.create_table(
        "asset_sightings",
        sa.Column("run_id", BIG_KEY, nullable=False),
        sa.Column("asset_id", BIG_KEY, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.CheckConstraint(
            "status IN ('new', 'updated', 'unchanged', 'missing')", name=op.f("ck_asset_sightings_status")
        ),
        sa.ForeignKeyConstraint(
            ["asset_id"], ["assets.id"], name=op.f("fk_asset_sightings_asset_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_asset_sightings_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "asset_id", name=op.f("pk_asset_sightings")),
    )
