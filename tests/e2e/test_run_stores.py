"""A store that is away for a moment is waited for: what was fetched is held, and nothing is asked for."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from crawler.db.engine import Database
from crawler.db.models import Artifact, CrawlException, CrawlSession, Run, Task
from tests.databases import fresh_database
from tests.e2e.farm import NETWORK, farm, sources_file
from tests.servers import own_postgresql
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak

QUICK = {
    "DOMAIN_MIN_DELAY_MS": "0",
    "TASK_JITTER_SECONDS": "0",
    "EGRESS_ALLOW": NETWORK,
    "DOMAIN_LOCK_TTL_SECONDS": "300",  # as by default
}
HOSTS, PAGES, WORKERS = 6, 40, 2
AWAY_SECONDS = 3.0
MOST_LINES = 20  # that are worth a warning, of all workers


def test_a_postgresql_that_restarts_costs_nothing(
    home: Home, tmp_path: Path, endings: list[subprocess.Popen[str]]
) -> None:
    """Workers of one run go on as if nothing had been: each page is asked for once, and stored once."""
    opening = threading.Event()
    with farm(HOSTS, PAGES, opening=opening) as sites, own_postgresql() as server:
        log = tmp_path / "log"
        home.extra.update(QUICK, SOURCES_FILE=sources_file(sites, tmp_path))
        home.extra["SESSIONS_AT_ONCE"] = str(HOSTS // WORKERS)
        settings = ("-s", "DOWNLOAD_DELAY=0.1", "-s", f"LOG_FILE={log}", "-s", "LOG_LEVEL=WARNING")
        crawl = ("crawl", "site", "-a", "source=farm", "-a", "resume=1", *settings)
        with fresh_database(server.url) as url:
            home.extra["DATABASE_URL"] = url
            assert home.vitrine("db", "upgrade").returncode == 0
            endings.append(home.start_scrapy(*crawl))
            wait_for(lambda: sites.asked)
            endings += [home.start_scrapy(*crawl) for _ in range(WORKERS - 1)]
            database = Database(url)
            wait_for(lambda: domains_held(database) == HOSTS)  # no visit ends before the opening
            opening.set()
            wait_for(lambda: sites.asked.total() > 4 * HOSTS)
            server.stop()
            asked = sites.asked.total()
            time.sleep(AWAY_SECONDS)
            # What was begun before may still go out, of each domain.
            assert sites.asked.total() <= asked + 4 * HOSTS
            server.start()
            assert [worker.wait(120) for worker in endings] == [0] * WORKERS
            look_at_what_is_stored(home, database)
    assert {path: times for path, times in sites.asked.items() if times > 1 and "robots" not in path} == {}
    lines = log.read_text(encoding="utf-8").splitlines()
    assert sum("store.away" in line for line in lines) <= WORKERS
    assert len(lines) <= MOST_LINES, "\n".join(lines)


def domains_held(database: Database) -> int:
    """How many domains are being visited."""
    with database.read() as db:
        return db.scalar(select(func.count()).where(CrawlSession.status == "running")) or 0


def look_at_what_is_stored(home: Home, database: Database) -> None:
    """The run is completed, nothing is worth a look, and files and rows are the same."""
    with database.read() as db:
        assert db.scalars(select(Run.status)).all() == ["completed"]
        ends = db.execute(
            select(Task.status, Task.attempts, func.count()).group_by(Task.status, Task.attempts)
        )
        assert [tuple(end) for end in ends] == [("finished", 1, HOSTS * PAGES)]
        assert db.scalars(select(CrawlException.message)).all() == []
        assert home.files() == set(db.scalars(select(Artifact.storage_uri)))
    database.close()
