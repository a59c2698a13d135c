"""An own PostgreSQL, and fresh databases in it or in one that stands already."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, LiteralString
from uuid import uuid4

import psycopg
from attrs import define, field
from psycopg import sql
from sqlalchemy.engine import make_url

from tests.embedded.binaries import postgresql_folder
from tests.embedded.process import (
    ServerError,
    free_port,
    server_folder,
    start_guarded,
    unprivileged_user,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from sqlalchemy.engine import URL

    from tests.embedded.process import GuardedServer

SUPERUSER = "vitrine"
STARTS = 10  # tries after a kill
# Nothing here outlives the run, so nothing needs to reach the disk.
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}


@define
class OwnPostgresql:
    """A server of our own, which can be away for a while."""

    url: str
    _start: Callable[[], GuardedServer]
    _server: GuardedServer = field(init=False)

    @property
    def pid(self) -> int:
        """Of the process that all others of the server are children of."""
        return self._server.pid

    def start(self) -> None:
        """Have it run, and answer."""
        self._server = self._start()

    def start_again(self) -> None:
        """Have it run after a kill, once the last of its processes has gone."""
        for _ in range(STARTS - 1):
            with suppress(ServerError):
                return self.start()
            time.sleep(1)
        return self.start()

    def kill(self) -> None:
        """Have it end as in a crash."""
        os.kill(self._server.pid, signal.SIGKILL)
        self._server.stop()

    def stop(self) -> None:
        """Have it end at once, whoever is connected."""
        with suppress(ProcessLookupError):
            os.kill(self._server.pid, signal.SIGINT)
        self._server.stop()


@contextmanager
def own_postgresql() -> Generator[str]:
    """The URL of a server that runs for the length of the block."""
    with restartable_postgresql() as server:
        yield server.url


@contextmanager
def restartable_postgresql(kept: Path | None = None, /, **settings: str) -> Generator[OwnPostgresql]:
    """A server of the block's own, with these settings; its data stay in a folder that is given."""
    user = unprivileged_user()
    with server_folder(user) as folder:
        programs = _runnable(postgresql_folder(), folder, user)
        data = kept or folder / "data"
        if not data.exists():
            _make_cluster(programs, data, user)
        port = free_port()
        options = [f"-c{name}={value}" for name, value in {**OPTIONS, **settings, "port": str(port)}.items()]
        url = f"postgresql://{SUPERUSER}@127.0.0.1:{port}/postgres"
        command = [str(programs / "postgres"), "-D", str(data), *options]
        server = OwnPostgresql(url, partial(start_guarded, command, folder, user, partial(_answers, url)))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def fresh_database(server_url: str, template: str = "template1") -> Generator[str]:
    """The URL of a new database, a copy of `template`; it is dropped at the end of the block."""
    name = f"vitrine_test_{uuid4().hex}"
    # A name that psycopg and SQLAlchemy both read, whatever driver the given URL names.
    server = make_url(server_url).set(drivername="postgresql")
    _execute(server, "CREATE DATABASE {} TEMPLATE {}", name, template)
    try:
        yield _as_text(server.set(database=name))
    finally:
        _execute(server, "DROP DATABASE {} WITH (FORCE)", name)


def _execute(server: URL, statement: LiteralString, *names: str) -> None:
    with psycopg.connect(_as_text(server), autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _as_text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def _runnable(programs: Path, folder: Path, user: str | None) -> Path:
    """The programs' folder, or a copy of the installation where `user` cannot reach it."""
    if _runs(programs, user):
        return programs
    # A wheel's programs look for its libraries beside the package that they are in.
    package = programs.parents[1]
    libraries = package.with_name(f"{package.name}.libs")
    parts = [package, libraries] if libraries.exists() else [programs.parent]
    for part in parts:
        shutil.copytree(part, folder / part.name, symlinks=True)
    return folder / programs.relative_to(parts[0].parent)


def _runs(programs: Path, user: str | None) -> bool:
    try:
        return _as_user([str(programs / "initdb"), "--version"], user).returncode == 0
    except PermissionError:
        return False


def _make_cluster(programs: Path, data: Path, user: str | None) -> None:
    command = [
        str(programs / "initdb"), "-D", str(data), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8",
        "--locale=C", "--no-sync", "--no-instructions",
    ]  # fmt: skip
    done = _as_user(command, user)
    if done.returncode != 0:
        raise ServerError(f"initdb failed: {done.stderr.strip() or done.stdout.strip()}")


def _as_user(command: list[str], user: str | None) -> subprocess.CompletedProcess[str]:
    extra_groups: list[str] | None = [] if user else None
    return subprocess.run(
        command, check=False, capture_output=True, text=True, cwd="/", user=user, extra_groups=extra_groups
    )


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
