"""Crawls of one small site with a fault at a chosen point, many in one process.

`python -m … URL HOMES FAULT…`: a fault is `point:n` (`commit:3`: the third transaction), with `+` behind it
one that stays. Each crawl has the folder of its fault's name as its home, and is gone on with afterwards
without any fault; what came of both is printed, a line each. With `--die FAULT` the process ends there
instead, and `--finish FAULT…` goes on with such crawls.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import OperationalError as SqliteError
from typing import TYPE_CHECKING, Any

from attrs import define, field
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.project import get_project_settings
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

import crawler.crawl.visits as visits_module
import crawler.runs.domain_slot as slot_module
import crawler.runs.worker as worker_module
from crawler.access.gate import LocalGateUnavailableError
from crawler.access.local_gate import LocalGate
from crawler.db.engine import Database
from crawler.db.models import Artifact, Page, Run, Task
from crawler.evidence.blobs import MARK, as_store_error
from crawler.evidence.bodies import Finding
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.recorded_pages import examine_recorded
from crawler.evidence.warc_shelf import WarcShelf
from tests.e2e.farm import NETWORK

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from crawler.db.engine import Transaction

AT_ONCE = 4
LONGEST_SECONDS = 60
QUICK_TRIES: Any = (0.05, 0.1, 0.1, 0.2, 0.2)
DIED = 9
IN_SHELVES = {"append", "sync", "seal"}
SETTINGS = {
    "LOG_LEVEL": "ERROR",
    "EGRESS_ALLOW": NETWORK,
    "DOMAIN_MIN_DELAY_MS": 0,
    "DOMAIN_LOCK_TTL_SECONDS": 2,
    "TASK_LEASE_SECONDS": 1,
    "TASK_BACKOFF_MIN_SECONDS": 0,
    "TASK_JITTER_SECONDS": 0,
    "TASK_MAX_RETRIES": 5,
    "STORE_PATIENCE_SECONDS": 2,
    "DOWNLOAD_DELAY": 0,
    "PROGRESS_FD": -1,
}


@define
class Fault:
    """What goes wrong in one home, and when."""

    point: str
    n: int = 0
    stays: bool = False
    dies: bool = False
    counted: Counter[str] = field(factory=Counter)

    @classmethod
    def named(cls, name: str, *, dies: bool = False) -> Fault:
        """The fault that a word on the command line means."""
        point, _, number = name.partition(":")
        return cls(point, int(number.rstrip("+")), number.endswith("+"), dies)

    def strikes(self, point: str) -> bool:
        """Whether it happens at this passing of a point."""
        self.counted[point] += 1
        number = self.counted[point]
        is_now = point == self.point and (number >= self.n if self.stays else number == self.n)
        if is_now and self.dies:
            os._exit(DIED)
        return is_now


FAULTS: dict[Path, Fault] = {}  # by home; a home without one has no faults


def fault_of(path: Path | None) -> Fault:
    """The fault of the home that a path lies in."""
    return next((FAULTS[home] for home in FAULTS if path and path.is_relative_to(home)), Fault("none"))


def disk_error() -> OperationalError:
    """What a database says whose disk is broken."""
    return OperationalError("COMMIT", {}, SqliteError("disk I/O error"))


def break_the_database() -> None:
    """Transactions fail before their commit, or after it, when only the answer gets lost."""
    write = Database.write

    @contextmanager
    def broken(self: Database) -> Generator[Transaction]:
        fault = fault_of(self.path)
        with write(self) as session:
            yield session  # ruff: ignore[fallible-context-manager] - what is raised in it goes to `write`
            if fault.strikes("commit"):
                raise disk_error()
        if fault.strikes("answer"):
            raise disk_error()

    Database.write = broken  # type: ignore[method-assign]


def break_the_files() -> None:
    """Files cannot be written: the disk is full, or broken."""
    publish_all = FolderStore.publish_all

    def broken(self: FolderStore, files: Mapping[str, bytes]) -> None:
        if set(files) == {MARK}:  # what a store is known by; the first page comes after it
            publish_all(self, files)
            return
        fault = fault_of(self.root)
        for point, code in (("full", errno.ENOSPC), ("io", errno.EIO)):
            if fault.strikes(point):
                raise as_store_error(OSError(code, os.strerror(code)), next(iter(files)))
        publish_all(self, files)

    FolderStore.publish_all = broken  # type: ignore[method-assign]


def break_the_shelf() -> None:
    """WARC files cannot be appended to, flushed or sealed; or the process dies just before, or just after."""
    for name, point in (("_append", "append"), ("sync", "sync"), ("_seal", "seal")):
        setattr(WarcShelf, name, broken_step(getattr(WarcShelf, name), point))


def broken_step(step: Callable[..., Any], point: str) -> Callable[..., Any]:
    """A step of a shelf that may fail before it did its work, or be the last thing that its process did."""

    def broken(self: WarcShelf, *arguments: Any) -> Any:
        fault = fault_of(self.folder)
        if fault.strikes(point):
            raise as_store_error(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "a.warc.gz")
        done = step(self, *arguments)
        if fault.dies:
            fault.strikes(f"{point}-done")
        return done

    return broken


def settings_of(home: Path) -> dict[str, str]:
    """Pages lie in WARC files where these are what fails."""
    point = home.name.partition(":")[0].partition("-")[0]
    return {"PAGE_STORE": "warc"} if point in IN_SHELVES else {}


def break_the_gate() -> None:
    """The gate does not answer, or its answer gets lost."""
    for name in ("acquire", "extend", "release"):
        setattr(LocalGate, name, broken_call(getattr(LocalGate, name)))


def broken_call(call: Callable[..., Any]) -> Callable[..., Any]:
    """A call of the gate that may fail before or after it did its work."""

    def broken(self: LocalGate, *arguments: Any, **named: Any) -> Any:
        fault = fault_of(self._database.path)
        if fault.strikes("gate"):
            raise LocalGateUnavailableError("the gate is away")
        answer = call(self, *arguments, **named)
        if fault.strikes("gate-answer"):
            raise LocalGateUnavailableError("the answer got lost")
        return answer

    return broken


def be_quick() -> None:
    """No fault is waited for longer than needed."""
    visits_module.END_WAITS = QUICK_TRIES
    worker_module.LOOK_SECONDS = slot_module.LOOK_SECONDS = 0.1
    worker_module.BUSY_SECONDS = 0.1
    worker_module.GATE_PATIENCE_SECONDS = 2.0


async def crawl(url: str, home: Path, **arguments: str) -> float | None:
    """One crawl; how long it took, None when it did not come to its end."""
    process = PROCESSES[0]
    began = time.monotonic()
    crawler = process.create_crawler("site")
    settings = {**SETTINGS, **settings_of(home), "VITRINE_HOME": str(home)}
    crawler.settings.setdict(settings, priority="cmdline")
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            await process.crawl(crawler, start_url=url, **arguments)
    except TimeoutError:
        return None
    return time.monotonic() - began


PROCESSES: list[AsyncCrawlerProcess] = []


async def suffer(url: str, home: Path, name: str) -> dict[str, Any]:
    """Crawl with a fault, then without."""
    FAULTS[home] = fault = Fault.named(name)
    seconds = await crawl(url, home)
    counted = dict(fault.counted)
    del FAULTS[home]
    faulty = state(home)
    if faulty["status"] != "completed":
        await crawl(url, home, resume="1")
    return {"fault": name, "seconds": seconds, "counted": counted, "faulty": faulty, "after": state(home)}


def state(home: Path) -> dict[str, Any]:
    """What is stored of the newest run, and whether every row has its file."""
    database = Database(f"sqlite:///{home / 'vitrine.db'}")
    with database.read() as db:
        run = db.scalars(select(Run).order_by(Run.id.desc()).limit(1)).first()
        rows = select(Task.status, func.count()).where(Task.run_id == (run.id if run else 0))
        tasks = dict(db.execute(rows.group_by(Task.status)).all())
        of_tasks = select(func.count(func.distinct(Task.page_id))).where(Task.page_id.is_not(None))
        files = db.scalars(select(Artifact.storage_uri))
        found = {
            "status": run.status if run else None,
            "last_error": run.last_error if run else None,
            "tasks": tasks,
            "pages": db.scalar(select(func.count()).where(Page.status == "ok")),
            "of_tasks": db.scalar(of_tasks),
            "runs": db.scalar(select(func.count()).select_from(Run)),
        }
        missing = [uri for uri in files if not (home / "artifacts" / uri).is_file()]
    damaged = [each.page.url for each in examine_recorded(database) if each.finding is not Finding.INTACT]
    database.close()
    return {**found, "missing": [*missing, *damaged]}


async def finish(url: str, home: Path, name: str) -> dict[str, Any]:
    """Go on with a crawl whose process died."""
    faulty = state(home)
    seconds = await crawl(url, home, resume="1")
    return {"fault": name, "seconds": seconds, "faulty": faulty, "after": state(home)}


async def all_of(url: str, homes: Path, names: list[str], work: Callable[..., Any]) -> None:
    """Every fault, several at a time."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> None:
        async with slots:
            told = await work(url, homes / name, name)
            sys.stdout.write(json.dumps(told) + "\n")

    await asyncio.gather(*(one(name) for name in names))


async def do(url: str, homes: Path, names: list[str]) -> None:
    """What the command line asks for."""
    if names[0] == "--die":
        home = homes / names[1]
        FAULTS[home] = Fault.named(names[1], dies=True)
        await crawl(url, home)
    elif names[0] == "--finish":
        await all_of(url, homes, names[1:], finish)
    else:
        await all_of(url, homes, names, suffer)


def main() -> None:
    """See the module."""
    url, folder, *names = sys.argv[1:]
    break_the_database()
    break_the_files()
    break_the_gate()
    break_the_shelf()
    be_quick()
    settings = get_project_settings()
    settings.setdict(SETTINGS, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    PROCESSES.append(process)
    from twisted.internet import reactor

    async def work() -> None:
        try:
            await do(url, Path(folder), names)
        finally:
            reactor.stop()  # type: ignore[misc]

    reactor.callWhenRunning(lambda: asyncio.ensure_future(work()))
    process.start(stop_after_crawl=False, install_signal_handlers=False)


if __name__ == "__main__":
    main()
