"""A server process under guard, on a free loopback port."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

from attrs import frozen

from tests.embedded import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

START_SECONDS = 30.0
LOG_NAME = "server.log"
# Below the ports of outgoing connections: a server that is started again finds its own still free.
PORTS = range(15_000, 32_000)


class ServerError(RuntimeError):
    """The server did not start."""


@frozen
class GuardedServer:
    """A running server; it ends with `stop()`, or with this process."""

    pid: int
    _guard: subprocess.Popen[str]

    def stop(self) -> None:
        """Ask the server to end, and wait until it has."""
        if self._guard.stdin and not self._guard.stdin.closed:
            self._guard.stdin.close()
        self._guard.wait()
        if self._guard.stdout:
            self._guard.stdout.close()


def start_guarded(
    command: list[str], folder: Path, user: str | None, answers: Callable[[], bool]
) -> GuardedServer:
    """Start `command` and wait until it answers."""
    order = json.dumps({"command": command, "user": user, "folder": str(folder)})
    with (folder / LOG_NAME).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-I", guard.__file__, order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    server = GuardedServer(_first_line_as_number(process), process)
    if _wait_until(lambda: process.poll() is not None or answers()) and process.poll() is None:
        return server
    server.stop()
    raise ServerError(
        f"{command[0]} did not start:\n{(folder / LOG_NAME).read_text(errors='replace')[-2000:]}"
    )


def free_port() -> int:
    """A loopback port that nobody listens on, and that the system gives to nobody who asks for just any."""
    # Tests run side by side with the same seed, and must not draw the same ports.
    while _is_taken(port := SystemRandom().choice(PORTS)):
        pass
    return port


@contextmanager
def server_folder(user: str | None = None) -> Generator[Path]:
    """A temporary folder that `user` owns and can reach."""
    folder = Path(tempfile.mkdtemp(prefix="vitrine-test-", dir=_reachable_folder() if user else None))
    if user:
        shutil.chown(folder, user, pwd.getpwnam(user).pw_gid)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unprivileged_user() -> str | None:
    """The user that runs a server which refuses root; None when we are not root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in known), None)


def _reachable_folder() -> Path:
    candidates = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]  # ruff: ignore[hardcoded-temp-file] - mkdtemp makes the folder
    return next(
        folder for folder in candidates if all(_may_enter(part) for part in (folder, *folder.parents))
    )


def _may_enter(folder: Path) -> bool:
    return bool(folder.stat().st_mode & 0o001)


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def _first_line_as_number(process: subprocess.Popen[str]) -> int:
    line = process.stdout.readline() if process.stdout else ""
    if not line.strip():
        process.communicate()
        raise ServerError("the server's guard did not start")
    return int(line)


def _wait_until(reached: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while not reached():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
