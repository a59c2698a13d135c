"""Programs under a guard: they end with us, take signals in one way, and say what they say line by line."""

from __future__ import annotations

import json
import os
import signal
import subprocess  # ruff: ignore[suspicious-subprocess-import] - engines are processes of their own
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from crawler.egg import ORIGIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Run with nothing but the standard library and this package, wherever it comes from.
_GUARD = (
    "import sys; sys.path.insert(0, sys.argv[1]); from crawler.engines import guard; sys.exit(guard.main())"
)
MAX_LINE_BYTES = 64 * 1024
_CHUNK = 64 * 1024


@frozen
class Launch:
    """A program to be run."""

    command: Sequence[str]
    environment: Mapping[str, str] | None = None  # None: ours
    keep: tuple[int, ...] = ()  # descriptors that it inherits
    grace: float = 60.0  # from asking it to end to ending it
    orphan_grace: float = 6.0  # the same, once whoever started it is gone
    last_orders: Sequence[Sequence[str]] = field(factory=tuple)  # run by the guard where it did not end well


def event_in(line: bytes) -> dict[str, Any]:
    """What a crawl tells in a line; nothing where it is none of its own."""
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


class Guarded:
    """A program that runs under its guard."""

    def __init__(self, launch: Launch) -> None:
        order = {
            "command": list(launch.command), "keep": launch.keep, "grace": launch.grace,
            "orphan_grace": launch.orphan_grace, "finally": [list(each) for each in launch.last_orders],
        }  # fmt: skip
        self._process = subprocess.Popen(  # ruff: ignore[subprocess-without-shell-equals-true] - no shell
            [sys.executable, "-I", "-S", "-c", _GUARD, str(ORIGIN)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=None if launch.environment is None else dict(launch.environment),
            pass_fds=launch.keep,
            start_new_session=True,  # a Ctrl-C reaches it once, through us
        )
        self.pid = self._process.pid
        self._asked = False
        with suppress(BrokenPipeError):
            assert self._process.stdin is not None  # ruff: ignore[assert] - it is a pipe
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()  # it stays open: its end is ours

    def lines(self) -> Iterator[bytes]:
        """What it says, until its end; of a line that is too long its beginning."""
        assert self._process.stdout is not None  # ruff: ignore[assert] - it is a pipe
        return bounded_lines(self._process.stdout.fileno())

    def stop(self) -> None:
        """Ask it to end; the second time it is ended."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT if self._asked else signal.SIGTERM)
        self._asked = True

    def wait(self, seconds: float | None = None) -> int | None:
        """Its exit code; None where it is not at its end by then."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """Let it go: where it still runs, its guard ends it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def bounded_lines(descriptor: int) -> Iterator[bytes]:
    """The lines of a stream; a line of any length costs no more memory than the longest that is kept."""
    line, left_out = bytearray(), 0
    while True:
        try:
            chunk = os.read(descriptor, _CHUNK)
        except (OSError, ValueError):
            chunk = b""  # closed under our hands
        if not chunk:
            break
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            left_out += _take(line, part)
            yield _cut(line, left_out)
            line.clear()
            left_out = 0
        left_out += _take(line, rest)
    if line or left_out:
        yield _cut(line, left_out)


def _take(line: bytearray, part: bytes) -> int:
    room = MAX_LINE_BYTES - len(line)
    line += part[:room]
    return max(0, len(part) - room)


def _cut(line: bytearray, left_out: int) -> bytes:
    return bytes(line) + (b" [%d bytes more]" % left_out if left_out else b"")
