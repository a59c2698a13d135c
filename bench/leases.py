"""What leasing costs, and how that grows with the queue: `python -m bench leases`.

It starts its own PostgreSQL. Each figure is a median of rounds, in which all queues take turns: so a bad
moment of the machine is everyone's.
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen
from sqlalchemy import text

from bench.retention import DURABLE
from crawler.clock import utc_now
from crawler.db.engine import Database
from crawler.db.models import Base, Task
from crawler.leases.rows import Leases
from crawler.leases.rules import LeaseRules
from crawler.runs import store, tasks
from crawler.runs.tasks import NewTask
from tests.databases import fresh_database
from tests.servers import own_postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

SIZES = (1_000, 100_000, 1_000_000)
NAIVE_SIZES = SIZES[:2]
ROUNDS = {1: 150, 10: 60, 100: 30}  # of each batch
MOST = 1.5  # times the cost at a thousand
DOMAIN = "shop.example"
LINKS, KNOWN_LINKS = 200, 190  # of a page late in a crawl

FILL = """
INSERT INTO tasks (run_id, domain, url, url_sha256, kind, depth, created_at, status, priority, attempts,
                   next_run_at, lease_epoch, updated_at)
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :size)
SELECT :run, 'shop.example', 'https://shop.example/' || n, {digest}, 'page', 1, :now, 'pending', 0, 0,
       :now, 0, :now FROM numbers
"""
DIGEST = {
    "sqlite": "lower(hex(randomblob(32)))",
    "postgresql": "encode(sha256(CAST(n AS text)::bytea), 'hex')",
}
# What a database's own housekeeping does within minutes, so that no round pays for the filling.
SETTLE = {
    "sqlite": ("PRAGMA wal_checkpoint(TRUNCATE)", "ANALYZE"),
    "postgresql": ("VACUUM ANALYZE tasks", "CHECKPOINT"),
}


def main() -> None:
    """Print every figure."""
    with ExitStack() as stack:
        queues = stack.enter_context(own_queues())
        naive = [stack.enter_context(naive_queue(size)) for size in NAIVE_SIZES]
        print_rates([*queues, *naive])
        for queue in queues:
            if queue.size == SIZES[-1]:
                print_questions(queue)


# ── lease and finish ──


def print_rates(queues: list[Queue | NaiveQueue]) -> None:
    """Tasks leased and finished a second, and a batch's cost beside that in the shortest queue."""
    medians = {batch: medians_of(queues, batch) for batch in ROUNDS}
    print("tasks leased and finished a second by one process, in batches of")
    print(f"{'':12}{'pending':>12}" + "".join(f"{batch:>10}{'cost':>8}" for batch in ROUNDS))
    shortest = {queue.name: number for number, queue in reversed(list(enumerate(queues)))}
    for number, queue in enumerate(queues):
        line = f"{queue.name:12}{queue.size:>12,}"
        for batch, seconds in medians.items():
            cost = seconds[number] / seconds[shortest[queue.name]]
            line += f"{batch / seconds[number]:>10,.0f}{cost:>7.2f}{' ' if cost <= MOST else '!'}"
        print(line)
    print(f"(cost: times that of the same batch in the shortest queue; ! marks more than {MOST})")


def medians_of(queues: list[Queue | NaiveQueue], batch: int) -> list[float]:
    """Seconds a batch in each queue; what comes before it differs from round to round."""
    times: dict[int, list[float]] = {number: [] for number in range(len(queues))}
    dice = random.Random(batch)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - an order
    for _ in range(ROUNDS[batch] + 1):
        for number in dice.sample(sorted(times), len(times)):
            times[number].append(queues[number].seconds(batch))
    return [statistics.median(seconds[1:]) for seconds in times.values()]


@frozen
class Queue:
    """So many pending tasks in a run, all of one domain, and nothing else in the database."""

    name: str
    size: int
    database: Database
    run_id: int
    leases: Leases = field(factory=lambda: Leases(Task, LeaseRules(), ahead=True))

    def seconds(self, batch: int) -> float:
        """Lease a batch at once, finish it one by one as a crawl does, then make up for it."""
        now = utc_now()
        begin = time.perf_counter()
        with self.database.write() as db:
            taken, _ = tasks.lease(db, self.leases, self.run_id, DOMAIN, owner="bench", now=now, limit=batch)
        with self.database.write() as db:
            for task in taken:
                self.leases.finish(db, task.lease, now, outcome="stored")
        seconds = time.perf_counter() - begin
        if self.add(new_pages(f"after-{taken[0].lease.id}", batch)) != len(taken):
            raise RuntimeError("the queue does not keep its length")
        return seconds

    def add(self, pages: list[NewTask]) -> int:
        """Add pages in a transaction."""
        with self.database.write() as db:
            return tasks.add(db, self.run_id, pages, utc_now())


def new_pages(name: str, count: int) -> list[NewTask]:
    """Pages that nobody has seen before."""
    return [NewTask(f"https://{DOMAIN}/{name}-{n}", DOMAIN, f"{name}-{n}") for n in range(count)]


