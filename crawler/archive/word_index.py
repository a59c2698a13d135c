"""The index of words: one port, written as each database has it. Neither is given anything but words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, text

from crawler.archive.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import TextClause
    from sqlalchemy.orm import Session

# PostgreSQL keeps so many places of a word, and knows no place behind the last.
MAX_PLACES = 255
LAST_PLACE = 16_383
_ADD_ON_SQLITE = text("INSERT INTO text_words (rowid, title, body) VALUES (:id, :title, :body)")
_ADD_ON_POSTGRESQL = text("INSERT INTO text_words (text_id, words) VALUES (:id, CAST(:words AS tsvector))")
GRAM = 3
MAX_GRAMS = 16  # of a part; the rest is looked at
GAP = 10  # between title and body, over which no phrase reaches


def add(db: Session, texts: Iterable[tuple[int, str, str]]) -> None:
    """Have texts found by their words: the id, title and body of each."""
    rows: list[dict[str, Any]] = []
    is_sqlite = _is_sqlite(db)
    for text_id, title, body in texts:
        words = words_of(title), words_of(body)
        if is_sqlite:
            rows.append({"id": text_id, "title": " ".join(words[0]), "body": " ".join(words[1])})
        else:
            rows.append({"id": text_id, "words": _vector(*words)})
    if rows:
        db.connection().execute(_ADD_ON_SQLITE if is_sqlite else _ADD_ON_POSTGRESQL, rows)


def remove(db: Session, ids: Sequence[int]) -> None:
    """Have texts found by no word any more."""
    named = "rowid" if _is_sqlite(db) else "text_id"
    which = text(f"DELETE FROM text_words WHERE {named} IN :ids")  # ruff: ignore[hardcoded-sql-expression] - of two words
    db.execute(which.bindparams(bindparam("ids", list(ids), expanding=True)))


def add_parts(db: Session, ids: Sequence[int]) -> int:
    """Have snapshots found by parts of words, that are not, on SQLite; how many."""
    columns = "find_title, find_snippet, find_url"
    source = f"SELECT id, {columns} FROM snapshots WHERE id IN :ids"  # ruff: ignore[hardcoded-sql-expression] - ours
    added = text(f"INSERT INTO snapshot_grams (rowid, {columns}) {source}")
    db.execute(added.bindparams(bindparam("ids", list(ids), expanding=True)))
    return len(ids)


def having(db: Session, phrases: Iterable[Sequence[str]], name: str = "words") -> TextClause:
    """A query for the ids of the texts that have all of the phrases, in title or body."""
    if _is_sqlite(db):
        wanted = " AND ".join(f'"{" ".join(words)}"' for words in phrases)
        found = "SELECT rowid FROM text_words WHERE text_words MATCH :"
    else:
        wanted = " & ".join("(" + " <-> ".join(f"'{word}'" for word in words) + ")" for words in phrases)
        found = "SELECT text_id FROM text_words WHERE words @@ CAST(:"
    return text(f"{found}{name}{'' if _is_sqlite(db) else ' AS tsquery)'}").bindparams(**{name: wanted})


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


def has_part_index(db: Session) -> bool:
    """Whether parts of words have an index; on PostgreSQL it takes an extension."""
    if _is_sqlite(db):
        return True
    return bool(db.scalar(text("SELECT to_regclass('snapshot_grams') IS NOT NULL")))


def forget_deleted(db: Session) -> None:
    """Take the words of deleted texts out of the file too; SQLite only marks them as deleted."""
    if _is_sqlite(db):
        db.execute(text("INSERT INTO text_words (text_words) VALUES ('optimize')"))
        db.execute(text("INSERT INTO snapshot_grams (snapshot_grams) VALUES ('optimize')"))


def _is_sqlite(db: Session) -> bool:
    return db.get_bind().dialect.name == "sqlite"


def _vector(title: list[str], body: list[str]) -> str:
    """A tsvector as it is written: words are letters and digits, so none needs an escape."""
    places: dict[str, list[str]] = {}
    for words, first, weight in ((title, 1, "A"), (body, len(title) + GAP, "")):
        for place, word in enumerate(words, first):
            seen = places.setdefault(word, [])
            if len(seen) < MAX_PLACES:
                seen.append(f"{min(place, LAST_PLACE)}{weight}")
    return " ".join(f"'{word}':{','.join(dict.fromkeys(seen))}" for word, seen in places.items())
