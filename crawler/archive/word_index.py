"""The index of words: one port, written as each database has it. Neither is given anything but words."""

from __future__ import annotations

from functools import cache
from itertools import chain, islice, repeat
from struct import Struct
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
_ADD_ON_SQLITE = text("INSERT INTO text_words (rowid, title, body) VALUES (:id, :title, :body)")
_ADD_ON_POSTGRESQL = "COPY text_words (text_id, words) FROM STDIN (FORMAT BINARY)"
_RANKED_ON_SQLITE = """SELECT rowid AS text_id, -bm25(text_words, 1.0, 0.1) AS score
    FROM text_words WHERE text_words MATCH :ranked"""
# Weights of the places D, C, B and A. 1 divides by the logarithm of the length, 32 keeps the score below 1.
_RANKED_ON_POSTGRESQL = """SELECT text_id, ts_rank_cd('{0.1, 0.1, 0.1, 1.0}', words, query, 1 | 32) AS score
    FROM text_words, CAST(:ranked AS tsquery) AS query WHERE words @@ query"""
_COPY_BEGINS, _COPY_ENDS = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_ROW = Struct("!hiqi")  # two fields: a key of eight bytes, and how long the words are
_COUNT = Struct("!i")
_ROW_KEY_BYTES = 8
_IN_TITLE = 0b11 << 14  # of a place; it is the weight A
_AND_MORE = 0b10 << 14  # the weight B: of the last place that is kept of a word which has others behind it
_PLACE = Struct("!H")
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
        copy.write(_COPY_BEGINS)
        for key, title, body in texts:
            words = _vector(words_of(title), words_of(body))
            copy.write(_ROW.pack(2, _ROW_KEY_BYTES, key, len(words)) + words)
        copy.write(_COPY_ENDS)


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


def _vector(title: list[str], body: list[str]) -> bytes:
    """A tsvector as the server reads it from other servers: words with their places, each once."""
    every_place, how_many = _packed()
    last = every_place[LAST_PLACE]
    begin = len(title) + GAP
    in_title = (_PLACE.pack(place | _IN_TITLE) for place in range(1, begin))  # titles are short
    in_body = chain(islice(every_place, begin, LAST_PLACE), repeat(last))
    places: dict[bytes, bytes] = {}
    known = places.get
    for words, numbers in ((title, in_title), (body, in_body)):
        # All words of a text are encoded at once: in no word is a line's end.
        for word, place in zip("\n".join(words).encode().split(b"\n"), numbers, strict=False):
            places[word] = known(word, b"") + place
    places.pop(b"", None)  # of a title or a body without words
    parts = [_COUNT.pack(len(places))]
    for word, seen in places.items():
        kept = seen
        if len(seen) > MAX_PLACES * _PLACE.size or seen.endswith(last):
            few = range(0, min(len(seen), MAX_PLACES * _PLACE.size), _PLACE.size)
            known_places = list(dict.fromkeys(seen[at : at + _PLACE.size] for at in few))
            known_places[-1] = _and_more(known_places[-1])
            kept = b"".join(known_places)
        parts.append(word + how_many[len(kept) // _PLACE.size] + kept)
    return b"".join(parts)


def _and_more(place: bytes) -> bytes:
    """A place of a body, or of a title, as the last one that is known."""
    (number,) = _PLACE.unpack(place)
    return _PLACE.pack((number & LAST_PLACE) | _AND_MORE)


@cache
def _packed() -> tuple[list[bytes], list[bytes]]:
    """Every place as it is sent, and what says behind a word how many of them come."""
    places = [_PLACE.pack(place) for place in range(LAST_PLACE + 1)]
    return places, [b"\0" + _PLACE.pack(count) for count in range(MAX_PLACES + 1)]
