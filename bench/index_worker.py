"""One pass of `bench.index`, in a process of its own: it waits for a line, and its last line is the figures.

With `again` it reads what it knows over and over, until its standard input ends; with `memory` it says on the
way how many MiB it and what it has started have taken at most. With `near` the server's processes that work
for it, which otherwise run where they like, have the cores that it has itself.
"""

from __future__ import annotations

import json
import os
import resource
import select
import sys
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

from crawler.archive.warc_indexing import JobPass, index_job
from crawler.db.engine import Database

if TYPE_CHECKING:
    from crawler.archive.warc_indexing import JobResult


def main(*given: str) -> None:
    """Index a job whose crawl is over."""
    url, job, source, folder, how = given
    database = Database(url)
    serving = _serving(database, near=how == "near")
    order = JobPass(job_id=int(job), source_id=int(source), output_dir=Path(folder), again=how == "again")
    print("ready", flush=True)
    sys.stdin.readline()
    began, before, pages = time.perf_counter(), _cpu(serving), 0
    while True:
        pages += index_job(
            database, order, lambda _: None, _look if how == "memory" else lambda _: None
        ).pages
        if how != "again" or _ended():
            break
    seconds = time.perf_counter() - began
    print(json.dumps({"pages": pages, "seconds": seconds, "cpu": _cpu(serving) - before}), flush=True)


def _serving(database: Database, *, near: bool) -> list[int]:
    """The server's processes that work for this one, as they come."""
    found: list[int] = []

    def see(connection: Any, _: object) -> None:
        found.append(connection.info.backend_pid)
        if near:
            os.sched_setaffinity(found[-1], os.sched_getaffinity(0))

    if not database.is_sqlite:
        event.listen(database.engine, "connect", see)
    return found


def _cpu(serving: list[int]) -> float:
    """Seconds of this process, of its readers that have ended, and of what the server did for it."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ticks = 0
    for pid in serving:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return sum(each.ru_utime + each.ru_stime for each in used) + ticks / os.sysconf("SC_CLK_TCK")


def _look(so_far: JobResult) -> None:
    own = os.getpid()
    tasks = Path(f"/proc/{own}/task").iterdir()
    started = chain.from_iterable((each / "children").read_text(encoding="utf-8").split() for each in tasks)
    every = [own, *map(int, started)]
    print(json.dumps({"pages": so_far.pages, "mib": sum(map(_peak, every))}), flush=True)


def _peak(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _ended() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
