"""Transactions with the same promises on SQLite and PostgreSQL."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sqlite3
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sqlalchemy import create_engine, event, func, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.orm import Session

from crawler.clock import utc_now
from crawler.db.types import UtcTime
from crawler.errors import ConfigError, CrawlerError, LockedError
from crawler.urls import redact, redacted

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime

    from sqlalchemy.engine import URL, Connection, Engine, ExceptionContext

BUSY_TIMEOUT_SECONDS = 30
LEAST_ROOM_BYTES = 4 * 1024 * 1024  # what a log beside the file takes before it is worked off
CONNECT_TIMEOUT_SECONDS = 5
CONNECTIONS = 15  # to a server, at most
# Below this release two connections that write or checkpoint a WAL at once can corrupt it.
SQLITE_SAFE_WAL = (3, 51, 3)
# SQLAlchemy would take what follows the first @ for the host, and show it.
_PASSWORD_WITH_AT = re.compile(r"(?<=://)[^/?#]*@[^/?#]*(?=@)")
# What SQLite says of a file, its place and its other writers, and not of a statement.
_SQLITE_IS_AWAY = (
    "unable to open",
    "not a database",
    "readonly database",
    "is malformed",
    "is locked",
    "disk I/O error",
    "is full",
)
_POSTGRESQL_REFUSES = {"25006", "42501"}  # in a read-only transaction; a privilege that is missing
_POSTGRESQL_ENDS = {"57P01", "57P02", "57P03"}  # shut down, crashed, starting: the connection is over
_NOW = select(func.clock_timestamp(type_=UtcTime))


class DatabaseUnavailableError(CrawlerError):
    """The database does not answer."""

    code = "database_unavailable"


class Transaction(Session):
    """A transaction that knows its time: `now`, the only clock of what is compared across machines."""

    def open(self) -> None:
        """Begin at once, not with the first statement."""
        if self.connection().dialect.name == "sqlite":
            # This machine's time, and nobody waits any more once a transaction has begun.
            self.now = utc_now()

    @cached_property
    def now(self) -> datetime:
        """The database's time when it is first asked for: after a wait for a row, where one came first."""
        return self.connection().execute(_NOW).scalar_one()


def wait_for_turn(db: Session, key: int) -> None:
    """Wait until no other transaction has the turn, and keep it; SQLite's writers take turns anyway."""
    if db.get_bind().dialect.name != "sqlite":
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})


class Database:
    """Opens short transactions: `read()` for looking, `write()` for changing.

    On SQLite all writers of this machine pass one file lock, so that they queue up instead of
    starving each other, and so that a WAL of an old SQLite is never written by two at once.
    """

    def __init__(self, url: str, *, connections: int = CONNECTIONS) -> None:
        """Prepare the engine; nothing is opened before the first transaction."""
        self.url = _parsed(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.path = sqlite_file(url)
        self.engine = (
            _sqlite_engine(self.url) if self.is_sqlite else _postgresql_engine(self.url, connections)
        )
        self._place = self.path.absolute() if self.path else None
        self._file: tuple[int, int] | None = None  # the one that is open there, by device and inode
        event.listen(self.engine, "connect", self._note_file)
        self._writing = self.engine.execution_options(begin="BEGIN IMMEDIATE")
        self._lock = WriteLock(self.path.with_name(self.path.name + ".lock")) if self.path else None

    @contextmanager
    def read(self) -> Generator[Transaction]:
        """A transaction that only looks; what it loaded stays usable after its end."""
        with self._reachable(), Transaction(self.engine, expire_on_commit=False) as db:
            db.open()
            yield db

    @contextmanager
    def write(self) -> Generator[Transaction]:
        """A transaction that commits at its end, or rolls back when anything is raised."""
        with (
            self.exclusive(),
            self._reachable(),
            Transaction(self._writing, expire_on_commit=False) as db,
            db.begin(),
        ):
            db.open()
            yield db

    @contextmanager
    def exclusive(self) -> Generator[None]:
        """Keep other writers of a SQLite database out; PostgreSQL locks by itself."""
        with ExitStack() as stack:
            try:
                if self._lock is not None:
                    stack.enter_context(self._lock.held(BUSY_TIMEOUT_SECONDS))
            except OSError as error:
                raise self._unavailable(f"{error.strerror} ({error.filename})") from error
            yield

    def empty_log(self) -> bool:
        """Write SQLite's log into its file and empty it; return False while an older state is being read."""
        if not self.is_sqlite:
            return True
        with self.exclusive(), self._reachable(), self.engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None  # ruff: ignore[assert] - it is connected
            [(is_busy, _, _)] = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return not is_busy

    def close(self) -> None:
        """Close all connections; whatever file is there later may be opened anew."""
        self.engine.dispose()
        self._file = None

    @property
    def shown(self) -> str:
        """The URL as it may be shown: without its password."""
        return redact(self.url.render_as_string(hide_password=True))

    def _note_file(self, _connection: Any, _record: Any) -> None:
        self._file = self._file or self._file_now()

    def _file_now(self) -> tuple[int, int] | None:
        if self._place is None:
            return None
        with suppress(OSError):
            found = self._place.stat()
            return found.st_dev, found.st_ino
        return None

    @contextmanager
    def _reachable(self) -> Generator[None]:
        if self._file is not None and self._file != self._file_now():
            # What is written to a file without its name is lost, and damages the one that took its place.
            raise self._unavailable("the file was removed or replaced while it was in use; start again")
        try:
            yield
        except DBAPIError as error:
            if not error.connection_invalidated and _is_connected(error):
                raise
            raise self._unavailable(str(error.orig).strip().splitlines()[0]) from error

    def _unavailable(self, reason: str) -> DatabaseUnavailableError:
        if self._is_full():
            what, hint = (
                "cannot be used",
                "its disk is full: `vitrine cleanup` and `vitrine purge` make room, else free some beside it",
            )
        elif self.is_sqlite:
            what, hint = (
                "cannot be used",
                "check VITRINE_HOME or DATABASE_URL, the file, and who may write to it",
            )
        else:
            what, hint = (
                "does not serve",
                "check DATABASE_URL, that the server runs, and what the role may do",
            )
        return DatabaseUnavailableError(f"the database at {self.shown} {what}: {redacted(reason)}", hint=hint)

    def _is_full(self) -> bool:
        """Whether SQLite's file lies on a disk that has no room left to write a log beside it."""
        if self.path is None:
            return False
        with suppress(OSError):
            return shutil.disk_usage(self.path.parent).free < LEAST_ROOM_BYTES
        return False


def sqlite_file(url: str) -> Path | None:
    """Return the file of a SQLite database, and None for a server's."""
    parsed = _parsed(url)
    return _file_of(parsed.database) if parsed.get_backend_name() == "sqlite" and parsed.database else None


def sqlite_wal_is_safe() -> bool:
    """Whether this interpreter's SQLite may write one WAL from two connections at once."""
    return sqlite3.sqlite_version_info >= SQLITE_SAFE_WAL


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(_PASSWORD_WITH_AT.sub(lambda part: part[0].replace("@", "%40"), url))
    except ArgumentError:
        raise ConfigError(f"DATABASE_URL is {redact(url)!r}; it is not a database URL") from None
    if parsed.get_backend_name() == "sqlite" and parsed.database in {None, "", ":memory:"}:
        raise ConfigError("DATABASE_URL names no file; several processes share the database, so it needs one")
    return parsed


def _file_of(name: str) -> Path:
    """The file, by its path or by SQLite's own kind of URI."""
    return Path(unquote(name.removeprefix("file:")) if name.startswith("file:") else name)


def _sqlite_engine(url: URL) -> Engine:
    # Autocommit at the driver: transactions are begun below, as the kind that is asked for.
    engine = create_engine(url, connect_args={"isolation_level": None, "timeout": BUSY_TIMEOUT_SECONDS})
    event.listen(engine, "do_connect", _make_parent_folder)
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _postgresql_engine(url: URL, connections: int) -> Engine:
    kept = connections // 3
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=kept,
        max_overflow=connections - kept,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            # No statement of ours is worth being compiled: for a search that takes 30 times as long.
            "options": f"-c jit=off {url.query.get('options', '')} -c timezone=UTC".strip(),
        },
    )
    event.listen(engine, "handle_error", _note_the_end)
    return engine


