"""Which processes are below another one, and their end."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

STATE, PARENT, SESSION = 0, 1, 3  # places in /proc/…/stat, after the name
OVER = {"Z", "X"}  # it only waits to be taken


def facts_of(pid: int) -> list[str]:
    """What the system says of a process, from its state on; nothing of one that is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return []


def below(pid: int, *, in_session: int | None = None) -> list[int]:
    """The living processes below one; on request only those of a session, and what is below these."""
    children: dict[int, list[int]] = {}
    for each in (int(folder.name) for folder in Path("/proc").glob("[0-9]*")):
        facts = facts_of(each)
        if facts and facts[STATE] not in OVER and in_session in {None, int(facts[SESSION])}:
            children.setdefault(int(facts[PARENT]), []).append(each)
    found, looked_at = [], [pid]
    while looked_at:
        nearest = children.get(looked_at.pop(), [])
        found += nearest
        looked_at += nearest
    return found


def kill(pids: Iterable[int]) -> None:
    """Whoever of them is still there is killed."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
