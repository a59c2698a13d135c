"""The demo in a process of its own, for benchmarks that must not share their interpreter with it."""

from __future__ import annotations

import json
import subprocess  # ruff: ignore[suspicious-subprocess-import] - it starts this package and nothing else
import sys
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import frozen

from crawler.demo.addresses import Addressing
from crawler.demo.requestlog import Seen
from crawler.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

_ANSWER_SECONDS = 30
_END_SECONDS = 10


@frozen
class DemoProcess:
    """A demo that runs elsewhere on this machine."""

    pid: int
    port: int
    front: str
    urls: Mapping[str, str]  # each shop's start page

    def url(self, shop: str, path: str = "/") -> str:
        """The URL of `path` in that shop."""
        if shop not in self.urls:
            raise NotFoundError(f"the demo has no shop {shop!r}")
        return self.urls[shop] + path.removeprefix("/")

    def entries(self, shop: str = "") -> list[Seen]:
        """What was asked so far, of one shop or of all, in the order of arrival."""
        return [Seen(**entry) for entry in self._ask("GET", f"/-/log?shop={shop}")]

    def set_day(self, day: int) -> None:
        """Let a day decide the prices that move."""
        self._ask("POST", f"/-/day/{day}")

    def forget(self) -> None:
        """Forget all visits, the log and the day, as if just started."""
        self._ask("POST", "/-/forget")

    def _ask(self, method: str, path: str) -> Any:
        connection = HTTPConnection(urlsplit(self.front).netloc, timeout=_ANSWER_SECONDS)
        try:
            connection.request(method, path)
            return json.load(connection.getresponse())
        finally:
            connection.close()


@contextmanager
def spawn(
    *, port: int = 0, bulk: int = 0, page_bytes: int = 0, addressing: str | Addressing = Addressing.AUTO
) -> Generator[DemoProcess, None, None]:
    """Start the demo as a process, with the options of `serve`, and end it with the block."""
    options = {
        "--port": port,
        "--bulk": bulk,
        "--page-bytes": page_bytes,
        "--addressing": Addressing(addressing).value,
    }
    command = [sys.executable, "-m", "crawler.demo"]
    command += [str(word) for pair in options.items() for word in pair]
    # ruff: ignore[subprocess-without-shell-equals-true] - this interpreter, this package, numbers
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                raise UsageError("the demo did not start; it says why on stderr")
            place = json.loads(line)
            yield DemoProcess(process.pid, place["port"], place["front"], place["shops"])
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
