"""A fleet: fed through Redis from anywhere, and whatever dies, each entry is worked and stored once."""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
import redis
from sqlalchemy import and_, select

from crawler.db.models import CrawlSession, Page
from crawler.demo.server import NETWORK
from tests.databases import BACKENDS
from tests.e2e.conftest import Home, rows, with_status
from tests.e2e.fleet_crash import Point
from tests.e2e.test_interruptions import assert_consistent, shop_urls
from tests.servers import own_redis
from tests.unit.web.conftest import serving_on
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from crawler.demo import DemoServer

    Process = subprocess.Popen[str]

KEY = "pdp:start_urls"
WORKER = ("crawl", "pdp", "-s", "FLEET=1", "-s", "DOWNLOAD_DELAY=0")
UNTIL_IDLE = ("-s", "MAX_IDLE_TIME_BEFORE_CLOSE=1")


@pytest.fixture
def tables(home: Home, sqlite_template: Path) -> Home:
    """A home with empty tables."""
    home.path.mkdir()
    shutil.copy(sqlite_template, home.path / "vitrine.db")
    return home


@pytest.fixture
def fleet(tables: Home, redis_database: str) -> Home:
    """The same with a Redis, and the dead are soon known to be dead."""
    tables.extra.update(REDIS_URL=redis_database, DOMAIN_LOCK_TTL_SECONDS="2")
    return tables


def work_off(fleet: Home, *more: str) -> str:
    """Have one worker do all there is; what it logged."""
    done = fleet.scrapy(*WORKER, *UNTIL_IDLE, *more)
    assert done.returncode == 0, done.stderr
    assert "'finish_reason': 'finished'" in done.stderr
    return done.stderr


def by_url(fleet: Home) -> dict[str, CrawlSession]:
    """The sessions; there must be one a URL."""
    sessions = rows(fleet)
    found = {session.url: session for session in sessions}
    assert len(found) == len(sessions), "a URL was worked as two sessions"
    return found


def statuses(fleet: Home) -> dict[str, str]:
    """What became of each URL; of what failed also why."""
    ended = by_url(fleet).items()
    return {url: row.status if row.status != "failed" else f"failed: {row.cause}" for url, row in ended}


def assert_nothing_left(client: redis.Redis) -> None:
    """No entry, and no worker, is anywhere in Redis."""
    assert [key for key in client.keys(f"{KEY}*") if key != f"{KEY}:count"] == []


# What is no entry, and a word of why.
BAD = {
    "not a url": "space",
    "ftp://shop.example/": "http or https",
    "https://me:canary@shop.example/": "user name",
    '{"url": 1': "no JSON",
    '["https://shop.example/"]': "list",
    '{"meta": {}}': "names no url",
    '{"url": ["https://shop.example/"]}': "no text",
    '{"url": "https://shop.example/", "meta": {"mode": "loud"}}': "loud",
    '{"url": "https://shop.example/", "meta": {"urls": "/etc/passwd"}}': "urls",
    '{"url": "https://shop.example/", "method": "POST"}': "method",
    '{"a":' * 5000: "no JSON",
    "x" * 100_000: "too long",
    "": "names no url",
}


