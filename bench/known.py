"""The memory of a durable crawl beside a run of a thousand URLs and beside one of a million."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from crawler.clock import utc_now
from crawler.db.engine import Database
from crawler.db.revisions import upgrade
from crawler.demo import NETWORK, spawn
from crawler.runs import store, tasks
from crawler.runs.sources import Source
from crawler.runs.tasks import task_of

SIZES = (1_000, 1_000_000)
PAGES = 200
CHUNK = 10_000


def main() -> None:
    """Have the same two hundred pages fetched out of a small run and a large one."""
    print(f"{PAGES} pages of one domain, SQLite\n\n| known URLs | MiB |\n|---|---|")
    with spawn(bulk=1) as shops:
        for size in SIZES:
            figures = _measured(shops.url("shop-0001"), size)
            print(f"| {size:,} | {figures['peak_mib']:.0f} |", flush=True)


def _measured(home: str, size: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'vitrine.db'}")
        upgrade(database)
        run_id = _filled(database, home, size)
        database.close()
        environment = {**os.environ, "VITRINE_HOME": folder, "EGRESS_ALLOW": NETWORK}
        done = subprocess.run(
            [sys.executable, "-m", "bench.site_worker", "known", str(run_id), str(PAGES)],
            env=environment, check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _filled(database: Database, home: str, size: int) -> int:
    """A run that has so many pages to fetch; all lead to the same one."""
    source = Source.of_url(home)
    with database.write() as db:
        run_id = store.create(db, source.code, source.as_plan(), max_pages=size, now=utc_now())
    for begin in range(0, size, CHUNK):
        with database.write() as db:
            news = [task_of(f"{home}?page={number}") for number in range(begin, min(begin + CHUNK, size))]
            tasks.add(db, run_id, news, utc_now())
    return run_id


if __name__ == "__main__":
    main()
