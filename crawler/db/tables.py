"""Makes everything in a new database: the models' tables, the indexes for searching, the views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import MetaData, text

from crawler.db import sql_views
from crawler.db.models import Base

if TYPE_CHECKING:
    from sqlalchemy import Connection

# No model stands for the indexes of words and parts of words: they are written by whoever adds a batch of
# texts, since a trigger would write each row by itself.
_LOSE = """INSERT INTO snapshot_grams (snapshot_grams, rowid, find_title, find_snippet, find_url)
    VALUES ('delete', old.id, old.find_title, old.find_snippet, old.find_url);"""
_GAIN = """INSERT INTO snapshot_grams (rowid, find_title, find_snippet, find_url)
    VALUES (new.id, new.find_title, new.find_snippet, new.find_url);"""
# To take away what is not there, as while the index is made anew, would damage it; the sizes say what is.
_IS_THERE = "EXISTS (SELECT 1 FROM snapshot_grams_docsize WHERE id = old.id)"
# The numbers at the end: a batch is some thousand texts, whose words are held until it is over and are then
# written once; by itself SQLite does so for each megabyte.
_SQLITE = (
    "CREATE VIRTUAL TABLE text_words USING fts5(title, body, tokenize='ascii')",
    """CREATE TRIGGER texts_lose_words AFTER DELETE ON texts
    BEGIN DELETE FROM text_words WHERE rowid = old.id; END""",
    """CREATE VIRTUAL TABLE snapshot_grams USING fts5(find_title, find_snippet, find_url,
    content='snapshots', content_rowid='id', tokenize='trigram case_sensitive 1', detail='none')""",
    f"CREATE TRIGGER snapshot_grams_lose AFTER DELETE ON snapshots WHEN {_IS_THERE} BEGIN {_LOSE} END",
    f"""CREATE TRIGGER snapshot_grams_change AFTER UPDATE OF find_title, find_snippet, find_url ON snapshots
    WHEN (old.find_title, old.find_snippet, old.find_url)
        IS NOT (new.find_title, new.find_snippet, new.find_url) AND {_IS_THERE}
    BEGIN {_LOSE} {_GAIN} END""",
    "INSERT INTO text_words (text_words, rank) VALUES ('hashsize', 8388608), ('automerge', 16)",
    "INSERT INTO snapshot_grams (snapshot_grams, rank) VALUES ('hashsize', 8388608), ('automerge', 16)",
)
_POSTGRESQL = (
    """CREATE TABLE text_words (
        text_id BIGINT NOT NULL CONSTRAINT pk_text_words PRIMARY KEY
            CONSTRAINT fk_text_words_text_id REFERENCES texts (id) ON DELETE CASCADE,
        words TSVECTOR NOT NULL
    )""",
    "CREATE INDEX ix_text_words_words ON text_words USING gin (words)",
    # Without the extension, parts of words are looked for without an index.
    """DO $$ BEGIN CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX snapshot_grams ON snapshots
    USING gin (find_title gin_trgm_ops, find_snippet gin_trgm_ops, find_url gin_trgm_ops);
    EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'pg_trgm is not to be had: %', SQLERRM; END $$""",
    # LZ4 packs long texts in a tenth of the time, where the server was built with it.
    """DO $$ BEGIN
    ALTER TABLE texts ALTER COLUMN body SET COMPRESSION lz4;
    ALTER TABLE text_words ALTER COLUMN words SET COMPRESSION lz4;
    EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'LZ4 is not to be had: %', SQLERRM; END $$""",
)


def make(connection: Connection) -> None:
    """Make all of it, in the transaction of the connection."""
    is_sqlite = connection.dialect.name == "sqlite"
    (Base.metadata if is_sqlite else _copied()).create_all(connection)
    for statement in _SQLITE if is_sqlite else _POSTGRESQL:
        connection.execute(text(statement))
    sql_views.make(connection)


def _copied() -> MetaData:
    """The models' tables once more: making those that refer to each other on a server changes them."""
    copy = MetaData(naming_convention=Base.metadata.naming_convention)
    for table in Base.metadata.tables.values():
        table.to_metadata(copy)
    return copy