@pytest.mark.soak(minutes=10)
def test_a_fleet_is_fed_with_lpush(fleet: Home, shops: DemoServer, redis_client: redis.Redis) -> None:
    """A URL, or an object with the spider's arguments, in meta or beside it; a worker has its defaults.

    Bad entries are logged in a line, and put aside without their passwords.
    """
    one, two, plain, hub = (shops.url(name) for name in ("shop-0001", "shop-0002", "plain", "hub"))
    product = f"{two}products/fogbound-tumbler"
    redis_client.lpush(KEY, one)
    redis_client.lpush(KEY, json.dumps({"url": plain, "meta": {"retention": "short", "_job": 7}}))
    redis_client.lpush(KEY, json.dumps({"url": hub, "mode": "debug", "method": "GET"}))
    redis_client.lpush(KEY, json.dumps({"pdp": product}))
    redis_client.lpush(KEY, b"\xff\xfe", *list(BAD)[::-1])
    log = work_off(fleet, "-a", "retention=long")
    assert statuses(fleet) == {one: "completed", plain: "completed", hub: "partial", two: "completed"}
    sessions = by_url(fleet)
    assert sessions[hub].mode == "debug"
    assert sessions[two].pdp_url == product
    assert [sessions[url].retention_policy for url in (plain, one)] == ["short", "long"]
    refused = [json.loads(entry) for entry in redis_client.lrange(f"{KEY}:refused", 0, -1)][::-1]
    assert log.count("fleet.entry_refused") == len(refused) == len(BAD) + 1
    for entry, reason in zip(refused, BAD.values(), strict=False):
        assert reason in entry["error"]
    assert "Traceback" not in log
    assert "canary" not in log + json.dumps(refused)
    redis_client.delete(f"{KEY}:refused")
    assert_nothing_left(redis_client)
    assert_consistent(fleet)


@pytest.mark.soak(minutes=10)
def test_a_fleet_is_asked_over_http(fleet: Home, shops: DemoServer, redis_client: redis.Redis) -> None:
    """What `/audits` was asked for is worked as an entry is, and shown where it was asked for (SPEC F155)."""
    url, database = shops.url("shop-0001"), f"sqlite:///{fleet.path / 'vitrine.db'}"
    with serving_on(database, fleet.path) as start:
        served = start(egress_allow=NETWORK, redis_url=fleet.extra["REDIS_URL"])
        answer = served.client.post("/audits", json={"url": url})
        assert (answer.status_code, answer.json()["status"]) == (201, "queued"), answer.text
        at = f"/audits/{answer.json()['id']}"
        assert served.get(f"{at}/artifacts").json() == []
        work_off(fleet)
        done = served.get(at).json()
        assert (done["status"], done["url"], done["attempts"]) == ("completed", url, 1)
        kinds = {each["type"] for each in served.get(f"{at}/artifacts").json()}
    assert {"html_gz", "visible_text", "session_logs_jsonl"} <= kinds
    assert_nothing_left(redis_client)


@pytest.mark.soak
def test_a_worker_that_cannot_work_says_why(fleet: Home) -> None:
    """One line and a hint, exit code 2, and nothing begun."""
    del fleet.extra["REDIS_URL"]
    done = fleet.scrapy("crawl", "pdp", "-s", "FLEET=1", "-s", "LOG_LEVEL=ERROR")
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert "FLEET needs REDIS_URL" in error
    assert hint.startswith("hint: ")


def die(fleet: Home, endings: list[Process], point: Point, mark: str) -> None:
    """Have a worker work until it comes to that point with a URL that has that mark."""
    dying = fleet._start("tests.e2e.fleet_crash", point.name, mark, *WORKER)
    endings.append(dying)
    said = dying.communicate(timeout=120)
    assert dying.returncode == 9, said


@pytest.mark.soak
def test_workers_die_at_every_point(
    fleet: Home, shops: DemoServer, redis_client: redis.Redis, endings: list[Process]
) -> None:
    """What they had in hand comes to others, under its own name, and is done once."""
    fleet.extra["FLEET_MAX_DEATHS"] = "100"  # no page is at fault here
    fed = set()
    for point, shop in zip(Point, shop_urls(shops, 20)[::2], strict=False):
        urls = [f"{shop}?{point.name}", f"{shop}?{point.name}&again"]
        redis_client.rpush(KEY, *urls)
        die(fleet, endings, point, point.name)
        fed |= set(urls)
    work_off(fleet, "-s", "MAX_IDLE_TIME_BEFORE_CLOSE=3")
    assert statuses(fleet) == dict.fromkeys(fed, "completed")
    assert_nothing_left(redis_client)
    assert_consistent(fleet)


