"""Products, prices, and what was captured together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from crawler.db.migrations.first_tables.columns import BIG_KEY, MONEY, TIME


def create() -> None:
    """Create them."""
    _listings()
    _price_history()
    _hauls()
    _haul_members()


def _listings() -> None:
    op.create_table(
        "listings",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("url_sha256", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=True),
        sa.Column("brand", sa.String(), nullable=True),
        sa.Column("sku", sa.String(), nullable=True),
        sa.Column("gtin", sa.String(), nullable=True),
        sa.Column("image", sa.String(), nullable=True),
        sa.Column("first_seen_at", TIME, nullable=False),
        sa.Column("last_seen_at", TIME, nullable=False),
        sa.Column("last_session_id", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_listings")),
        sa.UniqueConstraint("domain", "url_sha256", name=op.f("uq_listings_domain_url_sha256")),
    )
    op.create_index(op.f("ix_listings_last_seen_at_id"), "listings", ["last_seen_at", "id"])


def _price_history() -> None:
    op.create_table(
        "price_history",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("listing_id", sa.Uuid(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("price", MONEY, nullable=False),
        sa.Column("list_price", MONEY, nullable=True),
        sa.Column("availability", sa.String(), nullable=True),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=True),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("price >= 0", name=op.f("ck_price_history_price")),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_price_history_listing_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_price_history")),
    )
    op.create_index(
        op.f("ix_price_history_listing_id_currency_seen_at_id"),
        "price_history",
        ["listing_id", "currency", "seen_at", "id"],
    )
    op.create_index(op.f("ix_price_history_seen_at_id"), "price_history", ["seen_at", "id"])
    op.create_index(op.f("ix_price_history_session_id"), "price_history", ["session_id"])


def _hauls() -> None:
    op.create_table(
        "hauls",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hauls")),
        sa.UniqueConstraint("name", name=op.f("uq_hauls_name")),
    )
    op.create_index(op.f("ix_hauls_created_at_id"), "hauls", ["created_at", "id"])


def _haul_members() -> None:
    op.create_table(
        "haul_members",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("haul_id", BIG_KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["haul_id"], ["hauls.id"], name=op.f("fk_haul_members_haul_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_haul_members")),
    )
    op.create_index(op.f("ix_haul_members_haul_id_position"), "haul_members", ["haul_id", "position"])
