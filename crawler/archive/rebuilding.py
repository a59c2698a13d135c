"""What is made of snapshots, made anew from them: groups and their links, words, parts of words, repeats.

All of it is written along with each snapshot; this is for archives of an earlier version, and for indexes
that a crash of the machine has left in doubt. A few rows at a time: other writers go on in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import case, delete, select, text, update

from crawler.archive import groups, similar, word_index
from crawler.archive.groups import link_key
from crawler.archive.writing import hide_repeats, take_turn
from crawler.db.models import PageGroup, Snapshot, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy.orm import InstrumentedAttribute, Session

    from crawler.db.engine import Database

AT_ONCE = 200
_QUIETLY = {"synchronize_session": False}
_TRIGRAMS = (
    """DO $$ BEGIN CREATE EXTENSION IF NOT EXISTS pg_trgm;
    EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'pg_trgm is not to be had: %', SQLERRM; END $$""",
    """DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm') THEN
    CREATE INDEX IF NOT EXISTS snapshot_grams ON snapshots
    USING gin (find_title gin_trgm_ops, find_snippet gin_trgm_ops, find_url gin_trgm_ops);
    END IF; END $$""",
)


@frozen
class Rebuilt:
    """What was made anew."""

    what: str
    rows: int


def rebuild(
    database: Database,
    what: Sequence[str],
    on_progress: Callable[[str, int], None] = lambda _what, _rows: None,
) -> list[Rebuilt]:
    """Make some of it anew, in the order in which it is said."""
    done = []
    for each in what:
        rows = 0
        for some in WAYS[each](database):
            rows += some
            on_progress(each, rows)
        done.append(Rebuilt(each, rows))
    return done


def _groups(database: Database) -> Iterator[int]:
    """What captures come to, and who leads where; groups without a capture go."""

    def write(db: Session, ids: list[int]) -> int:
        keys = {row[0]: row[1] for row in db.execute(_named(PageGroup.id, PageGroup.group_key, ids))}
        keyed = case({key: link_key(url) for key, url in keys.items()}, value=PageGroup.id)
        mine = update(PageGroup).where(PageGroup.id.in_(ids))
        db.execute(mine.values(link_key=keyed), execution_options=_QUIETLY)
        groups.refresh(db, ids)
        groups.count_inlinks(db, ids)
        empty = delete(PageGroup).where(PageGroup.id.in_(ids), PageGroup.snapshot_count == 0)
        db.execute(empty, execution_options=_QUIETLY)
        return len(ids)

    return _in_steps(database, PageGroup.id, write)


def _repeats(database: Database) -> Iterator[int]:
    """Which captures of one day are the same; what is counted are the flags that changed."""
    return _in_steps(database, PageGroup.id, hide_repeats)


def _words(database: Database) -> Iterator[int]:
    """The index of words, and the words of titles."""

    def write(db: Session, ids: list[int]) -> int:
        rows = db.execute(select(Text.id, Text.title, Text.body).where(Text.id.in_(ids))).all()
        word_index.remove(db, ids)
        word_index.add(db, [(row[0], row[1], row[2]) for row in rows])
        similar.add(db, [row[1] for row in rows])
        return len(rows)

    return _in_steps(database, Text.id, write)


def _parts(database: Database) -> Iterator[int]:
    """The index of parts of words; on PostgreSQL it is made where it is missing and can be had."""
    if not database.is_sqlite:
        with database.write() as db:
            for statement in _TRIGRAMS:
                db.execute(text(statement))
            yield int(word_index.has_part_index(db))
        return
    with database.write() as db:
        newest = db.scalar(select(Snapshot.id).order_by(Snapshot.id.desc()).limit(1)) or 0
        db.execute(text("INSERT INTO snapshot_grams (snapshot_grams) VALUES ('delete-all')"))
    yield from _in_steps(database, Snapshot.id, word_index.add_parts, newest)


WAYS: dict[str, Callable[[Database], Iterator[int]]] = {
    "groups": _groups, "repeats": _repeats, "words": _words, "parts": _parts,
}  # fmt: skip


def _named(key: Any, value: Any, ids: list[int]) -> Any:
    return select(key, value).where(key.in_(ids))


def _in_steps(
    database: Database,
    key: InstrumentedAttribute[int],
    write: Callable[[Session, list[int]], int],
    newest: int | None = None,
) -> Iterator[int]:
    """Write some rows after the other; how many of them each step wrote."""
    last = 0
    while True:
        with database.write() as db:
            take_turn(db)
            query = select(key).where(key > last).order_by(key).limit(AT_ONCE)
            ids = list(db.scalars(query if newest is None else query.where(key <= newest)))
            written = write(db, ids) if ids else 0
        yield written  # ruff: ignore[unnecessary-assign-before-yield] - when the transaction is over
        if len(ids) < AT_ONCE:
            return
        last = ids[-1]