# ── questions ──


def print_questions(queue: Queue) -> None:
    """Milliseconds of what is asked while a run goes on, and of a page's links."""
    known = new_pages("known", KNOWN_LINKS)
    queue.add(known)

    def asked(ask: Callable[..., object], *more: object) -> None:
        with queue.database.read() as db:
            ask(db, queue.run_id, *more)

    def add_links() -> None:
        queue.add([*known, *new_pages(f"fresh-{time.perf_counter_ns()}", LINKS - KNOWN_LINKS)])

    print(f"\nmilliseconds a call on {queue.name}, {queue.size:,} pending")
    calls: dict[str, Callable[[], None]] = {
        "domains with something to lease": partial(asked, tasks.waiting_domains, utc_now()),
        "when a domain is due next": partial(asked, tasks.domain_due_at, DOMAIN),
        "whether the run is drained": partial(asked, tasks.is_drained),
        "tasks by status": partial(asked, tasks.counts),
        f"{LINKS} links of a page, {KNOWN_LINKS} of them known": add_links,
    }
    for name, call in calls.items():
        print(f"  {name:40}{median_ms(call):>10.2f}")


def median_ms(call: Callable[[], None]) -> float:
    """Of eleven calls, after one that warms up."""
    times = []
    for _ in range(12):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:]) * 1000


# ── the peer ──


@frozen
class NaiveQueue:
    """The queue that one writes first: the status indexed, all rows sorted at each lease, nothing fenced.

    It never waits for the disk, which flatters it.
    """

    size: int
    connection: sqlite3.Connection
    name: str = "naive sqlite"

    def seconds(self, batch: int) -> float:
        """Lease a batch and finish it one by one, then make up for it."""
        begin = time.perf_counter()
        self.connection.execute("BEGIN IMMEDIATE")
        query = (
            "SELECT id FROM queue WHERE status = 'pending' AND next_run_at <= ?"
            " ORDER BY priority DESC, id LIMIT ?"
        )
        rows = self.connection.execute(query, (utc_now().isoformat(), batch)).fetchall()
        self.connection.executemany("UPDATE queue SET status = 'in_progress' WHERE id = ?", rows)
        self.connection.execute("COMMIT")
        self.connection.execute("BEGIN IMMEDIATE")
        for row in rows:
            self.connection.execute("UPDATE queue SET status = 'finished' WHERE id = ?", row)
        self.connection.execute("COMMIT")
        seconds = time.perf_counter() - begin
        self.fill(batch)
        return seconds

    def fill(self, count: int) -> None:
        """Add pending rows."""
        rows = ((f"https://{DOMAIN}/{n}", "pending", 0, "2026-01-01") for n in range(count))
        insert = "INSERT INTO queue (url, status, priority, next_run_at) VALUES (?, ?, ?, ?)"
        self.connection.executemany(insert, rows)


@contextmanager
def naive_queue(size: int) -> Generator[NaiveQueue]:
    """One in a file of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(sqlite3.connect(Path(folder) / "naive.db", isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(
            "CREATE TABLE queue"
            " (id INTEGER PRIMARY KEY, url TEXT, status TEXT, priority INTEGER, next_run_at TEXT)"
        )
        connection.execute("CREATE INDEX by_status ON queue (status)")
        queue = NaiveQueue(size, connection)
        connection.execute("BEGIN")
        queue.fill(size)
        connection.execute("COMMIT")
        yield queue


# ── what it is measured on ──


@contextmanager
def own_queues() -> Generator[list[Queue]]:
    """A queue of each size on SQLite and on PostgreSQL, as durable as they come out of the box."""
    with (
        tempfile.TemporaryDirectory() as folder,
        own_postgresql(**DURABLE) as server,
        ExitStack() as stack,
    ):
        urls = [(size, f"sqlite:///{folder}/{size}.db") for size in SIZES]
        urls += [(size, stack.enter_context(fresh_database(server.url))) for size in SIZES]
        queues = []
        for size, url in urls:
            database = Database(url)
            stack.callback(database.close)
            queues.append(filled(database, size))
        yield queues


def filled(database: Database, size: int) -> Queue:
    """A queue in an empty database."""
    Base.metadata.create_all(database.engine)
    now = utc_now()
    name = "sqlite" if database.is_sqlite else "postgresql"
    with database.write() as db:
        run_id = store.create(db, "bench", {}, max_pages=None, now=now)
        stored = now.strftime("%Y-%m-%d %H:%M:%S.%f") if database.is_sqlite else now
        fill = text(FILL.replace("{digest}", DIGEST[name]))
        db.execute(fill, {"run": run_id, "size": size, "now": stored})
        db.execute(text("UPDATE runs SET planned = :size"), {"size": size})
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in SETTLE[name]:
            connection.exec_driver_sql(statement)
    return Queue(name, size, database, run_id)


if __name__ == "__main__":
    main()
