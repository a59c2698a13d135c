"""Databases that go from test to test: emptying one is many times faster than making one."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from itertools import starmap
from typing import TYPE_CHECKING

import psycopg
from attrs import frozen
from psycopg import sql

from tests.embedded.postgresql import fresh_database

if TYPE_CHECKING:
    from collections.abc import Generator

    Connection = psycopg.Connection[tuple[object, ...]]

REVISION_TABLE = "alembic_version"
TABLES = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
REVISION = "SELECT version_num::text FROM alembic_version"
END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
)

LARGEST = (
    "SELECT max(pg_relation_size(oid)) FROM pg_class"
    " WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace"
)
COUNTED = "SELECT sequencename::text FROM pg_sequences WHERE last_value IS NOT NULL"
MOST_BYTES = 1024 * 1024  # rows that are deleted stay in the file, in the way of those that come


class LargeError(Exception):
    """A table's file, or an index's, has become too large to be kept."""


@frozen
class Kept:
    """A database of the pool, and a connection that knows its tables: a new one looks each up."""

    url: str
    connection: Connection


class DatabasePool:
    """Copies of a template; one that comes back as it went, but for its rows, is used again."""

    def __init__(self, server_url: str, template: str, template_url: str) -> None:
        self._server_url = server_url
        self._template = template
        with psycopg.connect(template_url) as connection:
            self._shape = _shape(connection)
        self._idle: list[Kept] = []
        self._made = ExitStack()

    @contextmanager
    def database(self) -> Generator[str]:
        """The URL of a database with empty tables."""
        kept = self._idle.pop() if self._idle else self._new()
        try:
            yield kept.url
        finally:
            if self._emptied(kept):
                self._idle.append(kept)

    def close(self) -> None:
        """Drop all that was made."""
        self._made.close()

    def _new(self) -> Kept:
        url = self._made.enter_context(fresh_database(self._server_url, self._template))
        return Kept(url, self._made.enter_context(psycopg.connect(url, autocommit=True)))

    def _emptied(self, kept: Kept) -> bool:
        """Whether the database is as it was; one that a test built upon, or cut us off from, is left."""
        try:
            kept.connection.execute(END_OTHERS)
        except psycopg.OperationalError:
            return False
        if _shape(kept.connection) != self._shape:
            return False
        tables = [_quoted(name) for name in self._shape[0] if name != REVISION_TABLE]
        try:
            _delete(kept.connection, tables)
        except (LargeError, psycopg.errors.InsufficientPrivilege):
            _truncate(kept.connection, tables)
        return True


def _delete(connection: Connection, tables: list[str]) -> None:
    """Take the rows out, which with so few of them is done in a fiftieth of the time that new files take."""
    largest = connection.execute(LARGEST).fetchone()
    if largest is None or largest > (MOST_BYTES,):
        raise LargeError
    counted = list(starmap(_quoted, connection.execute(COUNTED)))
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")  # in any order: all of them go
        connection.execute(_each("DELETE FROM {}", tables) + _each("ALTER SEQUENCE {} RESTART", counted))


def _each(statement: str, names: list[str]) -> bytes:
    """One statement for each, told at once."""
    return "".join(f"{statement.format(name)};" for name in names).encode()


def _quoted(name: object) -> str:
    return sql.Identifier(str(name)).as_string()


def _truncate(connection: Connection, tables: list[str]) -> None:
    """Begin with new files."""
    connection.execute(f"TRUNCATE {', '.join(tables)} RESTART IDENTITY CASCADE".encode())


def _shape(connection: Connection) -> tuple[list[object], list[object]]:
    """The names of the tables, and the revision that they stand for."""
    tables = [name for (name,) in connection.execute(TABLES)]
    revision = [name for (name,) in connection.execute(REVISION)]
    return tables, revision
