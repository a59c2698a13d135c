"""What others do on this machine while something is measured: a figure from beside them is none."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Self

from attrs import frozen

MOST_BESIDE = 0.4  # cores that others may use; beside more, a round is dropped
_TICKS = os.sysconf("SC_CLK_TCK")
_IDLE = slice(3, 5)  # idle, and waiting for the disk
_GUESTS = 8  # what comes from here on is counted before already
_PARENT, _USED = 1, slice(11, 15)  # of a process, behind its name


@frozen
class Watch:
    """Begins with the block that is measured; children count as ours, as do the servers that are named."""

    servers: tuple[int, ...]  # process ids
    wall: float
    all: float  # seconds of all cores, whoever used them
    ours: float

    @classmethod
    def start(cls, *servers: int) -> Self:
        """Look at the clocks."""
        return cls(servers, perf_counter(), _all_seconds(), _our_seconds(servers))

    def cores_of_others(self) -> float:
        """How many cores others have used on average since then."""
        now = Watch.start(*self.servers)
        theirs = (now.all - self.all) - (now.ours - self.ours)
        return max(0.0, theirs / (now.wall - self.wall))


def _all_seconds() -> float:
    ticks = [
        int(each) for each in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    ]
    return (sum(ticks[:_GUESTS]) - sum(ticks[_IDLE])) / _TICKS


def _our_seconds(servers: tuple[int, ...]) -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used) + sum(map(seconds_of, servers))


def seconds_of(server: int) -> float:
    """What a process and its children have used, those included that have ended."""
    used = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if server in {int(path.parent.name), int(fields[_PARENT])}:
                used += sum(map(int, fields[_USED]))
    return used / _TICKS


def busy_ms(pid: int) -> float:
    """For how long the threads of a process had a core."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((each / "schedstat").read_text().split()[0]) for each in tasks) / 1_000_000
