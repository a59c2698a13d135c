"""Workers of a run that are killed and stopped at random: nothing is lost, and nothing is stored twice."""

from __future__ import annotations

import random
import signal
import time
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select, text
from warcio.archiveiterator import ArchiveIterator

from crawler.db.engine import Database
from crawler.db.models import Artifact, Page, Run, Task
from crawler.evidence.bodies import Bodies
from crawler.evidence.files import sha256
from crawler.evidence.folder_store import FolderStore
from tests.e2e.farm import QUICK_RUNS, Farm, farm, sources_file
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.conftest import Home

TTL_SECONDS = 2
QUICK = {
    **QUICK_RUNS,
    "DOMAIN_LOCK_TTL_SECONDS": str(TTL_SECONDS),
    "TASK_LEASE_SECONDS": str(TTL_SECONDS),
    "SESSIONS_AT_ONCE": "6",
}
STILL_SECONDS = 120  # a run that asks for nothing for so long stands still, however busy the machine is
SLOWLY = 1.0  # seconds between a site's pages, so that forty can be killed before all is done


class Gang:
    """Worker processes of one run."""

    def __init__(self, home: Home, run_id: int, size: int, delay: float) -> None:
        self.home = home
        log = home.path / "workers.log"
        settings = ("-s", f"DOWNLOAD_DELAY={delay}", "-s", f"LOG_FILE={log}")
        self.arguments = ("crawl", "site", "-a", f"run_id={run_id}", *settings)
        self.workers = [home.start_scrapy(*self.arguments) for _ in range(size)]

    def kill_one(self, chance: random.Random) -> bool:
        """Kill one that is alive, and start another in its place; False when all have come to their end."""
        alive = [worker for worker in self.workers if worker.poll() is None]
        if not alive:
            return False
        victim = chance.choice(alive)
        if chance.random() < 0.2:  # a process that stands still for so long has lost all that it held
            victim.send_signal(signal.SIGSTOP)
            time.sleep(2 * TTL_SECONDS)
            victim.send_signal(signal.SIGCONT)
            return True
        victim.kill()
        victim.communicate()
        self.workers[self.workers.index(victim)] = self.home.start_scrapy(*self.arguments)
        return True

    def kill_all(self) -> bool:
        """No process is left that could give anything back; as many others begin. False where all is over."""
        if all(worker.poll() is not None for worker in self.workers):
            return False
        for worker in self.workers:
            worker.kill()
        for worker in self.workers:
            worker.communicate()
        self.workers = [self.home.start_scrapy(*self.arguments) for _ in self.workers]
        return True

    def close(self) -> None:
        """Nothing goes on after the test."""
        for worker in self.workers:
            worker.send_signal(signal.SIGCONT)
            worker.kill()
            worker.communicate()


def begun(home: Home, sites: Farm, tmp_path: Path, database: Database) -> int:
    """The id of a run of all sites that somebody began, and left at once."""
    home.extra["SOURCES_FILE"] = sources_file(sites, tmp_path)
    assert home.vitrine("db", "upgrade").returncode == 0
    process = home.start_scrapy("crawl", "site", "-a", "source=farm", "-s", "LOG_LEVEL=ERROR")
    try:
        run_id: int = wait_for(lambda: newest_run(database))
    finally:
        process.kill()
        process.communicate()
    return run_id


def newest_run(database: Database) -> int | None:
    """The id of the run, as soon as there is one."""
    with database.read() as db:
        return db.scalar(select(Run.id))


def torture(
    home: Home,
    sites: Farm,
    tmp_path: Path,
    database: Database,
    *,
    workers: int,
    kills: int,
    delay: float = 0.01,
    together: bool = False,
) -> int:
    """Kill workers so often, let the others come to the end, and look at what is stored; how often it was.

    All of them die together in the middle, where that is wanted.
    """
    home.extra.update(QUICK)
    home.path.mkdir(parents=True, exist_ok=True)
    chance = random.Random(7)
    gang = Gang(home, begun(home, sites, tmp_path, database), workers, delay)
    try:
        killed = 0
        share = len(sites.starts) * sites.pages // (2 * kills + 1)
        while killed < kills:
            go_on(sites, gang, chance.randint(1, share))
            time.sleep(chance.uniform(0, 0.05))
            is_for_all = together and killed == kills // 2
            if not (gang.kill_all() if is_for_all else gang.kill_one(chance)):
                break
            killed += 1
        come_to_the_end(sites, gang, database)
    finally:
        gang.close()
    assert killed >= kills / 2, "there was not enough to do for so many kills"
    look_at_what_is_stored(home, database, len(sites.starts) * sites.pages)
    return killed


