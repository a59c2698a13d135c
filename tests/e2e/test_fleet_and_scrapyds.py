"""Out of the laptop, all at once: two scrapyds and four workers on a PostgreSQL, a Redis and forty shops.

Whoever is killed meanwhile, and while Redis is away: each session ends, nothing is lost, and by the shops'
own access logs no domain is visited by two at once, nor sooner after the last visit than its delay.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
import redis
from attrs import define, field, frozen
from sqlalchemy import select

from crawler.db.models import Run, Task
from crawler.demo import NETWORK, serve
from crawler.demo.requestlog import Seen
from tests.e2e.conftest import QUICK, Home, rows
from tests.e2e.test_fleet import KEY, assert_nothing_left
from tests.e2e.test_interruptions import assert_consistent, shop_urls
from tests.programs.scrapyd import PROJECT, Scrapyd, bare_python, clone, deploy, own_scrapyd
from tests.servers import own_redis
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator
    from pathlib import Path
    from uuid import UUID

    from crawler.demo import DemoServer
    from tests.servers import Server

    Process = subprocess.Popen[str]

pytestmark = pytest.mark.soak(minutes=30)
SHOPS, TURNS, SITES, WORKERS = 40, 2, 8, 4
KILLS = 12
JOB_EVERY = 3  # each third of those killed is a job of a scrapyd
BETWEEN_VISITS = 1.0  # seconds
PATIENCE = 900.0  # a hang, and not a slow machine, takes longer
TRIES = 6  # of a job whose run was not over
SURROUNDINGS = {
    **QUICK, "EGRESS_ALLOW": NETWORK, "DOMAIN_LOCK_TTL_SECONDS": "15", "FLEET_MAX_DEATHS": "100",
    "DOMAIN_MIN_DELAY_MS": str(int(BETWEEN_VISITS * 1000)),
}  # fmt: skip
POLITE = "DOWNLOAD_DELAY=0.2"


@pytest.fixture
def forty() -> Generator[DemoServer]:
    """Forty numbered shops."""
    with serve(bulk=SHOPS) as server:
        yield server


@pytest.fixture
def remembering() -> Generator[Server]:
    """A Redis that finds its data again."""
    with own_redis(persistent=True) as server:
        yield server


@pytest.fixture
def common(tmp_path: Path, postgres_database: str, remembering: Server) -> Home:
    """What all processes share."""
    home = Home(tmp_path / "home")
    home.path.mkdir()
    home.extra.update(SURROUNDINGS, DATABASE_URL=postgres_database, REDIS_URL=remembering.url)
    return home


@pytest.fixture
def scrapyds(common: Home, tmp_path: Path) -> Generator[list[Scrapyd]]:
    """Two of them, each with the project deployed."""
    python, tree = bare_python(tmp_path / "bare"), clone(tmp_path / "clone")
    said = {**common.extra, "VITRINE_HOME": str(common.path)}
    with own_scrapyd(python, said) as one, own_scrapyd(python, said) as other:
        for scrapyd in (one, other):
            assert json.loads(deploy(tree, scrapyd, "1.0"))["status"] == "ok"
        yield [one, other]


@define
class Crew:
    """The processes at work; each has a user agent of its own, by which the shops tell them apart."""

    home: Home
    scrapyds: list[Scrapyd]
    endings: list[Process]
    dice: random.Random
    workers: list[Process] = field(factory=list)
    jobs: dict[str, tuple[Scrapyd, str]] = field(factory=dict)  # by the start of their site: where, and which
    begun: int = 0
    jobs_killed: int = 0

    def worker(self) -> Process:
        """A worker of the fleet."""
        self.begun += 1
        log = self.home.path / f"worker-{self.begun}.log"
        process = self.home.start_scrapy(
            "crawl", "pdp", "-s", "FLEET=1", "-s", "SESSIONS_AT_ONCE=4", "-s", POLITE,
            "-s", f"USER_AGENT=worker-{self.begun}", "-s", f"LOG_FILE={log}",
        )  # fmt: skip
        self.endings.append(process)
        return process

    def job(self, start: str) -> None:
        """Have one scrapyd, and the next time the other, begin the run of a site, or go on with it."""
        self.begun += 1
        scrapyd = self.scrapyds[self.begun % len(self.scrapyds)]
        agent = f"USER_AGENT=job-{self.begun}"
        job = scrapyd.schedule("site", POLITE, agent, start_url=start, max_pages="6", resume="1")
        self.jobs[start] = (scrapyd, job)

    def kill_worker(self) -> None:
        """Let one die, and another begin."""
        victim = self.dice.randrange(len(self.workers))
        self.workers[victim].kill()
        self.workers[victim].wait(timeout=PATIENCE)
        self.workers[victim] = self.worker()

    def kill_job(self) -> None:
        """Let a job die that is at work, if one is, and the other scrapyd go on with its run."""
        at_work = {start: pid for start, found in self.jobs.items() if (pid := self.pid_of(*found))}
        if at_work:
            start = self.dice.choice(sorted(at_work))
            os.kill(at_work[start], signal.SIGKILL)
            self.jobs_killed += 1
            self.job(start)

    def pid_of(self, scrapyd: Scrapyd, job: str) -> int | None:
        """The process of a job, where it has one."""
        running = scrapyd.ask("listjobs", project=PROJECT)["running"]
        return next((each["pid"] for each in running if each["id"] == job), None)

    def finish_runs(self) -> None:
        """Wait for all jobs; one whose run is not over is scheduled again."""
        for start in self.jobs:
            for _ in range(TRIES):
                scrapyd, job = self.jobs[start]
                wait_for(lambda at=scrapyd, of=job: at.state(of) == "finished", PATIENCE)
                if statuses_of_runs(self.home, start) == {"completed"}:
                    break
                self.job(start)


def test_kills_and_a_restart_lose_nothing_and_no_domain_has_two_visitors(
    common: Home, scrapyds: list[Scrapyd], forty: DemoServer, remembering: Server, endings: list[Process]
) -> None:
    """Twelve kills of workers and jobs, and a Redis that is away for a while."""
    starts = shop_urls(forty, SHOPS)
    fed = [f"{start}?{turn}" for turn in range(TURNS) for start in starts]
    crew = Crew(common, scrapyds, endings, random.Random(KILLS))
    client = redis.Redis.from_url(remembering.url, decode_responses=True)
    crew.workers = [crew.worker() for _ in range(WORKERS)]
    for start in starts[:SITES]:
        crew.job(start)
    for kill in range(KILLS):
        client.rpush(KEY, *fed[kill::KILLS])
        wait_for(lambda: any(row.status == "running" for row in rows(common)))
        time.sleep(crew.dice.uniform(0.5, 3))
        (crew.kill_job if kill % JOB_EVERY == 0 else crew.kill_worker)()
        if kill == KILLS // 2:
            remembering.kill()
            time.sleep(2)
            remembering.start()
    crew.finish_runs()
    wait_for(lambda: client.zcard(f"{KEY}:workers") == WORKERS, PATIENCE)  # what the dead had is taken over
    wait_for(lambda: not client.llen(KEY) and not open_entries(common), PATIENCE)
    for worker in crew.workers:
        worker.send_signal(signal.SIGTERM)
    assert [worker.wait(timeout=PATIENCE) for worker in crew.workers] == [0] * WORKERS
    assert_nothing_left(client)
    client.close()
    wait_for(lambda: not open_sessions(common), PATIENCE)
    assert_consistent(common)
    require_all_done(common, fed, starts[:SITES])
    assert crew.jobs_killed
    logs = [forty.log.entries(f"shop-{number:04}") for number in range(1, SHOPS + 1)]
    visits = [require_one_at_a_time(visits_seen(log)) for log in logs]
    assert sum(visits) >= len(fed) + SITES


def open_sessions(home: Home) -> list[UUID]:
    """What died with a job is alive for a while still; a cleanup marks it as given up then."""
    assert home.vitrine("cleanup").returncode == 0
    return [row.id for row in rows(home) if row.finished_at is None]


def open_entries(home: Home) -> list[str]:
    """The URLs of the fleet's sessions that are not over."""
    return [row.url for row in rows(home) if row.entry_id is not None and row.finished_at is None]


