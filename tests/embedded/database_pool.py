"""Databases that go from test to test: emptying one is many times faster than making one."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import psycopg
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


class DatabasePool:
    """Copies of a template; one that comes back as it went, but for its rows, is used again."""

    def __init__(self, server_url: str, template: str, template_url: str) -> None:
        self._server_url = server_url
        self._template = template
        with psycopg.connect(template_url) as connection:
            self._shape = _shape(connection)
        self._idle: list[str] = []
        self._made = ExitStack()

    @contextmanager
    def database(self) -> Generator[str]:
        """The URL of a database with empty tables."""
        url = self._idle.pop() if self._idle else self._new()
        try:
            yield url
        finally:
            if self._emptied(url):
                self._idle.append(url)

    def close(self) -> None:
        """Drop all that was made."""
        self._made.close()

    def _new(self) -> str:
        return self._made.enter_context(fresh_database(self._server_url, self._template))

    def _emptied(self, url: str) -> bool:
        """Whether the database is as it was; one that a test built upon is left to be dropped."""
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(END_OTHERS)
            if _shape(connection) != self._shape:
                return False
            tables = [sql.Identifier(str(name)) for name in self._shape[0] if name != REVISION_TABLE]
            connection.execute(
                sql.SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(sql.SQL(", ").join(tables))
            )
            return True


def _shape(connection: Connection) -> tuple[list[object], list[object]]:
    """The names of the tables, and the revision that they stand for."""
    tables = [name for (name,) in connection.execute(TABLES)]
    revision = [name for (name,) in connection.execute(REVISION)]
    return tables, revision