def test_what_a_killed_worker_had_is_done_by_another(
    fleet: Home, shops: DemoServer, redis_client: redis.Redis, endings: list[Process]
) -> None:
    """Each entry once, under the id that it had."""
    urls = shop_urls(shops, 3)
    redis_client.rpush(KEY, *urls)
    die(fleet, endings, Point.PAGE_KEPT, urls[0])
    left = {session.id for session in rows(fleet)}
    work_off(fleet, "-s", "MAX_IDLE_TIME_BEFORE_CLOSE=3")
    assert statuses(fleet) == dict.fromkeys(urls, "completed")
    assert left <= {session.id for session in rows(fleet)}
    assert sum(session.deaths for session in rows(fleet))
    assert_nothing_left(redis_client)
    assert_consistent(fleet)


@pytest.mark.soak
def test_a_page_that_kills_its_workers_is_given_up(
    fleet: Home, shops: DemoServer, redis_client: redis.Redis, endings: list[Process]
) -> None:
    """After a number of deaths it ends as failed; what has been beside it is taken over and done."""
    fleet.extra["FLEET_MAX_DEATHS"] = "2"
    deadly, *others = shop_urls(shops, 3)
    redis_client.rpush(KEY, deadly, *others)
    for _ in range(2):
        die(fleet, endings, Point.PAGE_KEPT, deadly)
    log = work_off(fleet, "-s", "MAX_IDLE_TIME_BEFORE_CLOSE=3")
    assert "session.worker_died" in log
    assert statuses(fleet) == {deadly: "failed: abandoned", **dict.fromkeys(others, "completed")}
    given_up = by_url(fleet)[deadly]
    assert (given_up.epoch, given_up.deaths) == (2, 2)
    assert_consistent(fleet)


@pytest.mark.soak
def test_sigterm_hands_over(
    fleet: Home, shops: DemoServer, redis_client: redis.Redis, endings: list[Process]
) -> None:
    """What runs and what waits is at once another's, long before the stopped one would count as dead."""
    fleet.extra["DOMAIN_LOCK_TTL_SECONDS"] = "60"
    urls = [shops.url("slow"), *shop_urls(shops, 3)]
    redis_client.rpush(KEY, *urls)
    stopped = fleet.start_scrapy(*WORKER, "-s", "SESSIONS_AT_ONCE=1")
    endings.append(stopped)
    wait_for(lambda: with_status(fleet, "running"))
    stopped.send_signal(signal.SIGTERM)
    stopped.communicate(timeout=120)
    left = by_url(fleet)
    assert "queued" in {session.status for session in left.values()} <= {"queued", "completed"}
    assert {session.owner for session in left.values() if session.status == "queued"} == {None}
    work_off(fleet)
    assert statuses(fleet) == dict.fromkeys(urls, "completed")
    assert {session.deaths for session in rows(fleet)} == {0}
    assert {session.id for session in left.values()} <= {session.id for session in rows(fleet)}
    assert_nothing_left(redis_client)
    assert_consistent(fleet)


def test_redis_goes_and_comes_back(tables: Home, shops: DemoServer, endings: list[Process]) -> None:
    """The worker says once that it waits, begins nothing meanwhile, and goes on by itself."""
    urls = shop_urls(shops, 6)
    with own_redis(persistent=True) as server:
        tables.extra.update(REDIS_URL=server.url, DOMAIN_LOCK_TTL_SECONDS="20")
        client = redis.Redis.from_url(server.url)
        client.rpush(KEY, *urls)
        log = tables.path / "worker.log"
        pace = ("-s", "SESSIONS_AT_ONCE=2", "-s", "DOWNLOAD_DELAY=0.5", "-s", f"LOG_FILE={log}")
        worker = tables.start_scrapy(*WORKER, *UNTIL_IDLE, *pace)
        endings.append(worker)
        wait_for(lambda: with_status(tables, "completed"))
        server.kill()
        wait_for(lambda: "fleet.paused" in log.read_text("utf-8"))
        begun = {row.id for row in rows(tables) if row.epoch}
        time.sleep(1)
        assert {row.id for row in rows(tables) if row.epoch} == begun
        server.start()
        worker.communicate(timeout=120)
        client.close()
    assert worker.returncode == 0
    said = log.read_text("utf-8")
    assert (said.count("fleet.paused"), said.count("fleet.goes_on")) == (1, 1)
    assert statuses(tables) == dict.fromkeys(urls, "completed")
    assert_consistent(tables)


