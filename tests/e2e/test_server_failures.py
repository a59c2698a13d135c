"""Redis and PostgreSQL killed, restarted and emptied in the middle of visits, by real processes."""

from __future__ import annotations

import json
import time
from datetime import datetime
from secrets import SystemRandom
from typing import TYPE_CHECKING, Any

import pytest
import redis

from crawler.db import revisions
from crawler.db.engine import Database
from tests.servers import own_postgresql, own_redis
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Generator

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home
    from tests.servers import Server

pytestmark = pytest.mark.soak

SHOPS = [f"shop-{number:04}" for number in range(1, 5)]
AT_ONCE = ("-s", "DOWNLOAD_DELAY=0")
HELD_UP = 5  # seconds between pages: far longer than the next renewal of a lock takes to come
SLACK_SECONDS = 0.1  # between a line of the log and its time
# What a session may end with whose store went away; all of them are taken up again or tell why not.
OF_A_STORE = {None, "store_failed", "database_unavailable", "redis_unavailable", "lock_lost", "abandoned"}


def visited_through(
    home: Home,
    shops: DemoServer,
    endings: list[subprocess.Popen[str]],
    fault: Callable[[], object],
    delay: float = 0.5,
) -> list[dict[str, Any]]:
    """Visit some shops, have something fail in the middle of it, and say what the log says."""
    home.extra["LOG_FORMAT"] = "json"
    shops.forget()
    urls = " ".join(map(shops.url, SHOPS))
    process = home.start_scrapy(
        "crawl", "pdp", "-a", f"url={urls}", "-s", f"DOWNLOAD_DELAY={delay}", "-s", "LOG_LEVEL=WARNING"
    )
    endings.append(process)
    under_way = len(SHOPS) if delay == HELD_UP else len(SHOPS) // 2
    wait_for(lambda: len({entry.shop for entry in shops.log.entries() if entry.path == "/"}) >= under_way)
    fault()
    _, log = process.communicate(timeout=300)
    assert process.returncode in {0, 1, 3}, log[-3000:]
    return [json.loads(line) for line in log.splitlines() if line.startswith("{")]


def require_order(home: Home, shops: DemoServer, lines: list[dict[str, Any]]) -> None:
    """Each session has its end, its files and rows belong together, and nothing went out after a loss."""
    sessions = home.sessions()
    assert len(sessions) >= len(SHOPS)
    assert {session["status"] for session in sessions} <= {"completed", "partial", "failed"}
    assert {session["cause"] for session in sessions} <= OF_A_STORE
    found = json.loads(home.vitrine("retention", "orphans", "--json").stdout)
    assert found["rows"] == []
    monotonic = time.monotonic() - time.time()
    for line in lines:
        if line["event"] == "lock.lost":
            at = datetime.fromisoformat(line["time"]).timestamp() + monotonic + SLACK_SECONDS
            name = next(name for name in SHOPS if shops.domain(name) == line["domain"])
            assert [entry for entry in shops.log.entries(name) if entry.at > at] == []


def go_on(home: Home, shops: DemoServer) -> None:
    """Visit the same shops again: whatever was left behind stands in nobody's way."""
    home.extra["DOMAIN_QUEUE_WAIT_SECONDS"] = "60"
    sessions = home.crawl(*map(shops.url, SHOPS), timeout=300)
    assert {session["status"] for session in sessions} == {"completed"}


@pytest.fixture
def postgresql() -> Generator[Server]:
    """A server with Vitrine's tables, whose commits reach the disk."""
    with own_postgresql(synchronous_commit="on", fsync="on", full_page_writes="on") as server:
        yield server


def fail_postgresql(server: Server, how: str, seconds: float) -> None:
    """Have it end, in order or not, and come back after a while."""
    (server.kill if how == "killed" else server.stop)()
    time.sleep(seconds)
    server.start()


def visits_on(server: Server, home: Home) -> None:
    """Have the sessions, and the locks, in that database."""
    home.extra["DATABASE_URL"] = server.url
    database = Database(server.url)
    revisions.upgrade(database)
    database.close()


@pytest.mark.soak(minutes=50)
@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_postgresql_fails_again_and_again(
    home: Home, shops: DemoServer, postgresql: Server, endings: list[subprocess.Popen[str]], how: str
) -> None:
    """Ten times, each at another moment and for another while: also for longer than the locks live."""
    visits_on(postgresql, home)
    dice = SystemRandom()
    for _ in range(10):

        def fault() -> None:
            time.sleep(dice.uniform(0, 3))
            fail_postgresql(postgresql, how, dice.uniform(0, 10))

        require_order(home, shops, visited_through(home, shops, endings, fault))
    go_on(home, shops)


def restart(server: Server, seconds: float = 0.5) -> None:
    """Have it die, and come back after a while with what it remembers."""
    server.kill()
    time.sleep(seconds)
    server.start()


def flush(server: Server) -> None:
    """Have it forget everything."""
    with redis.Redis.from_url(server.url) as client:
        client.flushall()


FAULTS: dict[str, tuple[bool, Callable[[Server], object]]] = {
    "killed, remembers": (True, restart),
    "killed, forgets": (False, restart),
    "flushed": (False, flush),
}


@pytest.mark.parametrize("how", [*FAULTS][:2])
def test_redis_fails_in_mid_visit(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]], how: str
) -> None:
    """What it remembers goes on; what it forgot stops, and sends nothing any more."""
    remembers, fault = FAULTS[how]
    with own_redis(persistent=remembers) as server:
        home.extra.update(REDIS_URL=server.url, DOMAIN_LOCK_TTL_SECONDS="3")
        lines = visited_through(home, shops, endings, lambda: fault(server), 0.5 if remembers else HELD_UP)
        require_order(home, shops, lines)
        if remembers:
            assert {session["status"] for session in home.sessions()} == {"completed"}
        else:
            assert {session["cause"] for session in home.sessions()} == {"lock_lost"}
        go_on(home, shops)


@pytest.mark.soak(minutes=40)
@pytest.mark.parametrize("how", FAULTS)
def test_redis_fails_again_and_again(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]], how: str
) -> None:
    """Ten times, each at another moment."""
    remembers, fault = FAULTS[how]
    dice = SystemRandom()
    with own_redis(persistent=remembers) as server:
        home.extra.update(REDIS_URL=server.url, DOMAIN_LOCK_TTL_SECONDS="3")
        for _ in range(10):

            def at_some_time() -> None:
                time.sleep(dice.uniform(0, 3))
                fault(server)

            require_order(home, shops, visited_through(home, shops, endings, at_some_time))
            wait_for(lambda: not locks(server))  # one that could not be given back lives as long as it may
        go_on(home, shops)


def locks(server: Server) -> list[Any]:
    """The domains that somebody holds, or held when the server went away."""
    with redis.Redis.from_url(server.url) as client:
        return list(client.scan_iter("lock:domain:*"))
