"""Archive jobs: what an idle worker asks, how soon a crawl begins, how soon a standstill is found.

Each beside its limit. `python -m bench jobs`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import event

from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.revisions import upgrade
from crawler.demo import NETWORK, serve
from crawler.jobs.worker import Worker

ROOT = Path(__file__).parents[1]
SILENT_DOCKER = '#!/bin/sh\ncase "$1" in run) exec sleep 600;; esac\n'
STALL_SECONDS = 6.0
ROUNDS = 3


def main() -> None:
    """Measure, and print a line each."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        print(f"{'queries of an idle worker a look':<45} {idle_queries(home):>8} (limit 3)")
        begun = min(seconds_to_first_request(home / str(number)) for number in range(ROUNDS))
        print(f"{'worker started to first request, s (best)':<45} {begun:>8.2f} (limit 3)")
        found = max(standstill_found(home / f"stall{number}") for number in range(ROUNDS))
        print(f"{'standstill found, times its limit (worst)':<45} {found:>8.2f} (limit 1.2)")


def idle_queries(home: Path) -> int:
    """What a worker with nothing to do asks its database each time."""
    url = f"sqlite:///{home / 'idle.db'}"
    database, asked = Database(url), []
    upgrade(database)
    worker = Worker(database, load_settings({"DATABASE_URL": url}))
    event.listen(database.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    worker.work_once()
    database.close()
    return len(asked)


def seconds_to_first_request(home: Path) -> float:
    """From a worker's start, which finds an order, to the first request that the site sees."""
    home.mkdir()
    with serve() as shops:
        sources = home / "sources.toml"
        start = shops.url("plain")
        sources.write_text(f'[sources.shop]\nstart_urls = ["{start}"]\nmax_pages = 1\n', encoding="utf-8")
        environment = {
            **os.environ, "VITRINE_HOME": str(home), "SOURCES_FILE": str(sources), "EGRESS_ALLOW": NETWORK,
            "JOB_DISK_LIMIT_PERCENT": "100", "DOMAIN_MIN_DELAY_MS": "0",
        }  # fmt: skip
        for words in (["sources", "seed"], ["jobs", "create", "--source", "shop"]):
            _vitrine(words, environment)
        began = time.time()
        _vitrine(["worker", "--once"], environment)
        log = next(home.glob("archive/shop/*/archive_*.combined.log"))
        first = re.search(r"^(\S+ \S+,\d+).*session\.start", log.read_text("utf-8"), re.MULTILINE)
        if first is None:
            raise SystemExit("the crawl began no visit")
        at = time.mktime(time.strptime(first[1].partition(",")[0], "%Y-%m-%d %H:%M:%S"))
        return at + int(first[1].partition(",")[2]) / 1000 - began


def standstill_found(home: Path) -> float:
    """How long after its last sign of life an engine is stopped that says nothing, in times of the limit."""
    (home / "bin").mkdir(parents=True)
    docker = home / "bin" / "docker"
    docker.write_text(SILENT_DOCKER, encoding="utf-8")
    docker.chmod(0o755)
    command = [
        sys.executable, "-m", "crawler.engines", "--seeds", "https://shop.example/", "--name", "shop",
        "--output-dir", str(home / "out"), "--enable-monitoring",
        "--stall-timeout-minutes", f"{STALL_SECONDS / 60:g}",
    ]  # fmt: skip
    path = f"{docker.parent}:{os.environ['PATH']}"
    tool = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PATH": path, "VITRINE_ENGINE": "zimit"},
    )  # fmt: skip
    began = 0.0
    for line in tool.stdout or ():
        if "begins" in line:
            began = time.monotonic()
        if "stall" in line:
            break
    found = time.monotonic() - began
    tool.terminate()
    tool.communicate()
    return found / STALL_SECONDS


def _vitrine(words: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "crawler.cli", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stderr.decode())
        raise SystemExit(done.returncode)
