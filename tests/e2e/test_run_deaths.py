"""A page that kills the process which fetches it costs that page, and no other."""

from __future__ import annotations

import signal
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.db.models import CrawlException, Run, Task
from crawler.runs.task_ends import DIED_UNDER_IT
from tests.e2e import deadly
from tests.e2e.farm import NETWORK, farm, sources_file

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak

# Times only: nobody waits for politeness, or for leases of the dead. How often is tried is the default's.
QUICK = {
    "DOMAIN_LOCK_TTL_SECONDS": "2",
    "TASK_LEASE_SECONDS": "1",
    "DOMAIN_MIN_DELAY_MS": "0",
    "TASK_JITTER_SECONDS": "0",
    "EGRESS_ALLOW": NETWORK,
}
HOSTS, PAGES = 6, 8
MOST_DEATHS = 4  # one in company, which makes a suspect of it, and as many as it is tried alone


def test_a_page_that_kills_its_workers_costs_that_page(home: Home, tmp_path: Path) -> None:
    """SPEC D85, D87: others that were out beside it are stored at their first attempt, each once."""
    with farm(hosts=HOSTS, pages=PAGES) as sites:
        killer = f"{sites.starts[2]}3"
        home.extra.update({**QUICK, "SOURCES_FILE": sources_file(sites, tmp_path), "DEADLY_URL": killer})
        crawl = ("crawl", "site", "-a", "source=farm", "-a", "resume=1")
        settings = ("-s", "DOWNLOAD_DELAY=0.02", "-s", f"EXTENSIONS={deadly.EXTENSIONS}")
        codes: list[int] = []
        while not codes or codes[-1] == -signal.SIGKILL:
            assert len(codes) <= MOST_DEATHS, "it goes on killing"
            codes.append(home.scrapy(*crawl, *settings).returncode)
    assert codes == [-signal.SIGKILL] * MOST_DEATHS + [3]
    assert sites.asked[killer.removeprefix("http://")] == MOST_DEATHS
    database = home.database()
    with database.read() as db:
        tasks = list(db.scalars(select(Task)))
        [run], [noted] = db.scalars(select(Run)).all(), db.scalars(select(CrawlException)).all()
    database.close()
    assert run.status == "completed"
    by_end = Counter((task.status, task.cause, task.attempts) for task in tasks)
    assert by_end == {("finished", None, 1): HOSTS * PAGES - 1, ("error", "lease_expired", 3): 1}
    assert (noted.url, noted.message) == (killer, DIED_UNDER_IT)
