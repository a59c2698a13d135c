"""The whole torture: many domains, four workers, kills and stops at default settings, judged from outside."""

from __future__ import annotations

import gzip
import os
import random
import re
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from attrs import frozen
from sqlalchemy import select

from crawler.db.engine import Database
from crawler.db.models import Artifact, Run, Task
from crawler.runs.rows import living_workers
from tests.e2e.farm import NETWORK, Farm, farm
from tests.e2e.test_run_kills import begun

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.conftest import Home

HOSTS, PAGES, WORKERS, KILLS, STOPS = 32, 30, 4, 20, 10
TIMES = int(os.environ.get("TORTURE_TIMES", "1"))
LONGEST_SECONDS = 1200
SECONDS_BETWEEN = (1.0, 5.0)
# What other tests shorten is as it is by default; only loopback may be asked.
DEFAULTS = {
    "DOMAIN_MIN_DELAY_MS": "2000",
    "DOMAIN_LOCK_BACKOFF_BASE_MS": "1000",
    "DOMAIN_LOCK_TTL_SECONDS": "300",
    "EGRESS_ALLOW": NETWORK,
}
TITLE = re.compile(rb"<title>Page (\d+)</title>")


class Workers:
    """Four processes of one run; whichever ends is started anew until the run is over."""

    def __init__(self, home: Home, run_id: int) -> None:
        self.home = home
        self.arguments = ("crawl", "site", "-a", f"run_id={run_id}", "-s", "LOG_LEVEL=ERROR")
        self.processes: list[subprocess.Popen[str]] = []
        self.start()

    def start(self) -> None:
        """Have four of them."""
        self.processes = [self.home.start_scrapy(*self.arguments) for _ in range(WORKERS)]

    def kill(self, victim: int) -> None:
        """Kill one, and start another in its place."""
        self.processes[victim].kill()
        self.processes[victim].communicate()
        self.processes[victim] = self.home.start_scrapy(*self.arguments)

    def stop(self, run_id: int) -> None:
        """Stop the run, wait for all, and go on with it."""
        self.home.vitrine("runs", "stop", str(run_id))
        self.wait(120)
        self.start()

    def wait(self, seconds: float) -> None:
        """Wait for all to end, as whoever hangs does not."""
        until = time.monotonic() + seconds
        for process in self.processes:
            process.communicate(timeout=max(1, until - time.monotonic()))

    def close(self) -> None:
        """Nothing goes on."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, home: Home) -> Iterator[Database]:
    """One of each kind."""
    url = f"sqlite:///{home.path / 'vitrine.db'}"
    if request.param == "postgresql":
        url = home.extra["DATABASE_URL"] = request.getfixturevalue("postgres_database")
    home.path.mkdir(parents=True, exist_ok=True)
    opened = Database(url)
    yield opened
    opened.close()


@pytest.mark.soak(minutes=60)
@pytest.mark.parametrize("turn", range(1, TIMES + 1))
def test_kills_and_stops_at_default_settings(
    home: Home, tmp_path: Path, database: Database, figures: Callable[[str], None], turn: int
) -> None:
    """Every page that the sites serve is stored exactly once, or the run says which are not."""
    home.extra.update(DEFAULTS)
    began = time.monotonic()
    with farm(HOSTS, PAGES) as sites:
        run_id = begun(home, sites, tmp_path, database)
        workers = Workers(home, run_id)
        try:
            done = torture(workers, run_id, database)
            workers.wait(LONGEST_SECONDS)
        finally:
            workers.close()
        for _ in range(3):  # the last may have been stopped, or have left something to be waited for
            if standing(database) != "completed":
                home.scrapy(*workers.arguments, timeout=LONGEST_SECONDS)
        found = judged(home, sites, database)
        figures(f"{done}, {time.monotonic() - began:.0f} s; {found}")
        found.require()


def torture(workers: Workers, run_id: int, database: Database) -> str:
    """Kill and stop at random, as long as the run goes on; how often that was."""
    chance = random.Random()  # another time each time
    acts = ["kill"] * KILLS + ["stop"] * STOPS
    chance.shuffle(acts)
    done: Counter[str] = Counter()
    for act in acts:
        time.sleep(chance.uniform(*SECONDS_BETWEEN))
        if standing(database) == "completed":
            break
        if act == "kill":
            workers.kill(chance.randrange(WORKERS))
        elif is_at_work(database):  # a worker that still starts would take up what was stopped before
            workers.stop(run_id)
        else:
            continue
        done[act] += 1
    return f"{done['kill']} kills, {done['stop']} stops"


def is_at_work(database: Database) -> bool:
    """Whether all workers have come, within a while."""
    until = time.monotonic() + 60
    while time.monotonic() < until and standing(database) != "completed":
        with database.read() as db:
            if len(living_workers(db, 1, db.now)) == WORKERS:
                return True
        time.sleep(0.2)
    return False


def standing(database: Database) -> str | None:
    """The run's status."""
    with database.read() as db:
        return db.scalar(select(Run.status))


@frozen
class Found:
    """What the sites served and the files hold of it; only what is not stored is asked of the run."""

    status: str | None
    served: frozenset[str]
    requests: int
    stored: Counter[str]  # by files that a row stands for
    unclaimed: int  # files whose worker died before their rows: cleaned up after a day
    named: frozenset[str]  # by the run, as its errors

    @property
    def lost(self) -> frozenset[str]:
        """What was served, and is not stored."""
        return self.served - self.stored.keys()

    @property
    def twice(self) -> dict[str, int]:
        """What is stored more than once, and how often."""
        return {page: times for page, times in self.stored.items() if times > 1}

    def __str__(self) -> str:
        """In one line."""
        return (
            f"run {self.status}; {self.requests} requests; {len(self.stored.keys() & self.served)} of "
            f"{len(self.served)} pages stored, {len(self.twice)} twice, {len(self.lost)} not "
            f"({len(self.lost & self.named)} of them named by the run); {self.unclaimed} files without rows"
        )

    def require(self) -> None:
        """Each page is stored once, but for a few that the run names."""
        assert not self.twice
        assert self.unclaimed <= self.requests - len(self.served)
        assert self.status == "completed"
        assert self.lost == self.named & self.served
        assert len(self.named) <= len(self.served) / 100


def judged(home: Home, sites: Farm, database: Database) -> Found:
    """By the files and the sites' own log."""
    hosts = {url.removeprefix("http://").rstrip("/") for url in sites.starts}
    with database.read() as db:
        errors = db.scalars(select(Task.url).where(Task.status == "error"))
        named = frozenset(url.removeprefix("http://") for url in errors)
        claimed = set(db.scalars(select(Artifact.storage_uri)))
    files = list(home.artifacts.rglob("html.gz"))
    ours = [file for file in files if str(file.relative_to(home.artifacts)) in claimed]
    return Found(
        standing(database),
        frozenset(f"{host}/{number or ''}" for host in hosts for number in range(PAGES)),
        sum(times for path, times in sites.asked.items() if not path.endswith("robots.txt")),
        stored_pages(home, ours),
        len(files) - len(ours),
        named,
    )


def stored_pages(home: Home, files: list[Path]) -> Counter[str]:
    """How often each page is stored, by what the files say."""
    stored: Counter[str] = Counter()
    for file in files:
        found = TITLE.search(gzip.decompress(file.read_bytes()))
        domain = file.relative_to(home.artifacts).parts[0].partition("__")[0].replace("_", ":")
        assert found, file
        stored[f"{domain}/{int(found[1]) or ''}"] += 1
    return stored
