"""The example of a scrapy-redis fleet: workers of a RedisSpider share a queue, and lose nothing of it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import ROOT
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import redis

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak

EXAMPLE = ROOT / "examples" / "scrapy_redis_fleet"
IDLE_SECONDS = 15  # longer than a dead worker is waited for
FED = "shop:start_urls"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example."""
    return shutil.copytree(EXAMPLE, tmp_path / "project")


@pytest.fixture
def start(
    home: Home, project: Path, redis_database: str, endings: list[subprocess.Popen[str]]
) -> Callable[..., subprocess.Popen[str]]:
    """Start a worker."""
    home.extra["REDIS_URL"] = redis_database

    def started(*more: str) -> subprocess.Popen[str]:
        idle = ("-s", f"MAX_IDLE_TIME_BEFORE_CLOSE={IDLE_SECONDS}")
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "crawl", "shop", *idle, *more],
            cwd=project, env=home.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        endings.append(process)
        return process

    return started


def urls_of(project: Path) -> Counter[str]:
    """How often each page's item was written, by all workers together."""
    lines = [line for feed in project.glob("items-*.jsonl") for line in feed.read_text("utf-8").splitlines()]
    return Counter(json.loads(line)["url"] for line in lines)


def left_in(client: redis.Redis) -> set[str]:
    """The keys of work that is left in Redis."""
    return {
        key for key in client.scan_iter() if key.endswith((":requests", ":start_urls")) or ":taken:" in key
    }


@pytest.mark.parametrize("queue", ["PriorityQueue", "FifoQueue"])
def test_two_workers_on_one_domain(
    shops: DemoServer, project: Path, redis_client: redis.Redis, start: Callable[..., Any], queue: str
) -> None:
    """Both come to their end, with all that was fed; each page is asked for once."""
    shops.forget()
    pages = [shops.url("slow", f"/?ms=20&page={page}") for page in range(60)]
    redis_client.rpush(FED, *(json.dumps({"url": url}) for url in pages))
    manners = ("-s", "DOWNLOAD_DELAY=0", "-s", "CAPTURE_PAGES=False", "-s", "ROBOTSTXT_OBEY=False")
    queued = ("-s", f"SCHEDULER_QUEUE_CLASS=scrapy_redis.queue.{queue}")
    workers = [start(*manners, *queued) for _ in range(2)]
    logs = [worker.communicate(timeout=120)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], logs
    found = urls_of(project)
    assert set(pages) < found.keys()
    assert set(found.values()) == {1}
    assert shops.log.peak("slow") == 1
    assert left_in(redis_client) == set()


def test_a_killed_worker_loses_nothing(
    shops: DemoServer, project: Path, redis_client: redis.Redis, start: Callable[..., Any]
) -> None:
    """What it had in hand is put back by another; a domain is visited by one worker at a time."""
    shops.forget()
    names = ["plain", "shop-0001", "shop-0002"]
    redis_client.rpush(FED, *(json.dumps({"url": shops.url(name)}) for name in names))
    workers = [start("-s", "DOWNLOAD_DELAY=0.5") for _ in range(3)]
    taken = wait_for(lambda: list(redis_client.scan_iter("shop:requests:taken:*")))
    pid = int(taken[0].split(":")[5])
    [killed] = [worker for worker in workers if worker.pid == pid]
    killed.send_signal(signal.SIGKILL)
    others = [worker for worker in workers if worker is not killed]
    logs = [worker.communicate(timeout=120)[1] for worker in others]
    assert {worker.returncode for worker in others} <= {0, 3}, logs
    products = {
        shops.url(entry.shop, entry.path)
        for entry in shops.log.entries()
        if entry.path.startswith("/products/") and entry.status == 200
    }
    assert len(products) > 10
    assert products | {shops.url(name) for name in names} <= urls_of(project).keys()
    assert [name for name in names if shops.log.peak(name) > 1] == []
    assert left_in(redis_client) == set()
    assert any("queue.taken_over" in log for log in logs)