def require_all_done(home: Home, fed: list[str], sites: list[str]) -> None:
    """One completed session for each entry; each run completed with each of its tasks; no session open."""
    sessions = rows(home)
    assert [row.id for row in sessions if row.finished_at is None] == []
    of_entries = sorted((row.url, row.status, row.cause) for row in sessions if row.entry_id is not None)
    assert of_entries == sorted((url, "completed", None) for url in fed)
    assert sum(row.deaths for row in sessions), "nobody was at work when killed"
    for start in sites:
        assert statuses_of_runs(home, start) == {"completed"}
    assert set(asked(home, select(Task.status))) == {"finished"}
    sessions_of_runs = {(row.status, row.cause) for row in sessions if row.entry_id is None}
    assert sessions_of_runs <= {("completed", None), ("failed", "abandoned")}


def statuses_of_runs(home: Home, start: str) -> set[str]:
    """How the runs of a site stand."""
    return set(asked(home, select(Run.status).join(Task).where(Task.url == start)))


def asked(home: Home, question: object) -> list[str]:
    """What the database says."""
    database = home.database()
    try:
        with database.read() as db:
            return list(db.scalars(question))  # type: ignore[call-overload]
    finally:
        database.close()


# ── by the shops' access logs ──


@frozen
class VisitSeen:
    """What one visitor asked in one visit, as a shop saw it."""

    by: str
    at: float
    ended: float


