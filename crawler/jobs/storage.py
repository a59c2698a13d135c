"""What an archive's folder holds beside its files: its log and its lock. No link is followed."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from crawler import logs
from crawler.access.process import is_gone, process_mark
from crawler.engines.state import STATE_FILE
from crawler.engines.statistics import MAX_LINE_CHARS, statistics_of
from crawler.errors import LockedError
from crawler.evidence.archive_folders import logs_in
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from datetime import datetime
    from pathlib import Path

    from crawler.engines.statistics import Statistics

LOCK_FILE = ".archive.lock"
STAMP = "%Y%m%dT%H%M%S%fZ"
PATIENCE_SECONDS = 15.0  # with an engine that was left behind
MAX_LOCK_BYTES = 4096
_BLOCK = 64 * 1024
_STEERING = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "�")

log = logs.get_logger(__name__)


class ArchiveBusyError(LockedError):
    """Somebody else writes to that archive."""

    code = "archive_busy"


@contextmanager
def locked(folder: Path) -> Generator[int]:
    """Hold an archive's lock; an engine that a dead worker left behind is ended first.

    The tool inherits the descriptor, so that the lock is held for as long as anything may write.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder / LOCK_FILE, flags, 0o640)
    try:
        _take(descriptor, folder)
        yield descriptor
    finally:
        os.close(descriptor)


def note_guard(descriptor: int, pid: int) -> None:
    """Write into the lock who ends what runs under it."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps({"guard": process_mark(pid)}).encode(), 0)


def _take(descriptor: int, folder: Path) -> None:
    until, asked = time.monotonic() + PATIENCE_SECONDS, 0
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise ArchiveBusyError(f"something else still writes to {folder}") from None
            asked += _end_left(descriptor, asked)
            time.sleep(0.1)
        else:
            return


def _end_left(descriptor: int, asked: int) -> int:
    """Tell the guard of what was left behind to end it at once; once is enough."""
    said: Any = None
    with suppress(ValueError, OSError, RecursionError):
        said = json.loads(os.pread(descriptor, MAX_LOCK_BYTES, 0))
    mark = said.get("guard") if isinstance(said, dict) else None
    pid = pid_here(mark) if isinstance(mark, str) else None
    if pid is None or asked:
        return 0
    log.warning("job.engine_left_behind", guard=pid)
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGQUIT)
    return 1


def pid_here(mark: str) -> int | None:
    """The id of a process that runs on this machine, by its mark."""
    parts = mark.split("|")
    if len(parts) != 5 or not parts[3].isdigit() or is_gone(mark):  # ruff: ignore[magic-value-comparison] - the mark's fields
        return None
    pid = int(parts[3])
    return pid if process_mark(pid) == mark else None


class CombinedLog:
    """All that the tool says, without passwords, fit for a terminal."""

    def __init__(self, folder: Path, stage: str, now: datetime) -> None:
        self.path = folder / f"archive_{stage}_{now.strftime(STAMP)}.combined.log"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self.error: OSError | None = None  # from where on lines are lost
        self._file = os.open(self.path, flags, 0o640)

    def write(self, raw: bytes) -> str:
        """Keep a line; the text that may be shown.

        A disk that takes no more is found out by who archives, and ended in order; a log ends nothing.
        """
        text = redacted(raw.decode("utf-8", "replace").translate(_STEERING))
        left = memoryview(text.encode() + b"\n")
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            self.error = error
        return text

    def close(self) -> None:
        """No more comes."""
        with suppress(OSError):
            os.close(self._file)


def last_statistics(folder: Path, since: float) -> tuple[Path, Statistics] | None:
    """The newest log that was written since then and has statistics, and their last line."""
    for path in logs_in(folder, since):
        said = next((said for line in lines_backwards(path) if (said := statistics_of(line))), None)
        if said is not None:
            return path, said
    return None


def lines_backwards(path: Path) -> Iterator[str]:
    """The lines of a file, the last one first; of a line that is too long only its end."""
    with path.open("rb") as file:
        at, rest = file.seek(0, os.SEEK_END), b""
        while at > 0:
            size = min(_BLOCK, at)
            at -= size
            file.seek(at)
            first, *whole = (file.read(size) + rest).split(b"\n")
            yield from (line.decode("utf-8", "replace") for line in reversed(whole))
            rest = first[-MAX_LINE_CHARS:]
        yield rest.decode("utf-8", "replace")


def state_path(folder: Path) -> str | None:
    """Where the tool's memory lies, if it has one."""
    path = folder / STATE_FILE
    return str(path) if path.is_file() else None
