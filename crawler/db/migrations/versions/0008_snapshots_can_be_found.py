"""Pages that were captured can be found: snapshots, their texts, their groups, and an index of words."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_SQLITE_WORDS = (
    "CREATE VIRTUAL TABLE text_words USING fts5(title, body, tokenize='ascii')",
    """CREATE TRIGGER texts_lose_words AFTER DELETE ON texts
    BEGIN DELETE FROM text_words WHERE rowid = old.id; END""",
)
_POSTGRESQL_WORDS = (
    """CREATE TABLE text_words (
        text_id BIGINT NOT NULL,
        words TSVECTOR NOT NULL,
        CONSTRAINT pk_text_words PRIMARY KEY (text_id),
        CONSTRAINT fk_text_words_text_id FOREIGN KEY (text_id) REFERENCES texts (id) ON DELETE CASCADE
    )""",
    "CREATE INDEX ix_text_words_words ON text_words USING gin (words)",
)


def upgrade() -> None:
    """Make the tables; nothing that is there changes."""
    op.create_table(
        "texts",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("text_hash", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("is_cut", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_texts")),
        sa.UniqueConstraint("text_hash", name=op.f("uq_texts_text_hash")),
    )
    op.create_table(
        "page_groups",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("source_id", _KEY, nullable=False),
        sa.Column("group_key", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_page_groups_source_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_groups")),
        sa.UniqueConstraint("source_id", "group_key", name=op.f("uq_page_groups_source_id_group_key")),
    )
    op.create_index(op.f("ix_page_groups_group_key"), "page_groups", ["group_key"])
    _snapshots()
    for statement in _SQLITE_WORDS if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL_WORDS:
        op.execute(statement)


def _snapshots() -> None:
    op.create_table(
        "snapshots",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("record_id", _KEY, nullable=False),
        sa.Column("source_id", _KEY, nullable=False),
        sa.Column("page_id", sa.Uuid(), nullable=True),
        sa.Column("group_id", _KEY, nullable=True),
        sa.Column("text_id", _KEY, nullable=True),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("captured_at", _TIME, nullable=False),
        sa.Column("mime_type", sa.String(), nullable=True),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("status_class", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("snippet", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("deduplicated", sa.Boolean(), nullable=False),
        sa.Column("find_title", sa.String(), nullable=False),
        sa.Column("find_snippet", sa.String(), nullable=False),
        sa.Column("find_url", sa.String(), nullable=False),
        sa.CheckConstraint("status_class IN (-1, 0, 1, 2)", name=op.f("ck_snapshots_status_class")),
        *(
            sa.ForeignKeyConstraint(
                [column], [f"{table}.id"], name=op.f(f"fk_snapshots_{column}"), ondelete=how
            )
            for column, table, how in (
                ("record_id", "records", "CASCADE"),
                ("source_id", "sources", None),
                ("page_id", "pages", "CASCADE"),
                ("group_id", "page_groups", "SET NULL"),
                ("text_id", "texts", "SET NULL"),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
        sa.UniqueConstraint("record_id", name=op.f("uq_snapshots_record_id")),
    )
    for columns in (
        ["group_id", "captured_at"], ["source_id", "captured_at", "id"], ["captured_at", "id"], ["page_id"],
        ["text_id"],
    ):  # fmt: skip
        op.create_index(op.f(f"ix_snapshots_{'_'.join(columns)}"), "snapshots", columns)
