"""The servers that tests ask for, and a clean database in them for each test.

`TEST_REDIS_URL` and `TEST_DATABASE_URL` name servers that stand already (the Redis database is emptied,
PostgreSQL gets databases of its own that are dropped again). Otherwise the run starts its own.
`tests.side_by_side` says who has which where tests run in several processes.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING, NoReturn

import pytest
import redis
from sqlalchemy import text

from crawler.db import revisions
from crawler.db.engine import Database
from crawler.rendering.chromium import install_command
from scripts.chromium import found_or_installed
from tests.embedded.binaries import MissingServerError
from tests.embedded.browser import own_browser
from tests.embedded.database_pool import DatabasePool
from tests.embedded.peers import peers_folder
from tests.embedded.postgresql import fresh_database, own_postgresql
from tests.embedded.redis import own_redis
from tests.embedded.skew import built_in
from tests.side_by_side import own_part, shared_postgresql

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from sqlalchemy.engine import URL

    from tests.embedded.browser import InBrowser

BACKENDS = {"sqlite": "sqlite_database", "postgresql": "postgres_database"}


@pytest.fixture(scope="session")
def redis_url() -> Generator[str]:
    """A Redis for the whole run of this process; tests that need it empty ask for `redis_database`."""
    given = os.environ.get("TEST_REDIS_URL")
    with ExitStack() as stack:
        yield own_part(given) if given else _started_redis(stack)


@pytest.fixture(scope="session")
def postgres_url(pytestconfig: pytest.Config) -> Generator[str]:
    """A PostgreSQL for the whole run; tests ask for a database in it."""
    with ExitStack() as stack:
        yield os.environ.get("TEST_DATABASE_URL") or _started_postgresql(pytestconfig, stack)


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Chromium's program: found, or installed."""
    found = found_or_installed()
    if found is None:
        _do_without(MissingServerError(f"no Chromium for the tests; {install_command()}"))
    return found


@pytest.fixture(scope="session")
def in_browser(chromium: Path) -> Generator[InBrowser]:
    """Runs `look(page)` on a new page of a browser, and gives what it returns."""
    with own_browser(chromium) as run:
        yield run


@pytest.fixture(scope="session")
def peers() -> Path:
    """The folder of other people's programs for WARC files."""
    try:
        return peers_folder()
    except MissingServerError as error:
        _do_without(error)


@pytest.fixture(scope="session")
def wrong_clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that makes the clock of a process wrong; see `skewed_by`."""
    try:
        return built_in(tmp_path_factory.mktemp("clock"))
    except MissingServerError as error:
        _do_without(error)


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


@pytest.fixture
def postgres_database(postgres_pool: DatabasePool) -> Generator[str]:
    """The URL of a PostgreSQL database with empty tables; the next test may get the same one, emptied."""
    with postgres_pool.database() as url:
        yield url


@pytest.fixture
def sqlite_database(sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of a SQLite database with empty tables."""
    path = tmp_path / "vitrine.db"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(params=BACKENDS)
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database with empty tables, once of each kind."""
    url: str = request.getfixturevalue(BACKENDS[request.param])
    return url


@pytest.fixture
def database(database_url: str) -> Generator[Database]:
    """A database with empty tables, once of each kind."""
    opened = Database(database_url)
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
def postgres_pool(postgres_url: str) -> Generator[DatabasePool]:
    """Databases with the tables, made when they are needed."""
    with fresh_database(postgres_url) as template_url, ExitStack() as stack:
        pool = DatabasePool(postgres_url, str(_make_tables(template_url).database), template_url)
        stack.callback(pool.close)
        yield pool


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the tables, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    _make_tables(f"sqlite:///{path}")
    return path


def set_revision(url: str, revision: str) -> None:
    """Have a database say that it is at that revision."""
    database = Database(url)
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    database.close()


def _make_tables(url: str) -> URL:
    """Make every table."""
    database = Database(url)
    revisions.upgrade(database)
    database.close()
    return database.url


def _started_redis(stack: ExitStack) -> str:
    try:
        return stack.enter_context(own_redis()).url
    except MissingServerError as error:
        _do_without(error)


def _started_postgresql(config: pytest.Config, stack: ExitStack) -> str:
    try:
        return shared_postgresql(config) or stack.enter_context(own_postgresql())
    except MissingServerError as error:
        _do_without(error)


def _do_without(error: MissingServerError) -> NoReturn:
    """Skip on a developer's machine, fail where the result stands for everyone."""
    if os.environ.get("CI"):
        pytest.fail(str(error), pytrace=False)
    pytest.skip(str(error))
