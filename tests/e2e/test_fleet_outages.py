"""A fleet whose database or Redis goes away for seconds, again and again: it waits, and loses nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import redis

from crawler.db import revisions
from crawler.db.engine import Database
from tests.e2e.conftest import Home, rows
from tests.e2e.test_fleet import (
    KEY,
    UNTIL_IDLE,
    WORKER,
    assert_done_once,
    assert_nothing_left,
    statuses,
)
from tests.e2e.test_interruptions import assert_consistent, shop_urls
from tests.servers import own_postgresql, own_redis
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator

    from crawler.demo import DemoServer
    from tests.servers import Server

SHOPS, TURNS, WORKERS, OUTAGES = 20, 6, 3, 3
AWAY_SECONDS = 3.0


@pytest.fixture
def postgresql(home: Home) -> Generator[Server]:
    """A server with Vitrine's tables, whose commits reach the disk."""
    with own_postgresql(synchronous_commit="on", fsync="on", full_page_writes="on") as server:
        home.path.mkdir()
        home.extra["DATABASE_URL"] = server.url
        database = Database(server.url)
        revisions.upgrade(database)
        database.close()
        yield server


@pytest.fixture
def remembering(home: Home) -> Generator[Server]:
    """A Redis that finds its data again; locks outlive an outage."""
    with own_redis(persistent=True) as server:
        home.extra.update(REDIS_URL=server.url, DOMAIN_LOCK_TTL_SECONDS="30")
        yield server


@pytest.mark.soak(minutes=20)
@pytest.mark.parametrize("which", ["postgresql", "redis"])
def test_each_entry_is_stored_once_whatever_goes_away(
    home: Home,
    shops: DemoServer,
    postgresql: Server,
    remembering: Server,
    endings: list[subprocess.Popen[str]],
    which: str,
) -> None:
    """Three workers, three outages of three seconds each: the log of each has a line for each of them."""
    urls = [f"{shop}?{turn}" for turn in range(TURNS) for shop in shop_urls(shops, SHOPS)]
    client = redis.Redis.from_url(remembering.url, decode_responses=True)
    client.rpush(KEY, *urls)
    logs = [home.path / f"worker-{number}.log" for number in range(WORKERS)]
    for log in logs:
        pace = ("-s", "SESSIONS_AT_ONCE=3", "-s", "DOWNLOAD_DELAY=0.5", "-s", f"LOG_FILE={log}")
        endings.append(home.start_scrapy(*WORKER, *UNTIL_IDLE, *pace))
    done = 0
    for _ in range(OUTAGES):
        wait_for(lambda least=done: ended(home) > least, 300)
        (postgresql.stop if which == "postgresql" else remembering.kill)()
        time.sleep(AWAY_SECONDS)
        if which == "postgresql":
            postgresql.start()
        else:
            remembering.start()
        done = wait_for(lambda: ended(home), 60)
    assert [worker.wait(600) for worker in endings] == [0] * WORKERS
    assert_nothing_left(client)
    client.close()
    assert statuses(home) == dict.fromkeys(urls, "completed")
    assert {row.deaths for row in rows(home)} == {0}
    assert_consistent(home)
    assert_done_once(home)
    said = [log.read_text("utf-8") for log in logs]
    assert max(text.count("store.away") + text.count("fleet.paused") for text in said) <= 2 * OUTAGES
    assert "Traceback" not in "".join(said)


def ended(home: Home) -> int:
    """How many sessions have come to their ends."""
    return sum(row.finished_at is not None for row in rows(home))
