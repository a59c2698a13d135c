"""What makes a fork a process like any that is started: whose child it is, its files, its surroundings."""

from __future__ import annotations

import atexit
import fcntl
import io
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import socket

    from tests.forks.wire import Order

PID = Struct("!i")
STREAMS = (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w"))
# The interpreter ignores these two by itself.
CHANGEABLE = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGXFSZ}


def forked_from(asked: socket.socket) -> bool:
    """Whether this is the new process, a child of the one that asked.

    It is forked twice: the one between ends at once, and the system gives its child to the closest ancestor
    that says it takes such, which is who asked.
    """
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        asked.sendall(b"!")
        return False
    between = os.getpid()
    if pid := os.fork():
        try:
            asked.sendall(PID.pack(pid))
            asked.recv(1)  # until it is ready to take the child
        finally:
            os._exit(0)
    while os.getppid() == between:
        time.sleep(0.0002)
    return True


def hide() -> None:
    """Hold no file that somebody reads to its end, and leave interrupts to the others of the group."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    os.close(nowhere)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def become(order: Order, files: list[int]) -> None:
    """Take the surroundings that were ordered."""
    _place(files, order.targets)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    time.tzset()
    os.umask(order.umask)
    if order.session:
        os.setsid()
    elif order.group >= 0:
        os.setpgid(0, order.group)
    for number in CHANGEABLE:
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, signal.SIG_IGN if number in order.ignored else usual)
    sys.argv = ["-c" if order.is_code else "-m", *order.arguments]
    for stream in STREAMS:
        _renew(*stream)


def exit_like_python(code: int) -> NoReturn:
    """End as an interpreter does, but for taking all modules apart: that takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # the interpreter's end knows what to say
    os._exit(code & 0xFF)


def _place(files: list[int], targets: list[int]) -> None:
    """Have the files under the numbers that they should have, and no others."""
    above = max(targets) + 1
    lifted = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, above) for file in files]
    for file, target in zip(lifted, targets, strict=True):
        os.dup2(file, target)
    for number in {int(entry.name) for entry in Path("/proc/self/fd").iterdir()} - set(targets):
        with suppress(OSError):  # that of the listing itself
            os.close(number)


def _renew(name: str, number: int, mode: str) -> None:
    """A stream as the interpreter made it for the template, whose files were none of these."""
    old = getattr(sys, name)
    raw = io.FileIO(number, mode, closefd=False)
    raw.name = f"<{name}>"
    buffered = io.BufferedReader if mode == "r" else io.BufferedWriter
    new = io.TextIOWrapper(
        raw if isinstance(old.buffer, io.RawIOBase) else buffered(raw),
        encoding=old.encoding, errors=old.errors, newline="\n" if mode == "w" else None,
        line_buffering=old.line_buffering, write_through=old.write_through,
    )  # fmt: skip
    new.mode = mode  # type: ignore[misc]
    setattr(sys, name, new)
    setattr(sys, f"__{name}__", new)
