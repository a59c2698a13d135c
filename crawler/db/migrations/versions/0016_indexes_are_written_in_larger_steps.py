"""A page's links are one row, and their counts are kept; on SQLite indexes are written in larger steps."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from struct import pack

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_TABLES = ("text_words", "snapshot_grams")
_STEPS = (("hashsize", 8 * 1024 * 1024), ("automerge", 16))
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_AT_ONCE = 1_000
_LOSE = """INSERT INTO snapshot_grams (snapshot_grams, rowid, find_title, find_snippet, find_url)
    VALUES ('delete', old.id, old.find_title, old.find_snippet, old.find_url);"""
_GAIN = """INSERT INTO snapshot_grams (rowid, find_title, find_snippet, find_url)
    VALUES (new.id, new.find_title, new.find_snippet, new.find_url);"""
_IS_THERE = "EXISTS (SELECT 1 FROM snapshot_grams_docsize WHERE id = old.id)"
# Whoever adds snapshots writes their parts, all at once; which are there is known by the sizes.
_GRAMS = (
    "DROP TRIGGER snapshot_grams_gain",
    "DROP TRIGGER snapshot_grams_lose",
    "DROP TRIGGER snapshot_grams_change",
    "DROP TABLE snapshot_grams",
    """CREATE VIRTUAL TABLE snapshot_grams USING fts5(find_title, find_snippet, find_url,
    content='snapshots', content_rowid='id', tokenize='trigram case_sensitive 1', detail='none')""",
    f"CREATE TRIGGER snapshot_grams_lose AFTER DELETE ON snapshots WHEN {_IS_THERE} BEGIN {_LOSE} END",
    f"""CREATE TRIGGER snapshot_grams_change AFTER UPDATE OF find_title, find_snippet, find_url ON snapshots
    WHEN (old.find_title, old.find_snippet, old.find_url)
        IS NOT (new.find_title, new.find_snippet, new.find_url) AND {_IS_THERE}
    BEGIN {_LOSE} {_GAIN} END""",
)
# A table with a row number of its own keeps its key a second time.
_ONCE = (
    """CREATE TABLE word_forms_once (
        form VARCHAR NOT NULL,
        word VARCHAR NOT NULL,
        CONSTRAINT pk_word_forms PRIMARY KEY (form, word)
    ) WITHOUT ROWID""",
    "INSERT INTO word_forms_once SELECT form, word FROM word_forms ORDER BY 1, 2",
    "DROP TABLE word_forms",
    "ALTER TABLE word_forms_once RENAME TO word_forms",
)


def upgrade() -> None:
    """Pack and count links, set how much is written at once, and copy what was kept twice."""
    _pack_links()
    if op.get_bind().dialect.name != "sqlite":
        return
    for statement in (*_GRAMS, *_ONCE):
        op.execute(statement)
    for table in _TABLES:
        for key, value in _STEPS:
            op.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('{key}', {value})")  # ruff: ignore[hardcoded-sql-expression] - of our own
    op.execute("INSERT INTO snapshot_grams (snapshot_grams) VALUES ('rebuild')")


def _pack_links() -> None:
    connection = op.get_bind()
    op.create_table(
        "link_counts",
        sa.Column("target", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("target", name=op.f("pk_link_counts")),
    )
    op.execute(
        "INSERT INTO link_counts (target, pages) SELECT target, count(*) FROM outlinks GROUP BY target"
    )
    op.drop_index("ix_outlinks_target", "outlinks")
    op.rename_table("outlinks", "outlinks_before")
    if connection.dialect.name != "sqlite":
        op.execute("ALTER INDEX pk_outlinks RENAME TO pk_outlinks_before")
    op.create_table(
        "outlinks",
        sa.Column("group_id", _KEY, autoincrement=False, nullable=False),
        sa.Column("targets", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["page_groups.id"], name=op.f("fk_outlinks_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("group_id", name=op.f("pk_outlinks")),
    )
    insert = sa.text("INSERT INTO outlinks (group_id, targets) VALUES (:group_id, :targets)")
    links = connection.execute(
        sa.text("SELECT group_id, target FROM outlinks_before ORDER BY group_id, target"),
        execution_options={"yield_per": 10_000},
    )
    rows: list[dict[str, object]] = []
    for group_id, its in groupby(links, itemgetter(0)):
        targets = [target for _, target in its]
        rows.append({"group_id": group_id, "targets": pack(f"<{len(targets)}q", *targets)})
        if len(rows) == _AT_ONCE:
            connection.execute(insert, rows)
            rows.clear()
    if rows:
        connection.execute(insert, rows)
    op.drop_table("outlinks_before")
