"""Looking through a SQLite file for damage, for no longer than somebody would wait."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

SECONDS = 10.0
MENDS = "put a copy back (docs/operations.md, Backup and restore); `sqlite3 FILE .recover` saves what it can"
_STEPS = 1_000  # of SQLite's machine between two looks at the clock
_MOST = 3  # of what is wrong that is told
_NOT_DAMAGE = (
    sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN,
    # a WAL is to be set up beside a file that may only be read
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM,
)  # fmt: skip


@frozen
class Look:
    """What a look through a file came to."""

    damage: str = ""
    is_whole: bool = True  # it came to the end in its time


def looked_through(path: Path, seconds: float = SECONDS) -> Look:
    """What SQLite's quick check says of a file; nothing is changed, and nobody who writes waits for it."""
    until = time.monotonic() + seconds
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.set_progress_handler(lambda: time.monotonic() >= until, _STEPS)
            # Within a single step of its machine, which a large table is, old releases ask nobody.
            with _interrupting(database, seconds):
                rows = database.execute(f"PRAGMA quick_check({_MOST})").fetchall()
    except sqlite3.Error as error:
        if (error.sqlite_errorcode & 0xFF) in _NOT_DAMAGE:  # less what it is extended by
            return Look(is_whole=False)
        return Look(str(error))
    found = "; ".join(" ".join(str(row[0]).split()) for row in rows)
    return Look("" if found == "ok" else found)


@contextmanager
def _interrupting(database: sqlite3.Connection, seconds: float) -> Generator[None]:
    timer = threading.Timer(seconds, database.interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def require_sound(path: Path) -> None:
    """Refuse a file in which damage is found: whatever is written into it makes it worse."""
    if damage := looked_through(path).damage:
        raise IntegrityError(f"the database {path} is damaged: {damage}", hint=MENDS)
