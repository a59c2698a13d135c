"""Passes of the index beside each other, beside a crawl, and what they have written beside pywb."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select, text

from bench.replay import HEAD, URLS, archive_of, print_in_turn, served, served_by_pywb
from crawler.clock import utc_now
from crawler.db import revisions
from crawler.db.engine import Database
from crawler.db.models import Job, RegisteredSource, Snapshot
from crawler.demo import NETWORK, spawn
from tests.databases import fresh_database
from tests.servers import MissingServerError, own_postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
# Which passes stand beside which.
COMPARED = {
    ("one near", "two near"): "a core each, with what the server does for it",
    ("one", "two"): "a core each",
    ("one free", "two free"): "all cores",
}
SHOPS = 24
POLL_SECONDS = 0.02


@frozen
class Rows:
    """A job whose crawl is over, as a pass is given it."""

    job: int
    source: int
    folder: Path


def job_in(database: Database, folder: Path) -> Rows:
    """A job of a source of its own, with its files in that folder."""
    now = utc_now()
    with database.write() as db:
        source = RegisteredSource(code=folder.name, name="x", enabled=True, created_at=now, updated_at=now)
        db.add(source)
        db.flush()
        job = Job(source_id=source.id, name="x", output_dir=str(folder), status="completed", created_at=now,
                  updated_at=now)  # fmt: skip
        db.add(job)
        db.flush()
        return Rows(job.id, source.id, folder)


@contextmanager
def _servers() -> Generator[dict[str, str | None]]:
    """By the database's name: the URL of its server; SQLite has none."""
    with ExitStack() as stack:
        servers: dict[str, str | None] = {"SQLite": None}
        try:
            servers["PostgreSQL"] = stack.enter_context(own_postgresql()).url
        except MissingServerError as error:
            print(f"without PostgreSQL: {error}")
        yield servers


@contextmanager
def _fresh(server: str | None, folder: Path) -> Generator[str]:
    with ExitStack() as stack:
        url = (
            stack.enter_context(fresh_database(server))
            if server
            else f"sqlite:///{folder}/{time.time_ns()}.db"
        )
        revisions.upgrade(database := Database(url))
        database.close()
        yield url


# ── two passes ──


def two(folders: Sequence[Path]) -> None:
    """One pass and two, on a core each or on all there are; every other round backwards.

    SQLite works in the process of whoever asks it. A server does not: it is told with what it does for a pass
    on that pass's core, and again with all of it where it likes, which gives the one pass a second core.
    """
    with _servers() as servers:
        for name, server in servers.items():
            rounds = [_round(server, folders, backwards=number % 2 == 1) for number in range(ROUNDS)]
            print(f"{name}:")
            for (one, both), what in COMPARED.items():
                if server or "near" not in one:
                    _print_two(what, [(each[one], each[both]) for each in rounds])


@frozen
class _Rate:
    """Pages a second, the processors' time for all of them, in cores, and what all else had of it."""

    pages: float
    cores: float
    others: float


def _print_two(what: str, rounds: Sequence[tuple[_Rate, _Rate]]) -> None:
    ratios = [two.pages / one.pages for one, two in rounds]
    rates = [statistics.median(each[n].pages for each in rounds) for n in (0, 1)]
    cores = [statistics.median(each[n].cores for each in rounds) for n in (0, 1)]
    others = statistics.median(each.others for pair in rounds for each in pair)
    said = ", ".join(f"{each:.2f}" for each in ratios)
    print(
        f"  {what}, beside {others:.2f} cores of other work: one pass {rates[0]:.0f} pages/s with"
        f" {cores[0]:.2f} cores, two {rates[1]:.0f} with {cores[1]:.2f}:"
        f" {statistics.median(ratios):.2f} x ({said})",
        flush=True,
    )


def _round(server: str | None, folders: Sequence[Path], *, backwards: bool) -> dict[str, _Rate]:
    first, *_, last = sorted(os.sched_getaffinity(0))
    own, every = [{first}, {last}], [{first, last}] * 2
    ways = {
        "one near": (own[:1], "near"), "two near": (own, "near"), "one": (own[:1], "once"),
        "two": (own, "once"), "one free": (every[:1], "once"), "two free": (every, "once"),
    }  # fmt: skip
    names = sorted(ways, reverse=backwards)
    return {name: _rate(server, list(zip(folders, ways[name][0], strict=False)), ways[name][1])
            for name in names if server or "near" not in name}  # fmt: skip


def _rate(server: str | None, passes: Sequence[tuple[Path, set[int]]], how: str) -> _Rate:
    with _fresh(server, passes[0][0].parent) as url:
        database = Database(url)
        workers = [_worker(url, job_in(database, folder), cores, how) for folder, cores in passes]
        database.close()
        began, busy = time.perf_counter(), _busy()
        for each in workers:
            _go(each)
        figures = [_figures(each) for each in workers]
        seconds, busy = time.perf_counter() - began, _busy() - busy
        pages, cores = (sum(each[what] for each in figures) / seconds for what in ("pages", "cpu"))
        return _Rate(pages, cores, busy / seconds - cores)