def go_on(sites: Farm, gang: Gang, requests: int) -> None:
    """Wait until so many more requests have come, so that there is something to kill, however quick it is."""
    until = sites.asked.total() + requests
    while sites.asked.total() < until and any(worker.poll() is None for worker in gang.workers):
        time.sleep(0.005)


def come_to_the_end(sites: Farm, gang: Gang, database: Database) -> None:
    """Wait for all workers, for as long as the sites are asked for pages."""
    asked, since = sites.asked.total(), time.monotonic()
    while any(worker.poll() is None for worker in gang.workers):
        if asked < sites.asked.total():
            asked, since = sites.asked.total(), time.monotonic()
        if time.monotonic() > since + STILL_SECONDS:
            pytest.fail(f"the run stands still after {asked} requests, tasks {tasks_by_status(database)}")
        time.sleep(0.2)


def tasks_by_status(database: Database) -> dict[str, int]:
    """How many tasks are in each status."""
    with database.read() as db:
        return dict(db.execute(select(Task.status, func.count()).group_by(Task.status)).all())


def look_at_what_is_stored(home: Home, database: Database, pages: int) -> None:
    """Every task is finished, has one page of its own with its files, and there are no other pages."""
    assert tasks_by_status(database) == {"finished": pages}
    with database.read() as db:
        with_result = select(func.count()).select_from(Task).join(Page, Page.id == Task.page_id)
        assert db.scalar(with_result) == pages
        assert db.scalar(select(func.count(func.distinct(Task.page_id)))) == pages
        assert db.scalar(select(func.count()).where(Page.status == "ok")) == pages
        html = select(func.count()).where(Artifact.type == "html_gz", Artifact.page_id.is_not(None))
        recorded = select(func.count()).where(Page.record_id.is_not(None))
        in_files = 0 if IN_WARCS.items() <= home.extra.items() else pages
        assert (db.scalar(html), db.scalar(recorded)) == (in_files, pages - in_files)
        assert db.scalar(select(Run.status)) == "completed"
        missing = [
            uri for uri in db.scalars(select(Artifact.storage_uri)) if not (home.artifacts / uri).is_file()
        ]
        assert not missing
        if database.is_sqlite:
            assert db.scalar(text("PRAGMA integrity_check")) == "ok"
        digests = {row.id: row.content_sha256 for row in db.scalars(select(Page))}
    bodies = Bodies(database, FolderStore(home.artifacts))
    assert {page: sha256(bodies.of_page(page).read()) for page in digests} == digests


IN_WARCS = {"PAGE_STORE": "warc"}


def look_at_the_warcs(home: Home) -> None:
    """Each is sealed once somebody has looked, and nothing in any of them is damaged."""
    assert home.vitrine("warcs", "recover").returncode == 0
    folder = home.path / "warcs"
    assert list(folder.glob("*.open")) == []
    done = home.vitrine("warcs", "verify", str(folder), "--json")
    assert done.returncode == 0, done.stdout
    for path in folder.iterdir():
        with path.open("rb") as file:
            for each in ArchiveIterator(file, check_digests=True):
                each.raw_stream.read()
                assert each.digest_checker.passed is not False


@pytest.fixture
def opened() -> Iterator[Callable[[str], Database]]:
    """Opens databases, and closes them after the test."""
    databases: list[Database] = []

    def open_one(url: str) -> Database:
        databases.append(Database(url))
        return databases[-1]

    yield open_one
    for database in databases:
        database.close()


@pytest.mark.soak
def test_kills_of_several_workers_on_sqlite(
    home: Home, tmp_path: Path, opened: Callable[[str], Database]
) -> None:
    """SPEC D84: on one file too, whose writers pass one lock that the killed must not keep: one, or all."""
    with farm(hosts=4, pages=10) as sites:
        database = opened(f"sqlite:///{home.path / 'vitrine.db'}")
        torture(home, sites, tmp_path, database, workers=2, kills=2, together=True)


@pytest.mark.soak(minutes=40)
def test_many_kills_of_workers_that_write_warcs(
    home: Home, tmp_path: Path, postgres_database: str, opened: Callable[[str], Database]
) -> None:
    """The same with four workers, and forty of them killed."""
    home.extra.update(IN_WARCS, DATABASE_URL=postgres_database)
    database = opened(postgres_database)
    with farm(hosts=50, pages=100) as sites:
        assert torture(home, sites, tmp_path, database, workers=4, kills=40, delay=SLOWLY) == 40
    look_at_the_warcs(home)
