"""Snapshots know their job, groups what is known of their captures and links; parts of words are indexed."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_LOSE = """INSERT INTO snapshot_grams (snapshot_grams, rowid, find_title, find_snippet, find_url)
    VALUES ('delete', old.id, old.find_title, old.find_snippet, old.find_url);"""
_GAIN = """INSERT INTO snapshot_grams (rowid, find_title, find_snippet, find_url)
    VALUES (new.id, new.find_title, new.find_snippet, new.find_url);"""
_SQLITE_GRAMS = (
    """CREATE VIRTUAL TABLE snapshot_grams USING fts5(find_title, find_snippet, find_url,
    content='snapshots', content_rowid='id', tokenize='trigram case_sensitive 1', detail='none',
    columnsize=0)""",
    "INSERT INTO snapshot_grams (snapshot_grams) VALUES ('rebuild')",
    f"CREATE TRIGGER snapshot_grams_gain AFTER INSERT ON snapshots BEGIN {_GAIN} END",
    f"CREATE TRIGGER snapshot_grams_lose AFTER DELETE ON snapshots BEGIN {_LOSE} END",
    f"""CREATE TRIGGER snapshot_grams_change AFTER UPDATE OF find_title, find_snippet, find_url ON snapshots
    WHEN (old.find_title, old.find_snippet, old.find_url)
        IS NOT (new.find_title, new.find_snippet, new.find_url)
    BEGIN {_LOSE} {_GAIN} END""",
)
# Where the extension cannot be had, parts of words are looked for without an index.
_POSTGRESQL_GRAMS = (
    """DO $$ BEGIN CREATE EXTENSION IF NOT EXISTS pg_trgm;
    EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'pg_trgm is not to be had: %', SQLERRM; END $$""",
    """DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm') THEN
    CREATE INDEX snapshot_grams ON snapshots
    USING gin (find_title gin_trgm_ops, find_snippet gin_trgm_ops, find_url gin_trgm_ops);
    END IF; END $$""",
)
_COUNTS = ("snapshot_count", "inlink_count", "outlink_count")


def upgrade() -> None:
    """Add the columns and tables, and write of each group what its snapshots say."""
    with op.batch_alter_table("snapshots") as snapshots:
        snapshots.add_column(sa.Column("job_id", _KEY, nullable=True))
        snapshots.create_foreign_key(
            op.f("fk_snapshots_job_id"), "jobs", ["job_id"], ["id"], ondelete="SET NULL"
        )
        snapshots.create_index(op.f("ix_snapshots_job_id"), ["job_id"])
    op.create_index(op.f("ix_records_payload_digest"), "records", ["payload_digest"])
    _groups()
    op.create_table(
        "outlinks",
        sa.Column("group_id", _KEY, nullable=False),
        sa.Column("target", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["page_groups.id"], name=op.f("fk_outlinks_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("group_id", "target", name=op.f("pk_outlinks")),
    )
    op.create_index(op.f("ix_outlinks_target"), "outlinks", ["target"])
    op.create_table(
        "word_forms",
        sa.Column("form", sa.String(), nullable=False),
        sa.Column("word", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("form", "word", name=op.f("pk_word_forms")),
    )
    for statement in _SQLITE_GRAMS if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL_GRAMS:
        op.execute(statement)


def _groups() -> None:
    columns: tuple[sa.Column[Any], ...] = (
        sa.Column("link_key", sa.BigInteger(), nullable=True),
        *(sa.Column(name, sa.Integer(), nullable=True) for name in _COUNTS),
        sa.Column("first_at", _TIME, nullable=True),
        sa.Column("last_at", _TIME, nullable=True),
        sa.Column("latest_snapshot_id", sa.BigInteger(), nullable=True),
        sa.Column("latest_ok_snapshot_id", sa.BigInteger(), nullable=True),
        sa.Column("shown_class", sa.Integer(), nullable=True),
        sa.Column("shown_at", _TIME, nullable=True),
        sa.Column("links_at", _TIME, nullable=True),
    )
    for column in columns:
        op.add_column("page_groups", column)
    mine = "FROM snapshots WHERE snapshots.group_id = page_groups.id"
    good = f"{mine} AND status_class IN (0, 2)"
    newest = "ORDER BY captured_at DESC, id DESC LIMIT 1"
    op.execute(f"""UPDATE page_groups SET inlink_count = 0, outlink_count = 0,
        snapshot_count = (SELECT count(*) {mine}),
        first_at = (SELECT min(captured_at) {mine}), last_at = (SELECT max(captured_at) {mine}),
        latest_snapshot_id = (SELECT id {mine} {newest}),
        latest_ok_snapshot_id = (SELECT id {good} {newest}),
        shown_class = (SELECT status_class {good} {newest}),
        shown_at = (SELECT captured_at {good} {newest})""")  # ruff: ignore[hardcoded-sql-expression] - of our own
    with op.batch_alter_table("page_groups") as groups:
        for name in _COUNTS:
            groups.alter_column(name, existing_type=sa.Integer(), nullable=False)
    for names in (
        ["link_key"],
        ["shown_class", "shown_at", "id"],
        ["source_id", "shown_class", "shown_at"],
    ):
        op.create_index(op.f(f"ix_page_groups_{'_'.join(names)}"), "page_groups", names)