@pytest.mark.parametrize(
    ("backend", "kills"),
    [
        pytest.param("postgresql", 20, marks=pytest.mark.soak),
        pytest.param("sqlite", 20, marks=pytest.mark.soak),
        pytest.param("sqlite", 400, marks=pytest.mark.soak(minutes=120)),
        pytest.param("postgresql", 400, marks=pytest.mark.soak(minutes=120)),
    ],
)
def test_whoever_is_killed_each_entry_is_stored_once(
    fleet: Home,
    request: pytest.FixtureRequest,
    shops: DemoServer,
    redis_client: redis.Redis,
    endings: list[Process],
    backend: str,
    kills: int,
) -> None:
    """Four workers, killed at random while entries come in: none is lost, none is done twice."""
    database_url = request.getfixturevalue(BACKENDS[backend])
    fleet.extra.update(DATABASE_URL=database_url, FLEET_MAX_DEATHS="100")  # no page is at fault here
    # Who lives has to be able to say so, however many others want the machine.
    fleet.extra["DOMAIN_LOCK_TTL_SECONDS"] = "6"
    dice = random.Random(kills)
    urls = [f"{shop}?{turn}" for turn in range(kills // 3) for shop in shop_urls(shops, 20)]
    workers = [start_quietly(fleet, endings) for _ in range(4)]
    for kill in range(kills):
        redis_client.lpush(KEY, *urls[kill::kills])
        victim = dice.randrange(4)
        if kill % 5 == 0:  # wherever the others are hit, this one is at work
            victim = wait_for(partial(at_work, fleet, workers)).pop()
        else:
            time.sleep(dice.uniform(0.3, 1.2))
        workers[victim].kill()
        workers[victim].wait(timeout=120)
        workers[victim] = start_quietly(fleet, endings)
    done = dict.fromkeys(urls, "completed")
    wait_for(lambda: statuses(fleet) == done, seconds=120 + 10 * kills)
    wait_for(lambda: redis_client.zcard(f"{KEY}:workers") == len(workers), seconds=120)  # the dead are found
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
    assert [worker.wait(timeout=120) for worker in workers] == [0] * 4
    assert statuses(fleet) == done
    assert sum(row.deaths for row in rows(fleet))  # or else nobody was at work when killed
    assert_nothing_left(redis_client)
    assert_consistent(fleet)
    assert_done_once(fleet)


def at_work(fleet: Home, workers: list[Process]) -> set[int]:
    """The numbers of the workers that have a session in hand."""
    owners = [row.owner for row in rows(fleet) if row.status == "running" and row.owner]
    pids = {int(owner.split("|")[3]) for owner in owners}
    return {number for number, worker in enumerate(workers) if worker.pid in pids}


def start_quietly(fleet: Home, endings: list[Process]) -> Process:
    """A worker whose log goes into a file, since nobody reads its pipe."""
    log = fleet.path / f"worker-{len(endings)}.log"
    slow_enough_to_be_hit = ("-s", "SESSIONS_AT_ONCE=4", "-s", "DOWNLOAD_DELAY=0.2")
    worker = fleet.start_scrapy(*WORKER, *slow_enough_to_be_hit, "-s", f"LOG_FILE={log}")
    endings.append(worker)
    return worker


def assert_done_once(fleet: Home) -> None:
    """Each session has the two pages of a completed visit under its last epoch."""
    database = fleet.database()
    with database.read() as db:
        last = select(Page.session_id, Page.page_type).join(
            CrawlSession, and_(CrawlSession.id == Page.session_id, CrawlSession.epoch == Page.epoch)
        )
        pages = sorted(map(tuple, db.execute(last)), key=str)
    database.close()
    assert pages == sorted(((row.id, kind) for row in rows(fleet) for kind in ("homepage", "pdp")), key=str)
