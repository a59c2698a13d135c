"""Runs one program for as long as the process that asked for it lives, whatever ends that process.

`crawler.engines.process` runs it. The first line of its standard input is the order, `{"command": […], …}`;
that pipe stays open for as long as its parent lives. SIGTERM asks the program to end; a second one,
or SIGQUIT, ends it and all that it started at once. It exits with the program's code. It loads nothing but
the standard library, so that it is there at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pathlib
import select
import signal
import subprocess  # ruff: ignore[suspicious-subprocess-import] - to start programs is what it is for
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOK_SECONDS = 0.2
KILL_SECONDS = 5.0
LAST_ORDER_SECONDS = 20.0
SIGNALLED = 128  # and the signal's number: the exit code of a program that a signal ended
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: what is orphaned below us becomes our child
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


class Guard:
    """One program, and everything that it starts."""

    def __init__(self, order: dict[str, Any]) -> None:
        """Start it in a session of its own, so that no key of a terminal reaches it."""
        self.parent = os.getppid()
        self.asked = 0  # how often we were told to end it
        self.is_orphan = False
        self.kill_at: float | None = None
        self.order = order
        _adopt_orphans()
        for number in ENDING:
            signal.signal(number, self._heard)
        self.program: subprocess.Popen[bytes] | None = None
        self.program = subprocess.Popen(  # ruff: ignore[subprocess-without-shell-equals-true] - as ordered
            order["command"], stdin=subprocess.DEVNULL, pass_fds=order.get("keep", ()), start_new_session=True
        )
        if self.asked:
            self._ask(0.0)

    def watch(self) -> int:
        """Wait for its end, or bring it about; nothing that it started is left then."""
        program = self.program
        assert program is not None  # ruff: ignore[assert] - it was started
        while program.poll() is None:
            self._look()
            if self.asked > 1 or (self.kill_at is not None and time.monotonic() >= self.kill_at):
                self._kill_all(program)
        code = program.wait()
        self._kill_all(program)
        if code or self.asked or self.is_orphan:
            for command in self.order.get("finally", ()):
                _run_shortly(command)
        return code if code >= 0 else SIGNALLED - code

    def _heard(self, number: int, _frame: Any) -> None:
        # Two of the same that come at once are one: whoever is in a hurry says SIGQUIT.
        self.asked += 2 if number == signal.SIGQUIT else 1
        if self.asked == 1:
            self._ask(self.order.get("grace", 60.0))

    def _look(self) -> None:
        """Wait a little; where the parent is gone, the program goes too."""
        ready: Sequence[Any] = ()
        with contextlib.suppress(InterruptedError):
            ready, _, _ = select.select([] if self.is_orphan else [sys.stdin], [], [], LOOK_SECONDS)
        gone = (ready and not os.read(sys.stdin.fileno(), 1)) or os.getppid() != self.parent
        if gone and not self.is_orphan:
            self.is_orphan = True
            self._ask(self.order.get("orphan_grace", 6.0))

    def _ask(self, grace: float) -> None:
        """Ask the program to end, and decide when it is no longer asked."""
        kill_at = time.monotonic() + grace
        self.kill_at = kill_at if self.kill_at is None else min(self.kill_at, kill_at)
        with contextlib.suppress(ProcessLookupError):
            if self.program is not None:
                self.program.send_signal(signal.SIGTERM)

    def _kill_all(self, program: subprocess.Popen[bytes]) -> None:
        """End everything below us; what dies leaves us its children, so it takes several looks."""
        until = time.monotonic() + KILL_SECONDS
        while time.monotonic() < until:
            below = _descendants(os.getpid())
            if not below and program.poll() is not None:
                return
            for pid in below or [program.pid]:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            program.poll()
            _reap(program.pid)
            time.sleep(0.02)


def _adopt_orphans() -> None:
    """Where the system can do that; elsewhere what hides from us stays hidden."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _processes() -> list[int]:
    """Those that this system shows; none where it has no such folder."""
    try:
        return [int(path.name) for path in pathlib.Path("/proc").iterdir() if path.name.isdigit()]
    except OSError:
        return []


def _descendants(root: int) -> list[int]:
    """The processes below one, by what the system says of parents; those that ended already are none."""
    children: dict[int, list[int]] = {}
    for pid in _processes():
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            if fields[0] not in {b"Z", b"X"}:
                children.setdefault(int(fields[1]), []).append(pid)
    found, looked_at = [], [root]
    while looked_at:
        below = children.get(looked_at.pop(), [])
        found += below
        looked_at += below
    return found


def _reap(but: int) -> None:
    """Take the exit codes of what we adopted; the program's own is waited for elsewhere."""
    for pid in _processes():
        if pid != but:
            with contextlib.suppress(ChildProcessError, OSError):
                os.waitpid(pid, os.WNOHANG)


def _run_shortly(command: list[str]) -> None:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(  # ruff: ignore[subprocess-without-shell-equals-true] - as ordered
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=LAST_ORDER_SECONDS, check=False,
        )  # fmt: skip


def main() -> int:
    """Guard what the order names; what cannot be started ends as in a shell."""
    line = bytearray()
    while not line.endswith(b"\n"):
        if not (part := os.read(sys.stdin.fileno(), 1 << 16)):
            return SIGNALLED + signal.SIGTERM  # the parent is gone already
        line += part
    order = json.loads(line)
    try:
        guard = Guard(order)
    except OSError as error:
        sys.stdout.write(f"error[tool_missing]: {order['command'][0]}: {error.strerror}\n")
        return 127 if isinstance(error, FileNotFoundError) else 126
    return guard.watch()