def visits_seen(log: list[Seen]) -> list[VisitSeen]:
    """The visits in a shop's log: another visitor, a robots.txt, or an entry's own URL begins one."""
    found: list[VisitSeen] = []
    begun_by_robots = False
    for each in log:
        is_robots = each.path == "/robots.txt"
        begins = is_robots or (each.path.startswith("/?") and not begun_by_robots)
        if not found or found[-1].by != each.user_agent or begins:
            found.append(VisitSeen(each.user_agent, each.at, each.ended))
        else:
            last = found[-1]
            found[-1] = VisitSeen(last.by, last.at, max(last.ended, each.ended))
        begun_by_robots = is_robots
    return found


def require_one_at_a_time(visits: list[VisitSeen]) -> int:
    """No visit begins before the delay after the end of the one before it; how many there were."""
    gaps = [(later.by, later.at - earlier.ended) for earlier, later in pairwise(visits)]
    assert [gap for gap in gaps if gap[1] < BETWEEN_VISITS] == [], visits
    return len(visits)


def seen(by: str, path: str, at: float) -> Seen:
    """A request that took a tenth of a second."""
    return Seen(at, at + 0.1, "GET", "shop.example", "shop", path, 200, by, 1)


@pytest.mark.parametrize(
    "log",
    [
        [seen("a", "/?0", 0), seen("b", "/?1", 0.5), seen("a", "/products/x", 1)],
        [seen("a", "/?0", 0), seen("a", "/products/x", 0.3), seen("a", "/?1", 1.2)],
        [seen("a", "/robots.txt", 0), seen("a", "/?0", 0.2), seen("b", "/robots.txt", 1)],
    ],
)
def test_two_visitors_and_a_visit_too_soon_show_in_a_log(log: list[Seen]) -> None:
    """What the torture looks for is found: in between, by the same worker, and by another."""
    with pytest.raises(AssertionError):
        require_one_at_a_time(visits_seen(log))


def test_visits_one_after_the_other_are_in_order() -> None:
    """A robots.txt and the pages after it are one visit."""
    first = [seen("a", "/robots.txt", 0), seen("a", "/?0", 0.2), seen("a", "/products/x", 0.4)]
    assert require_one_at_a_time(visits_seen([*first, seen("a", "/?1", 1.6), seen("b", "/", 2.8)])) == 3
