"""The index of words: one port, written as each database has it. Neither is given anything but words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Float, Integer, bindparam, column, text

from crawler.archive.words import parted, words_of
from crawler.db.lists import evened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import psycopg
    from sqlalchemy import CTE, TextClause
    from sqlalchemy.orm import Session

# PostgreSQL keeps so many places of a word, and knows no place behind the last.
MAX_PLACES = 255
LAST_PLACE = 16_383
LAST_KEPT = f"{LAST_PLACE}B"
_ADD_ON_SQLITE = text("INSERT INTO text_words (rowid, title, body) VALUES (:id, :title, :body)")
_ADD_ON_POSTGRESQL = "COPY text_words (text_id, words) FROM STDIN"
_RANKED_ON_SQLITE = """SELECT rowid AS text_id, -bm25(text_words, 1.0, 0.1) AS score
    FROM text_words WHERE text_words MATCH :ranked"""
# Weights of the places D, C, B and A. 1 divides by the logarithm of the length, 32 keeps the score below 1.
_RANKED_ON_POSTGRESQL = """SELECT text_id, ts_rank_cd('{0.1, 0.1, 0.1, 1.0}', words, query, 1 | 32) AS score
    FROM text_words, CAST(:ranked AS tsquery) AS query WHERE words @@ query"""
GRAM = 3
MAX_GRAMS = 16  # of a part; the rest is looked at
GAP = 10  # between title and body, over which no phrase reaches


def add(db: Session, texts: Iterable[tuple[int, str, str]]) -> None:
    """Have texts found by their words: the id, title and body of each."""
    if _is_sqlite(db):
        rows = [{"id": key, "title": parted(title), "body": parted(body)} for key, title, body in texts]
        if rows:
            db.connection().execute(_ADD_ON_SQLITE, rows)
        return
    connection = cast("psycopg.Connection[Any]", db.connection().connection.driver_connection)
    with connection.cursor() as cursor, cursor.copy(_ADD_ON_POSTGRESQL) as copy:
        for key, title, body in texts:
            copy.write_row((key, _tsvector(words_of(title), words_of(body))))


def remove(db: Session, ids: Sequence[int]) -> None:
    """Have texts found by no word any more."""
    named = "rowid" if _is_sqlite(db) else "text_id"
    which = text(f"DELETE FROM text_words WHERE {named} IN :ids")  # ruff: ignore[hardcoded-sql-expression] - of two words
    db.execute(which.bindparams(bindparam("ids", list(ids), expanding=True)))


def add_parts(db: Session, ids: Sequence[int], named: str = "id") -> int:
    """Have snapshots found by parts of words, that are not; how many. PostgreSQL does so by itself."""
    if _is_sqlite(db) and ids:
        columns = "find_title, find_snippet, find_url"
        there = "SELECT 1 FROM snapshot_grams_docsize AS there WHERE there.id = snapshots.id"
        source = f"SELECT id, {columns} FROM snapshots WHERE {named} IN :ids AND NOT EXISTS ({there})"  # ruff: ignore[hardcoded-sql-expression] - ours
        added = text(f"INSERT INTO snapshot_grams (rowid, {columns}) {source}")
        db.execute(added.bindparams(bindparam("ids", evened(ids), expanding=True)))
    return len(ids)


def having(db: Session, phrases: Iterable[Sequence[str]], name: str = "words") -> TextClause:
    """A query for the ids of the texts that have all of the phrases, in title or body."""
    if _is_sqlite(db):
        wanted = " AND ".join(f'"{" ".join(words)}"' for words in phrases)
        found = "SELECT rowid FROM text_words WHERE text_words MATCH :"
    else:
        wanted = " & ".join(f"({_phrase(words)})" for words in phrases)
        found = "SELECT text_id FROM text_words WHERE words @@ CAST(:"
    return text(f"{found}{name}{'' if _is_sqlite(db) else ' AS tsquery)'}").bindparams(**{name: wanted})


def ranked(db: Session, phrases: Sequence[Sequence[str]], *, every: bool) -> CTE:
    """Return a `text_id` and a `score` for each text that has `every` phrase, or any; the best is highest.

    A word in the title weighs as much as ten in the body. The query is materialised: SQLite knows `bm25` in a
    query of the index alone.
    """
    if _is_sqlite(db):
        wanted = (" AND " if every else " OR ").join(f'"{" ".join(words)}"' for words in phrases)
        found = _RANKED_ON_SQLITE
    else:
        wanted = (" & " if every else " | ").join(f"({_phrase(words)})" for words in phrases)
        found = _RANKED_ON_POSTGRESQL
    columns = (
        text(found).bindparams(ranked=wanted).columns(column("text_id", Integer), column("score", Float))
    )
    return columns.cte("ranked").prefix_with("MATERIALIZED")


def _phrase(words: Sequence[str]) -> str:
    """A phrase for PostgreSQL; where one of its words has places that are not known, all of them will do.

    Else the end of a long text is found by none of its phrases, which all words of Chinese and Japanese are.
    """
    if len(words) == 1:
        return f"'{words[0]}'"
    every = list(dict.fromkeys(words))
    anywhere = " & ".join(f"'{word}'" for word in every)
    unknown = " | ".join(f"'{word}':B" for word in every)
    return " <-> ".join(f"'{word}'" for word in words) + f" | ({anywhere} & ({unknown}))"


def narrowed(db: Session, part: str, name: str) -> TextClause | None:
    """A query for the ids of snapshots that may have a part in title, snippet or URL; None without an index.

    SQLite's index knows each run of three characters; PostgreSQL finds its own where it has one.
    """
    grams = list(dict.fromkeys(part[at : at + GRAM] for at in range(len(part) - GRAM + 1)))
    if not grams or not _is_sqlite(db):
        return None
    some = grams if len(grams) <= MAX_GRAMS else grams[:: len(grams) // MAX_GRAMS + 1]
    wanted = " AND ".join('"' + gram.replace('"', '""') + '"' for gram in some)
    found = "SELECT rowid FROM snapshot_grams WHERE snapshot_grams MATCH :"
    return text(f"{found}{name}").bindparams(**{name: wanted})


def forget_deleted(db: Session) -> None:
    """Take the words of deleted texts out of the file too; SQLite only marks them as deleted."""
    if _is_sqlite(db):
        db.execute(text("INSERT INTO text_words (text_words) VALUES ('optimize')"))
        db.execute(text("INSERT INTO snapshot_grams (snapshot_grams) VALUES ('optimize')"))


def _is_sqlite(db: Session) -> bool:
    return db.get_bind().dialect.name == "sqlite"


def _tsvector(title: list[str], body: list[str]) -> str:
    """Return a tsvector as PostgreSQL reads it: each word with its places; A is a title's weight.

    The last place that PostgreSQL keeps has the weight B: the word may have others behind it.
    """
    places: dict[str, list[str]] = {}
    for place, word in enumerate(title, 1):
        places.setdefault(word, []).append(f"{place}A")
    for place, word in enumerate(body, len(title) + GAP):
        places.setdefault(word, []).append(str(place) if place < LAST_PLACE else LAST_KEPT)
    return " ".join(f"{word}:{','.join(_kept(seen))}" for word, seen in places.items())


def _kept(places: list[str]) -> list[str]:
    if len(places) < MAX_PLACES:
        return places
    last = places[MAX_PLACES - 1]
    return [*places[: MAX_PLACES - 1], last.rstrip("AB") + "B"]
