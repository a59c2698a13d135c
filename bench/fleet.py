"""What a session costs a fleet, measured; and how far that goes with 10,000 domains, on a virtual clock.

Costs are the difference between a worker that does few sessions and one that does many, so that start and
end are no session's: CPU of the worker, PostgreSQL and Redis, statements, transactions, Redis's commands,
bytes. With them `bench.fleet_model` has ever more workers visit 10,000 domains, and says which server is the
first to be full.

`python -m bench.fleet`; it starts its own PostgreSQL, Redis and shops.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import timedelta
from threading import Event, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import psycopg
from attrs import frozen
from redis import Redis

from bench.fleet_model import Costs, Fleet, Simulation
from bench.machine import Watch, seconds_of
from bench.slice import DURABLE
from crawler.db.engine import Database
from crawler.db.revisions import upgrade
from crawler.demo import NETWORK, spawn
from crawler.fleet.store import FleetStore
from crawler.fleet.worker import MOST_WAITING
from crawler.sessions.rows import SessionOrder
from tests.servers import own_postgresql, own_redis

if TYPE_CHECKING:
    from crawler.sessions.store import SessionStore
    from tests.servers import Server

FEW, MANY = 20, 140
PAGE_BYTES = 100_000
FLEETS = (25, 50, 100, 200, 400, 800)
FEW_WAIT = 10  # as in the measured crawl, whose looks are taken off a session's cost
WAITING = (400, 10_000)
LOOKS, COMMITS = 200, 100


@frozen
class Place:
    """The servers of this run."""

    postgresql: Server
    redis_url: str
    shops: list[str]
    folder: str

    def work_off(self, sessions: int) -> dict[str, float]:
        """Have one worker do so many sessions; what everybody spent on it."""
        with Redis.from_url(self.redis_url) as client:
            client.flushdb()
            client.rpush("pdp:start_urls", *self.shops[:sessions])
            before = self._of_servers(client)
            done, connections = self._worker()
            after = self._of_servers(client)
        if done["sessions"] != sessions:
            raise SystemExit(f"{done['sessions']} sessions completed instead of {sessions}")
        return done | {name: after[name] - before[name] for name in after} | {"connections": connections}

    def _worker(self) -> tuple[dict[str, float], int]:
        environment = {
            **os.environ, "VITRINE_HOME": self.folder, "DATABASE_URL": self.postgresql.url,
            "REDIS_URL": self.redis_url, "EGRESS_ALLOW": NETWORK, "DOMAIN_MIN_DELAY_MS": "0",
        }  # fmt: skip
        over, most = Event(), [0]
        counting = Thread(target=self._count_connections, args=(over, most))
        counting.start()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "bench.fleet_worker"],
                env=environment, check=True, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        finally:
            over.set()
            counting.join()
        return dict(json.loads(done.stdout.splitlines()[-1])), most[0]

    def _count_connections(self, over: Event, most: list[int]) -> None:
        with psycopg.connect(self.postgresql.url, autocommit=True) as connection:
            others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            while not over.wait(0.05):
                found = connection.execute(others).fetchone()
                most[0] = max(most[0], (found[0] if found else 1) - 1)

    def _of_servers(self, client: Redis) -> dict[str, float]:
        cpu: dict[str, Any] = client.info("cpu")
        stats: dict[str, Any] = client.info("commandstats")
        calls = {name.removeprefix("cmdstat_"): each["calls"] for name, each in stats.items()}
        return {
            "redis_cpu": cpu["used_cpu_user"] + cpu["used_cpu_sys"],
            "redis_scripts": sum(calls.get(name, 0) for name in ("evalsha", "eval")),
            "redis_commands": sum(calls.values()) - calls.get("info", 0),
            "database_cpu": seconds_of(self.postgresql.pid),
        }


def main() -> None:
    """Measure, simulate, and print both."""
    with ExitStack() as stack:
        postgresql = stack.enter_context(own_postgresql(**DURABLE))
        redis_url = stack.enter_context(own_redis(persistent=True)).url
        shops = stack.enter_context(spawn(bulk=MANY, page_bytes=PAGE_BYTES))
        starts = [shops.url(f"shop-{number:04}") for number in range(1, MANY + 1)]
        database = Database(postgresql.url)
        stack.callback(database.close)
        upgrade(database)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        place = Place(postgresql, redis_url, starts, folder)
        watch = Watch.start(postgresql.pid, shops.pid)
        place.work_off(FEW)  # renders pages, and fills caches
        few, many = place.work_off(FEW), place.work_off(MANY)
        each = {name: (many[name] - few[name]) / (MANY - FEW) for name in many}
        print_costs(each, many)
        commit = seconds_of_a_commit(postgresql.url)
        pid = postgresql.pid
        looks = {waiting: cpu_of_a_look(database, pid, waiting) for waiting in (FEW_WAIT, *WAITING)}
        print(f"beside {watch.cores_of_others():.1f} cores of others\n")
    print(f"a commit {commit * 1000:.2f} ms; PostgreSQL's CPU of a look for work, by sessions that wait:")
    for waiting, seconds in looks.items():
        print(f"  {waiting:6} {seconds * 1000:8.2f} ms")
    crawl_alone = each | {"database_cpu": max(0.0, each["database_cpu"] - looks.pop(FEW_WAIT))}
    for waiting, seconds in looks.items():
        print(f"\n{Fleet().domains} domains, {waiting} sessions wait")
        simulate(costs_of(crawl_alone, commit, seconds))


def print_costs(each: dict[str, float], many: dict[str, float]) -> None:
    """A line for each thing that a session costs."""
    print(f"a session (pages of {PAGE_BYTES // 1000} KB), from {FEW} and {MANY} of them")
    for name, unit, factor in (
        ("requests", "", 1), ("cpu", "ms", 1000), ("database_cpu", "ms", 1000), ("redis_cpu", "ms", 1000),
        ("queries", "", 1), ("transactions", "", 1), ("commits", "", 1), ("redis_scripts", "", 1),
        ("redis_commands", "", 1), ("received", "KB", 0.001), ("stored", "KB", 0.001), ("files", "", 1),
    ):  # fmt: skip
        print(f"  {name:16} {each[name] * factor:8.2f} {unit}")
    print(f"a worker: {many['peak_mib']:.0f} MiB, {many['connections']:.0f} connections at most")


def costs_of(each: dict[str, float], commit: float, look: float) -> Costs:
    """What was measured, as the model wants it."""
    return Costs(
        worker_cpu=each["cpu"], database_cpu=each["database_cpu"], redis_cpu=each["redis_cpu"],
        commits=each["commits"], commit_seconds=commit, look_cpu=look, look_redis=each["redis_cpu"] / 4,
    )  # fmt: skip


def simulate(costs: Costs) -> None:
    """A line for each size of a fleet."""
    print("workers  sessions/s  at once  workers  Redis  PostgreSQL  commits  longest wait  renewal")
    for workers in FLEETS:
        came = Simulation(Fleet(workers=workers), costs).run()
        if came.overlaps:
            raise SystemExit("a domain was visited by two at once")
        shares = [came.busy[name] for name in ("workers", "Redis", "PostgreSQL", "commits")]
        print(
            f"{workers:7} {came.rate:11.1f} {came.most_at_once:8} {shares[0]:8.0%} {shares[1]:6.1%}"
            f" {shares[2]:11.0%} {shares[3]:8.0%} {max(came.longest_wait.values()):11.2f} s"
            f" {came.latest_renewal:6.0f} s  fullest: {came.fullest}"
        )


def seconds_of_a_commit(url: str) -> float:
    """The median of a transaction that writes one row, with the disk waited for."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE ticks (n int)")
        return statistics.median(
            timed(lambda: connection.execute("INSERT INTO ticks VALUES (1)")) for _ in range(COMMITS)
        )


def cpu_of_a_look(database: Database, server: int, waiting: int) -> float:
    """What a worker's look for work takes of PostgreSQL's CPU, while so many sessions wait."""
    store = FleetStore(cast("SessionStore", SimpleNamespace(database=database, ttl=timedelta(days=1))))
    names = [f"{number}.example" for number in range(waiting)]
    orders = [SessionOrder(f"https://{name}/", name, entry_id=name) for name in names]
    for first in range(0, waiting, 1000):
        store.add(orders[first : first + 1000], {})  # those of before are known
    with database.write() as db:
        db.connection().exec_driver_sql("ANALYZE")
    before = seconds_of(server)
    for _ in range(LOOKS):
        store.waiting(8, set())
        store.count_waiting(MOST_WAITING)
    return (seconds_of(server) - before) / LOOKS


def timed(call: Any) -> float:
    """Seconds that it takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
