"""Putting a copy of a database back: in place of a SQLite file, or into the empty tables of a server."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import delete, func, insert, select, text

from crawler.clock import utc_now
from crawler.db import revisions
from crawler.db.engine import Database
from crawler.db.models import Base, StoreMark
from crawler.errors import FileError, IntegrityError, LockedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import Connection, Table

ROWS_AT_ONCE = 1_000
_STORE = "artifacts"  # whose mark a copy forgets; where its home was stays known
# Each connection to a write-ahead log holds a lock on this byte of its index, whatever it is doing.
_CONNECTED_BYTE = 128
_CONSTRAINTS = """SELECT format('ALTER TABLE %s ALTER CONSTRAINT %I', conrelid::regclass, conname)
    FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"""


class RestoreError(UsageError):
    """That cannot be put back, or not there."""

    code = "restore"


@frozen
class Restored:
    """What was put back."""

    rows: int
    replaced: Path | None = None  # where the database is now that was there before


def restore(database: Database, copy: Path) -> Restored:
    """Put a sound copy of one of our databases into the place of this one; it has no artifact store then.

    A SQLite file that is open anywhere is refused, and is kept under another name. Tables of a server must be
    empty.
    """
    with (
        _as_file_errors(),
        TemporaryDirectory(prefix=".vitrine-restore-", dir=_folder_of(database)) as folder,
    ):
        prepared = Path(folder) / "vitrine.db"
        _read(copy, prepared)
        rows = _prepare(copy, prepared)
        if database.path is None:
            _load(database, prepared)
            return Restored(rows)
        with database.exclusive(), _nobody_connected(database.path):
            return Restored(rows, _replace(database.path, prepared))


def _folder_of(database: Database) -> Path | None:
    """Return the folder of a SQLite file, which is made if it is missing."""
    if database.path is None:
        return None
    database.path.parent.mkdir(parents=True, exist_ok=True)
    return database.path.parent


@contextmanager
def _as_file_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f"{error.filename}: {error.strerror}") from error


def _prepare(copy: Path, path: Path) -> int:
    """Bring a database to this program's revision, and have it forget its store; how many rows it has."""
    with closing(_opened(path)) as database:
        if revisions.current(database) is None:
            raise RestoreError(f"{copy} is a database of another program")
        revisions.require_current(database)
        with database.write() as db:
            db.execute(delete(StoreMark).where(StoreMark.place == _STORE))
            rows = _count(db.connection())
    with closing(sqlite3.connect(path)) as whole:
        whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return rows


def _read(copy: Path, path: Path) -> None:
    """Copy what is committed, with a log beside the file if there is one; refuse what is damaged."""
    if not copy.is_file():
        raise RestoreError(f"there is no file {copy}", hint="`vitrine db backup` makes copies")
    # Without a log beside it a file at rest is read as it is, even where none may be set up.
    rest = "ro" if copy.with_name(f"{copy.name}-wal").exists() else "ro&immutable=1"
    path.touch(mode=0o600)
    try:
        with (
            closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode={rest}", uri=True)) as source,
            closing(sqlite3.connect(path)) as target,
        ):
            source.backup(target)
            [(found,)] = target.execute("PRAGMA integrity_check(1)")
    except sqlite3.Error as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            raise FileError(f"there is no room for a copy of {copy} in {path.parent.parent}") from error
        found = str(error)
    if found != "ok":
        raise IntegrityError(f"{copy} is damaged, or no database: {found}", hint="take an older copy")


def _opened(path: Path) -> Database:
    return Database(f"sqlite:///{path}")


# ── in place of a SQLite file ──


@contextmanager
def _nobody_connected(path: Path) -> Generator[None]:
    """Refuse a file that any process has open, and let nobody connect to it until the end."""
    with ExitStack() as stack:
        with suppress(FileNotFoundError):
            index = stack.enter_context(path.with_name(f"{path.name}-shm").open("r+b"))
            try:
                fcntl.lockf(index, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _CONNECTED_BYTE)
            except BlockingIOError:
                raise LockedError(
                    f"{path} is in use", hint="stop what crawls, works and serves, then restore again"
                ) from None
        yield


def _replace(path: Path, prepared: Path) -> Path | None:
    """Give the prepared file the database's name; where the former one is kept."""
    aside = path.with_name(f"{path.name}.replaced-{utc_now():%Y%m%dT%H%M%SZ}")
    log, index = (path.with_name(path.name + ending) for ending in ("-wal", "-shm"))
    index.unlink(missing_ok=True)
    is_there = path.exists()
    if is_there:
        before = path.stat()
        prepared.chmod(before.st_mode & 0o777)
        with suppress(PermissionError):
            os.chown(prepared, before.st_uid, before.st_gid)
        os.link(path, aside)
    with suppress(FileNotFoundError):  # SQLite would play it into the restored database
        log.rename(aside.with_name(f"{aside.name}-wal"))
    prepared.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return aside if is_there else None


# ── into the tables of a server ──


def _load(database: Database, prepared: Path) -> None:
    """Copy all rows of a SQLite file into empty tables, in one transaction."""
    revisions.require_current(database)
    with closing(_opened(prepared)) as source, source.read() as there, database.write() as here:
        rows, tables = there.connection(), here.connection()
        if _count(tables):
            raise RestoreError(
                f"{database.shown} has rows already; a copy goes into an empty database",
                hint="name a new one with DATABASE_URL, and `vitrine db upgrade`",
            )
        constraints = tables.scalars(text(_CONSTRAINTS)).all()
        for alter in constraints:  # rows refer to each other in a circle
            tables.execute(text(f"{alter} DEFERRABLE INITIALLY DEFERRED"))
        for table in Base.metadata.tables.values():
            _copy(rows, tables, table)
        tables.execute(text("SET CONSTRAINTS ALL IMMEDIATE"))
        for alter in constraints:
            tables.execute(text(f"{alter} NOT DEFERRABLE"))


def _copy(source: Connection, target: Connection, table: Table) -> None:
    """Copy the rows of a table, and have its sequence go on behind their keys."""
    found = source.execution_options(yield_per=ROWS_AT_ONCE).execute(select(table))
    for some in found.mappings().partitions(ROWS_AT_ONCE):
        target.execute(insert(table), [dict(row) for row in some])
    [*_, key] = table.primary_key
    name = target.scalar(select(func.pg_get_serial_sequence(table.name, key.name)))
    last = target.scalar(select(func.max(key))) if name else None
    if last is not None:
        target.execute(select(func.setval(name, last)))


def _count(connection: Connection) -> int:
    tables = Base.metadata.tables.values()
    return sum(connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables)
