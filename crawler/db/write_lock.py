"""One writer at a time across processes, first come first served, with a limit to the wait."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawler.errors import LockedError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


class WriteLock:
    """A lock on a file; the kernel frees it when its holder dies.

    Threads of one process pass an ordinary lock first, which costs them next to nothing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inside = threading.Lock()

    @contextmanager
    def held(self, timeout: float) -> Generator[None]:
        """Hold the lock, or raise LockedError after `timeout` seconds of waiting for it."""
        until = time.monotonic() + timeout
        if not self._inside.acquire(timeout=timeout):
            raise self._too_long(timeout)
        try:
            file = self._open()
            try:
                if not _try_lock(file) and not _wait_in_queue(file, until - time.monotonic()):
                    raise self._too_long(timeout)
                yield
            finally:
                os.close(file)  # closing releases
        finally:
            self._inside.release()

    def _too_long(self, timeout: float) -> LockedError:
        return LockedError(
            f"somebody else has been writing for {timeout:g} seconds ({self._path})",
            hint="look for a stopped vitrine or scrapy process",
        )

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self._path, flags, 0o644)
        except FileNotFoundError:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, flags, 0o644)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_in_queue(file: int, timeout: float) -> bool:
    """Wait in the kernel's queue, which is fair, in a thread, which can be given up on.

    A waiter that was given up on locks a duplicate of the descriptor, and lets it go at once.
    """
    queued = os.dup(file)
    done = threading.Event()

    def wait() -> None:
        fcntl.flock(queued, fcntl.LOCK_EX)
        os.close(queued)
        done.set()

    threading.Thread(target=wait, name="write-lock", daemon=True).start()
    return done.wait(timeout)
