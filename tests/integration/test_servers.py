"""The servers of the tests end with whoever started them, and come back after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import psycopg
import pytest
import redis
from sqlalchemy import inspect

from crawler.db.engine import Database
from tests.servers import own_redis
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Generator

# Starts a Redis, says which, and waits to be killed.
OWNER = """
from tests.servers import own_redis
with own_redis() as server:
    print(server.pid, flush=True)
    input()
"""


@pytest.mark.parametrize("number", range(2))
def test_redis_is_empty(redis_client: redis.Redis, number: int) -> None:
    """A test finds no keys of another one."""
    assert redis_client.dbsize() == 0
    redis_client.set("left", number)


@pytest.fixture(scope="module")
def left_open() -> Generator[ExitStack]:
    """Keeps what tests leave open until the last of them has run."""
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("number", range(3))
def test_postgresql_has_empty_tables(postgres_database: str, left_open: ExitStack, number: int) -> None:
    """A test finds no row or table of another one, whatever that left open."""
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
    with own_redis(persistent=True) as server, redis.Redis(port=server.port) as client:
        client.set("kept", "1")
        server.kill()
        server.start()
        assert client.get("kept") == b"1"


def test_a_server_ends_with_its_owner() -> None:
    """Kill -9 of a test run leaves no server behind."""
    command = [sys.executable, "-c", OWNER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        pid = int(owner.stdout.readline())
        os.kill(owner.pid, signal.SIGKILL)
    wait_for(lambda: not _lives(pid))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
