"""A clean Redis, SQLite or PostgreSQL for each test that asks for one.

`TEST_DATABASE_URL` names a PostgreSQL that stands already; tests have databases of their own in it. Otherwise
there is one for all test processes. Each has a Redis of its own, as tests empty and kill it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, LiteralString, NoReturn, Self
from uuid import uuid4

import psycopg
import pytest
import redis
from psycopg import sql
from sqlalchemy import text
from sqlalchemy.engine import make_url

from crawler.db import revisions
from crawler.db.engine import Database
from tests.servers import MissingServerError, own_postgresql, own_redis

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from sqlalchemy.engine import URL

    from tests.servers import Server

BACKENDS = {"sqlite": "sqlite_file", "postgresql": "postgres_database"}
URL_VARIABLE = "TEST_DATABASE_URL"
TABLES = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
SEQUENCES = "SELECT sequencename::text FROM pg_sequences"
END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Start one PostgreSQL for all the test processes, which are about to be started."""
    if URL_VARIABLE in os.environ:
        return
    stack = ExitStack()
    config.add_cleanup(stack.close)
    try:
        os.environ[URL_VARIABLE] = stack.enter_context(own_postgresql()).url
    except MissingServerError:
        return  # each test that needs it says so
    stack.callback(os.environ.pop, URL_VARIABLE)


def do_without(error: MissingServerError) -> NoReturn:
    """Skip on a developer's machine, fail where the result stands for everyone."""
    if os.environ.get("CI"):
        pytest.fail(str(error), pytrace=False)
    pytest.skip(str(error))


@contextmanager
def _started(server: AbstractContextManager[Server]) -> Generator[str]:
    with ExitStack() as stack:
        try:
            yield stack.enter_context(server).url
        except MissingServerError as error:
            do_without(error)


# ── Redis ──


@pytest.fixture(scope="session")
def redis_url() -> Generator[str]:
    """A Redis for all tests of this process; those that need it empty ask for `redis_database`."""
    with _started(own_redis()) as url:
        yield url


@pytest.fixture
def redis_database(redis_url: str, redis_client: redis.Redis) -> str:
    """The URL of an empty Redis."""
    return redis_url


@pytest.fixture
def redis_client(redis_url: str) -> Generator[redis.Redis]:
    """A plain client of an empty Redis; its answers are text."""
    client = redis.Redis.from_url(redis_url, decode_responses=True)
    client.flushdb()
    yield client
    client.close()


# ── SQLite and PostgreSQL ──


@pytest.fixture(params=BACKENDS)
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database with empty tables, once of each kind."""
    url: str = request.getfixturevalue(BACKENDS[request.param])
    return url


@pytest.fixture
def database(database_url: str, request: pytest.FixtureRequest) -> Generator[Database]:
    """A database with empty tables, once of each kind.

    As in a program, one object lives as long as the process, with the statements that it has compiled.
    """
    of_kind = "one_sqlite" if database_url.startswith("sqlite") else "one_postgresql"
    opened: Database = request.getfixturevalue(of_kind)
    yield opened
    opened.close()


@pytest.fixture(params=BACKENDS)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """The URL of a database without any table, once of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    with fresh_database(request.getfixturevalue("postgres_url")) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the tables, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    _make_tables(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_database(sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of a SQLite database with empty tables."""
    path = tmp_path / "vitrine.db"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def one_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """Opens the file that `sqlite_file` puts there."""
    return Database(f"sqlite:///{tmp_path_factory.mktemp('one') / 'vitrine.db'}")


@pytest.fixture
def sqlite_file(one_sqlite: Database, sqlite_template: Path) -> str:
    """The URL of a SQLite database with empty tables, in a place that the next test has as well."""
    assert one_sqlite.path
    shutil.rmtree(one_sqlite.path.parent)
    one_sqlite.path.parent.mkdir()
    shutil.copy(sqlite_template, one_sqlite.path)
    return one_sqlite.shown


@pytest.fixture(scope="session")
def postgres_url() -> Generator[str]:
    """A PostgreSQL; tests ask for a database in it."""
    if given := os.environ.get(URL_VARIABLE):
        yield given
        return
    with _started(own_postgresql()) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_tables(postgres_url: str) -> Generator[PostgresTables]:
    """The database that `postgres_database` hands out."""
    with PostgresTables(postgres_url) as tables:
        yield tables


@pytest.fixture
def one_postgresql(postgres_tables: PostgresTables) -> Database:
    """Opens the database that `postgres_database` hands out."""
    return postgres_tables.opened


@pytest.fixture
def postgres_database(postgres_tables: PostgresTables) -> Generator[str]:
    """The URL of a PostgreSQL database with empty tables."""
    yield postgres_tables.url
    postgres_tables.empty()


class PostgresTables:
    """A database whose rows are deleted after each test, which takes a hundredth of making another one."""

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self._made = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    @cached_property
    def url(self) -> str:
        """Where it is."""
        url = self._made.enter_context(fresh_database(self._server_url))
        _make_tables(url)
        self._connection = self._made.enter_context(psycopg.connect(url, autocommit=True))
        self._names = self._found(TABLES)
        self.opened = Database(url)
        return url

    def empty(self) -> None:
        """Delete all rows; where a test made tables, or cut us off, the next test gets another database."""
        try:
            self._connection.execute(END_OTHERS)
            if self._found(TABLES) == self._names:
                self._delete()
                return
        except psycopg.Error:
            pass
        self._made.close()
        del self.url

    def _delete(self) -> None:
        tables = [name for name in self._names if name != "alembic_version"]
        statements = [_naming("DELETE FROM {}", name) for name in tables]
        statements += [_naming("ALTER SEQUENCE {} RESTART", name) for name in self._found(SEQUENCES)]
        # A test may have said that it is at another one.
        statements.append(
            sql.SQL("UPDATE alembic_version SET version_num = {}").format(sql.Literal(revisions.HEAD))
        )
        with self._connection.transaction():
            self._connection.execute("SET LOCAL session_replication_role = replica")  # in any order
            self._connection.execute(sql.SQL(";").join(statements))

    def _found(self, query: LiteralString) -> list[str]:
        return [name for (name,) in self._connection.execute(query)]


@contextmanager
def fresh_database(server_url: str, template: str = "template1") -> Generator[str]:
    """The URL of a new database, a copy of `template`; it is dropped at the end of the block."""
    name = f"vitrine_test_{uuid4().hex}"
    # A name that psycopg and SQLAlchemy both read, whatever driver the given URL names.
    server = make_url(server_url).set(drivername="postgresql")
    _execute(server, _naming("CREATE DATABASE {} TEMPLATE {}", name, template))
    try:
        yield server.set(database=name).render_as_string(hide_password=False)
    finally:
        _execute(server, _naming("DROP DATABASE {} WITH (FORCE)", name))


def set_revision(url: str, revision: str) -> None:
    """Have a database say that it is at that revision."""
    database = Database(url)
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    database.close()


def _make_tables(url: str) -> None:
    database = Database(url)
    revisions.upgrade(database)
    database.close()


def _naming(statement: LiteralString, *names: str) -> sql.Composed:
    return sql.SQL(statement).format(*map(sql.Identifier, names))


def _execute(server: URL, statement: sql.Composed) -> None:
    with psycopg.connect(server.render_as_string(hide_password=False), autocommit=True) as connection:
        connection.execute(statement)
