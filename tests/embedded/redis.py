"""An own Redis, which a test may also kill and start again."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.embedded.binaries import redis_server
from tests.embedded.process import GuardedServer, free_port, server_folder, start_guarded

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


class OwnRedis:
    """A Redis of this test run; with `persistent` it finds its data again after a restart."""

    def __init__(self, folder: Path, *, persistent: bool = False) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._persistent = persistent
        self._server: GuardedServer | None = None

    def start(self) -> None:
        """Start it on its port."""
        self._server = start_guarded(self._command(), self._folder, None, self._answers)

    def stop(self) -> None:
        """Let it end in order."""
        if self._server:
            self._server.stop()
            self._server = None

    def kill(self) -> None:
        """End it as a crash would."""
        if self._server:
            os.kill(self._server.pid, signal.SIGKILL)
        self.stop()

    def _command(self) -> list[str]:
        options = {
            "--port": str(self.port),
            "--bind": "127.0.0.1",
            "--dir": str(self._folder),
            "--save": "",
            "--appendonly": "yes" if self._persistent else "no",
            "--appendfsync": "always",
        }
        return [str(redis_server()), *(word for option in options.items() for word in option)]

    def _answers(self) -> bool:
        client = redis.Redis(port=self.port, retry=Retry(NoBackoff(), 0))
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False
        finally:
            client.close()


@contextmanager
def own_redis(*, persistent: bool = False) -> Generator[OwnRedis]:
    """A Redis that runs for the length of the block."""
    with server_folder() as folder:
        server = OwnRedis(folder, persistent=persistent)
        server.start()
        try:
            yield server
        finally:
            server.stop()
