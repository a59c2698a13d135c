"""Workers of one run whose wall clocks are wrong by minutes and hours: no session or lease ends early."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.db.engine import Database
from crawler.db.models import CrawlException, CrawlSession
from tests.e2e.farm import NETWORK, farm, sources_file
from tests.e2e.test_run_kills import look_at_what_is_stored
from tests.programs.clock import skewed_by
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.e2e.conftest import Home

HOSTS, PAGES = 12, 20
MINUTE, HOUR = 60, 3600
SKEWS = (-3 * HOUR, 20 * MINUTE, 5 * HOUR, -7 * MINUTE)
TIMES = {
    "DOMAIN_LOCK_TTL_SECONDS": "10",
    "TASK_LEASE_SECONDS": "10",
    "DOMAIN_MIN_DELAY_MS": "0",
    "TASK_JITTER_SECONDS": "0",
    "EGRESS_ALLOW": NETWORK,
    "SESSIONS_AT_ONCE": str(HOSTS // len(SKEWS)),
}


@pytest.mark.soak(minutes=20)
@pytest.mark.parametrize("gate", ["postgresql", "redis"])
def test_a_run_by_workers_whose_clocks_are_wrong(
    home: Home,
    tmp_path: Path,
    postgres_database: str,
    wrong_clock: Path,
    request: pytest.FixtureRequest,
    endings: list[subprocess.Popen[str]],
    gate: str,
) -> None:
    """Each domain is visited once, for longer than a lock lives, and each page is asked for once."""
    home.path.mkdir(parents=True)
    home.extra.update(TIMES, DATABASE_URL=postgres_database)
    if gate == "redis":
        home.extra["REDIS_URL"] = request.getfixturevalue("redis_database")
    database = Database(postgres_database)
    with farm(HOSTS, PAGES) as sites:
        home.extra["SOURCES_FILE"] = sources_file(sites, tmp_path)
        for skew in SKEWS:
            home.extra.update(skewed_by(skew, wrong_clock))
            log = home.path / f"worker{skew}.log"
            endings.append(
                home.start_scrapy(
                    "crawl", "site", "-a", "source=farm", "-a", "resume=1", "-s", "DOWNLOAD_DELAY=1.5",
                    "-s", f"LOG_FILE={log}",
                )
            )  # fmt: skip
            wait_for(lambda: sites.asked)
        assert [worker.wait(timeout=900) for worker in endings] == [0] * len(SKEWS)
    look_at_what_is_stored(home, database, HOSTS * PAGES)
    with database.read() as db:
        ended = db.execute(select(CrawlSession.status, CrawlSession.cause)).all()
        assert [tuple(end) for end in ended] == [("completed", None)] * HOSTS
        assert db.scalars(select(CrawlException.message)).all() == []
    database.close()
    assert {path: times for path, times in sites.asked.items() if times > 1} == {}
    said = "".join(log.read_text("utf-8") for log in home.path.glob("worker*.log"))
    assert "lock.lost" not in said
    assert "lock.release.stale" not in said