def _busy() -> float:
    """Seconds that this machine's processors have worked."""
    user, nice, system = Path("/proc/stat").read_text(encoding="ascii").split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def _worker(url: str, rows: Rows, cores: set[int], how: str = "once") -> subprocess.Popen[str]:
    said = (url, str(rows.job), str(rows.source), str(rows.folder), how)
    worker = subprocess.Popen(
        [sys.executable, "-m", "bench.index_worker", *said],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.sched_setaffinity(worker.pid, cores)
    assert worker.stdout is not None  # ruff: ignore[assert] - it was asked for
    worker.stdout.readline()  # it is ready
    return worker


def _go(worker: subprocess.Popen[str]) -> None:
    assert worker.stdin is not None  # ruff: ignore[assert] - it was asked for
    worker.stdin.write("\n")
    worker.stdin.flush()


def _figures(worker: subprocess.Popen[str]) -> dict[str, float]:
    said, _ = worker.communicate()
    return dict(json.loads(said.splitlines()[-1]))


# ── memory ──


def memory(database: Database, rows: Rows, looks: Sequence[int]) -> Iterator[tuple[int, float]]:
    """How many MiB a pass and its readers have taken at most, when so many pages were indexed."""
    worker = _worker(str(database.url), rows, os.sched_getaffinity(0), "memory")
    _go(worker)
    left = list(looks)
    for line in worker.stdout or ():
        said = json.loads(line)
        if left and "mib" in said and said["pages"] >= left[0]:
            yield left.pop(0), said["mib"]
    worker.communicate()


# ── a crawl ──


def beside(folder: Path) -> None:
    """The pages a second of a crawl alone, and while a job is indexed again and again into its database.

    The two crawls of a round follow each other, every other round backwards; told is the median ratio.
    """
    with _servers() as servers, spawn(bulk=SHOPS) as shops:
        homes = [shops.url(f"shop-{number:04}") for number in range(1, SHOPS + 1)]
        for name, server in servers.items():
            rounds = []
            for number in range(ROUNDS):
                ways = (False, True) if number % 2 == 0 else (True, False)
                rounds.append({busy: _crawl(server, folder, homes, busy=busy) for busy in ways})
            _print_beside(name, [(each[False], each[True]) for each in rounds])


def _print_beside(name: str, rounds: Sequence[tuple[_Crawled, _Crawled]]) -> None:
    ratios = [busy.rate / alone.rate for alone, busy in rounds]
    alone, busy = (statistics.median(each[n].rate for each in rounds) for n in (0, 1))
    before, waits = (statistics.median(1000 * each[n].wait for each in rounds) for n in (0, 1))
    print(
        f"{name}: a crawl alone {alone:.0f} pages/s, beside a pass {busy:.0f}:"
        f" {statistics.median(ratios):.2f} x ({', '.join(f'{each:.2f}' for each in ratios)}); the pass has"
        f" {statistics.median(busy.indexed for _, busy in rounds):.0f} pages/s; other writers wait"
        f" {waits:.0f} ms beside both (p99), {before:.0f} ms beside the crawl alone",
        flush=True,
    )


@frozen
class _Crawled:
    rate: float
    wait: float
    indexed: float = 0.0


def _crawl(server: str | None, folder: Path, homes: list[str], *, busy: bool = False) -> _Crawled:
    home = folder / f"home{time.time_ns()}"
    home.mkdir()
    sources = home / "sources.toml"
    sources.write_text(f"[sources.bench]\nstart_urls = {json.dumps(homes)}\n", encoding="utf-8")
    with _fresh(server, folder) as url:
        database = Database(url)
        rows = job_in(database, folder / "one")
        worker = _worker(url, rows, os.sched_getaffinity(0), "again") if busy else None
        if worker is not None:
            _go(worker)
        environment = {
            **os.environ, "VITRINE_HOME": str(home), "DATABASE_URL": url, "EGRESS_ALLOW": NETWORK,
            "SOURCES_FILE": str(sources), "SESSIONS_AT_ONCE": "16", "DOMAIN_MIN_DELAY_MS": "0",
        }  # fmt: skip
        with waiting(database) as waits:
            done = subprocess.run([sys.executable, "-m", "bench.site_worker", "site", "bench"],
                                  env=environment, check=True, stdout=subprocess.PIPE, text=True)  # fmt: skip
        rate = float(json.loads(done.stdout.splitlines()[-1])["per_second"])
        if worker is None:
            return _Crawled(rate, waits[0])
        indexed = _figures(worker)
        database.close()
        return _Crawled(rate, waits[0], indexed["pages"] / indexed["seconds"])


@contextmanager
def waiting(database: Database) -> Generator[list[float]]:
    """How long another writer waits for its turn in the block: the longest but one in a hundred."""
    waits: list[float] = []
    found: list[float] = []
    done = threading.Event()

    def write() -> None:
        while not done.wait(POLL_SECONDS):
            began = time.perf_counter()
            with database.write() as db:
                waits.append(time.perf_counter() - began)
                db.execute(text("UPDATE sources SET name = 'bench'"))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield found
    finally:
        done.set()
        writer.join()
        found.append(sorted(waits)[int(len(waits) * 0.99)] if waits else 0.0)


# ── pywb ──


def raw(folder: Path, index: Callable[[Database, Path], object]) -> None:
    """A snapshot's body by its number, beside the same bytes by their address in pywb."""
    path = archive_of(folder)
    addresses: list[str] = []

    def fill(database: Database) -> None:
        index(database, folder / "job")
        with database.read() as db:
            found = {url: key for key, url in db.execute(select(Snapshot.id, Snapshot.url))}
        addresses.extend(f"/api/snapshots/raw/{found[url]}" for url in URLS)

    with served(folder / "home", fill) as ours, suppress(MissingServerError):
        print(HEAD)
        with served_by_pywb(folder, path) as (pywb, collection):
            theirs = [f"{collection}/2026id_/{url}" for url in URLS]
            for how, kept in (("new connections", False), ("a kept connection", True)):
                print_in_turn(f"a body, {how}", (ours, addresses), (pywb, theirs), kept=kept)
