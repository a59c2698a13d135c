"""Which process is this, and is that one gone? A process id alone says neither: ids come round again."""

from __future__ import annotations

import os
import re
import socket
from functools import lru_cache
from pathlib import Path
from secrets import token_hex

from attrs import astuple, evolve, frozen

LOCK_PREFIX = "vitrine:"  # marks a lock as ours
_TOKEN = re.compile(r"vitrine:(?P<host>[^:]*):(?P<pid>\d+):(?P<start>[^:]*):(?P<session>.*):(?P<nonce>[^:]*)")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PID_NAMESPACE = Path("/proc/self/ns/pid")


@frozen
class ProcessMark:
    """One run of one process, told from every other."""

    host: str
    boot: str  # the machine's start; empty where the system does not say
    namespace: str  # containers count their processes apart
    pid: int
    started: str  # the process's start; empty where the system does not say

    @property
    def text(self) -> str:
        """As it is stored."""
        return "|".join(map(str, astuple(self)))

    def shares_processes_with(self, other: ProcessMark) -> bool:
        """Whether both see the same processes under the same ids."""
        return (self.host, self.boot, self.namespace) == (other.host, other.boot, other.namespace)


@frozen
class Holder:
    """Who stands behind a lock's value."""

    host: str
    pid: int
    session_id: str


def this_process() -> str:
    """The running process, told from every other; also after a fork."""
    return _mark(os.getpid()).text


def process_mark(pid: int) -> str:
    """Another process of this machine, told from every other."""
    return evolve(_mark(os.getpid()), pid=pid, started=_started(pid) or "").text


def new_token(session_id: str) -> str:
    """A lock's value: which run of which process, for which session, and once (SPEC A7)."""
    return f"{_token_start()}{session_id}:{token_hex(8)}"


def is_own(value: str) -> bool:
    """Whether this very process set that lock."""
    return value.startswith(_token_start())


def is_ours(value: str) -> bool:
    """Whether a Vitrine session set this lock; others keep to the same keys without renewing."""
    return value.startswith(LOCK_PREFIX)


def holder_of(value: str) -> Holder | None:
    """The holder as its lock's value names it; None where another system set it."""
    found = _TOKEN.fullmatch(value)
    return Holder(found["host"], int(found["pid"]), found["session"]) if found else None


def is_gone(mark_text: str | None) -> bool:
    """Whether that process has certainly ended; False where it cannot be known from here."""
    mark = _parsed(mark_text)
    if mark is None or not _mark(os.getpid()).shares_processes_with(mark):
        return False
    return _started(mark.pid) != mark.started if mark.started else not _exists(mark.pid)


def _token_start() -> str:
    mark = _mark(os.getpid())
    return f"{LOCK_PREFIX}{mark.host}:{mark.pid}:{mark.boot[:8]}-{mark.started}:"


@lru_cache(maxsize=8)
def _mark(pid: int) -> ProcessMark:
    host = socket.gethostname().replace(":", "-").replace("|", "-") or "localhost"
    return ProcessMark(host, _boot_id(), _namespace(), pid, _started(pid) or "")


def _parsed(text: str | None) -> ProcessMark | None:
    parts = (text or "").split("|")
    if len(parts) != 5 or not parts[3].isdigit():  # ruff: ignore[magic-value-comparison] - the mark's fields
        return None
    host, boot, namespace, pid, started = parts
    return ProcessMark(host, boot, namespace, int(pid), started)


def _started(pid: int) -> str | None:
    """When a process began, in clock ticks since boot; None when it ended or the system does not say."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    # The name in parentheses may hold anything; state is the first field after it, start time the 20th.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else fields[19]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return str(_PID_NAMESPACE.stat().st_ino)
    except OSError:
        return ""