def _note_the_end(context: ExceptionContext) -> None:
    # The driver hears of a server's end before its socket is closed, and would use the connection on.
    if getattr(context.original_exception, "sqlstate", None) in _POSTGRESQL_ENDS:
        context.is_disconnect = True


def _make_parent_folder(
    _dialect: Any, _record: Any, cargs: tuple[Any, ...], _cparams: dict[str, Any]
) -> None:
    try:
        _file_of(cargs[0]).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise sqlite3.OperationalError(f"unable to open: {error.strerror} ({error.filename})") from error


def _set_pragmas(connection: sqlite3.Connection, _record: Any) -> None:
    # What a purge deletes is overwritten, and not only marked as free, as it is by default in most builds.
    for pragma in ("foreign_keys=ON", "synchronous=NORMAL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
    _use_wal(connection)


def _use_wal(connection: sqlite3.Connection) -> None:
    # Two processes that open a new file at once both switch it to WAL, and SQLite refuses one of them
    # without waiting, whatever the timeout.
    until = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later can fail at once, whatever the busy timeout:
    # writers say so at the start.
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _is_connected(error: DBAPIError) -> bool:
    """Whether the error came from a statement on a live connection, to a database that takes statements."""
    if isinstance(error.orig, sqlite3.Error):
        return not any(words in str(error.orig) for words in _SQLITE_IS_AWAY)
    if getattr(error.orig, "sqlstate", None) in _POSTGRESQL_REFUSES:
        return False
    return not isinstance(error, OperationalError) or error.statement is not None


# ── one writer at a time ──


class WriteLock:
    """One writer at a time across processes, first come first served, with a limit to the wait.

    It is a lock on a file; the kernel frees it when its holder dies. Threads of one process pass an ordinary
    lock first, which costs them next to nothing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inside = threading.Lock()

    @contextmanager
    def held(self, timeout: float) -> Generator[None]:
        """Hold the lock, or raise LockedError after `timeout` seconds of waiting for it."""
        until = time.monotonic() + timeout
        if not self._inside.acquire(timeout=timeout):
            raise self._too_long(timeout)
        try:
            file = self._open()
            try:
                if not _try_lock(file) and not _wait_in_queue(file, until - time.monotonic()):
                    raise self._too_long(timeout)
                yield
            finally:
                os.close(file)  # closing releases
        finally:
            self._inside.release()

    def _too_long(self, timeout: float) -> LockedError:
        return LockedError(
            f"somebody else has been writing for {timeout:g} seconds ({self._path})",
            hint="look for a stopped vitrine or scrapy process",
        )

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self._path, flags, 0o644)
        except FileNotFoundError:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, flags, 0o644)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_in_queue(file: int, timeout: float) -> bool:
    """Wait in the kernel's queue, which is fair, in a thread, which can be given up on.

    A waiter that was given up on locks a duplicate of the descriptor, and lets it go at once.
    """
    queued = os.dup(file)
    done = threading.Event()

    def wait() -> None:
        fcntl.flock(queued, fcntl.LOCK_EX)
        os.close(queued)
        done.set()

    threading.Thread(target=wait, name="write-lock", daemon=True).start()
    return done.wait(timeout)
