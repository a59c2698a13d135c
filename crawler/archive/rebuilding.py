"""What is made of snapshots, made anew from them: groups and their links, words, parts of words, repeats.

All of it is written along with each snapshot; this is for archives of an earlier version, and for indexes
that a crash of the machine has left in doubt. A few rows at a time: other writers go on in between.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import case, delete, func, select, text, update

from crawler.archive import groups, similar, unused, word_index
from crawler.archive.groups import link_key
from crawler.archive.writing import hide_repeats, take_turn
from crawler.db.models import LinkCount, Outlink, PageGroup, Snapshot, Text
from crawler.errors import LockedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy.orm import InstrumentedAttribute, Session

    from crawler.db.engine import Database

AT_ONCE = 200
READ_AT_ONCE = 5_000
TRIES = 3
_QUIETLY = {"synchronize_session": False}
_EXTENSION = """DO $$ BEGIN CREATE EXTENSION IF NOT EXISTS pg_trgm;
    EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'pg_trgm is not to be had: %', SQLERRM; END $$"""
_HAS_EXTENSION = "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm')"
_IS_BROKEN = """SELECT EXISTS (SELECT 1 FROM pg_index
    WHERE indexrelid = to_regclass('snapshot_grams') AND NOT indisvalid)"""
_PARTS = """CREATE INDEX CONCURRENTLY IF NOT EXISTS snapshot_grams ON snapshots
    USING gin (find_title gin_trgm_ops, find_snippet gin_trgm_ops, find_url gin_trgm_ops)"""


class BeingIndexedError(LockedError):
    """What is to be counted changes meanwhile."""

    code = "being_indexed"


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
        empty = PageGroup.id.in_(ids) & (PageGroup.snapshot_count == 0)
        mend = unused.mending(db, PageGroup, empty)
        db.execute(delete(PageGroup).where(empty), execution_options=_QUIETLY)
        mend()
        return len(ids)

    _count_links(database)
    return _in_steps(database, PageGroup.id, write)


def _count_links(database: Database) -> None:
    """Count who leads where, as what was counted along the way should say already.

    What differs is added or taken away, so what others count meanwhile stays counted. To know what differs,
    both have to be read while nobody writes links.
    """
    for _ in range(TRIES):
        before = _state_of_links(database)
        counts: Counter[int] = Counter()
        for targets in _read_in_steps(database, Outlink.group_id, Outlink.targets):
            counts.update(groups.unpacked(targets))
        counts.subtract(dict(_read_in_steps(database, LinkCount.target, LinkCount.target, LinkCount.pages)))
        if _state_of_links(database) == before:
            break
    else:
        raise BeingIndexedError("pages are indexed at this moment", hint="try again when that is over")
    wrong = [(to, count) for to, count in counts.items() if count]
    for begin in range(0, len(wrong), AT_ONCE):
        with database.write() as db:
            take_turn(db)
            groups.add_to_counts(db, dict(wrong[begin : begin + AT_ONCE]))


def _state_of_links(database: Database) -> tuple[Any, ...]:
    """Something that is another when links were written."""
    query = select(func.count(), func.max(PageGroup.links_at), func.sum(PageGroup.outlink_count))
    with database.read() as db:
        return (*db.execute(query).one(), db.scalar(select(func.sum(LinkCount.pages))))


def _read_in_steps(database: Database, key: InstrumentedAttribute[int], *columns: Any) -> Iterator[Any]:
    """Some columns of all rows of a table; no transaction stays open."""
    last: int | None = None
    while True:
        query = select(key, *columns).order_by(key).limit(READ_AT_ONCE)
        with database.read() as db:
            rows = db.execute(query if last is None else query.where(key > last)).all()
        yield from (row[1] if len(columns) == 1 else tuple(row[1:]) for row in rows)
        if len(rows) < READ_AT_ONCE:
            return
        last = rows[-1][0]


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
        yield _parts_on_postgresql(database)
        return
    with database.write() as db:
        newest = db.scalar(select(Snapshot.id).order_by(Snapshot.id.desc()).limit(1)) or 0
        db.execute(text("INSERT INTO snapshot_grams (snapshot_grams) VALUES ('delete-all')"))
    yield from _in_steps(database, Snapshot.id, word_index.add_parts, newest)


def _parts_on_postgresql(database: Database) -> int:
    """Whether there is an index afterwards. Outside a transaction, so that others write meanwhile."""
    with database.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text(_EXTENSION))
        if not connection.scalar(text(_HAS_EXTENSION)):
            return 0
        if connection.scalar(text(_IS_BROKEN)):  # whoever made it was killed
            connection.execute(text("DROP INDEX CONCURRENTLY snapshot_grams"))
        connection.execute(text(_PARTS))
    return 1


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
