"""Pages a second of everything that Vitrine does to a page, beside a bare Scrapy spider on the same pages.

The bare spider obeys robots.txt too, and yields each page's URL and nothing else; it is measured at Scrapy's
own CONCURRENT_ITEMS and at ours, which makes it faster. Two shapes of work: `spider` is that very spider
under Vitrine's settings (a session a domain, ten pages each, every page judged and kept), on SQLite and on
PostgreSQL; `sessions` is the pdp spider (a session, with its lock, states and log, for every two pages).

`python -m bench.slice [NAME…] [--short]`: `--short` is a fifth of the pages, and carries more of start and
end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from bench.machine import MOST_BESIDE, Watch
from bench.slice_worker import AT_ONCE
from bench.words import parser_of
from crawler.db.engine import Database
from crawler.db.revisions import upgrade
from crawler.demo import NETWORK, spawn
from tests.databases import fresh_database
from tests.servers import own_postgresql

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.servers import Server

PAGE_BYTES = 100_000
ROUNDS = 3
TRIES = 3  # for each round that is wanted
SHORT = 5
# As a server comes out of the box; the test suite's own never waits for the disk.
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "autovacuum": "on"}
_HOUSE = {"EGRESS_ALLOW": NETWORK, "SESSIONS_AT_ONCE": str(AT_ONCE), "DOMAIN_MIN_DELAY_MS": "0"}
PARTS = ("reactor_ms", "elsewhere_ms", "readers_ms")
COLUMNS = (
    "work", "pages", "bare/s", "bare at our items/s", "full/s", "of bare", "of bare at our items",
    "bare ms", "reactor ms", "elsewhere ms", "readers ms", "MiB", "others' cores",
)  # fmt: skip


@frozen
class Shape:
    """Shops, and how many pages of each are visited."""

    name: str
    mode: str
    shops: int
    pages: int
    is_on_server: bool = False


SHAPES = (
    Shape("spider", "spider", 300, 10),
    Shape("spider-postgresql", "spider", 300, 10, is_on_server=True),
    Shape("sessions", "sessions", 1500, 2),
)


@frozen
class Round:
    """The three crawls, one after the other, and who else was there."""

    bare: dict[str, Any]
    bare_at_ours: dict[str, Any]
    full: dict[str, Any]
    beside: float  # cores of others, in the crawl that had the most beside it

    @property
    def ratio(self) -> float:
        """The full crawl's rate as a part of the bare one's."""
        return _speed(self.full) / _speed(self.bare)


def main() -> None:
    """Measure bare and full in turn, and print the median round of each shape."""
    shapes = _wanted()
    print(f"pages of {PAGE_BYTES // 1000} KB, {AT_ONCE} at once, {os.cpu_count()} cores\n")
    done = []
    with (
        spawn(bulk=max(shape.shops for shape in shapes), page_bytes=PAGE_BYTES) as shops,
        # Emptied at the end only: some file systems are slow to give out inodes just after many went.
        tempfile.TemporaryDirectory() as place,
        ExitStack() as stack,
    ):
        for shape in shapes:
            homes = [shops.url(f"shop-{number:04}") for number in range(1, shape.shops + 1)]
            server = stack.enter_context(own_postgresql(**DURABLE)) if shape.is_on_server else None
            bench = Bench(shape, homes, place, shops.pid, server)
            bench.crawl("bare")  # renders every page once, so that nobody pays for it below
            done.append((shape, bench.median_round()))
    print("\n| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for shape, middle in done:
        _print(shape, middle)


def _wanted() -> list[Shape]:
    parser = parser_of("slice", [shape.name for shape in SHAPES])
    parser.add_argument("--short", action="store_true", help="a fifth of the pages")
    wanted = parser.parse_args()
    shapes = [shape for shape in SHAPES if shape.name in wanted.parts]
    return [evolve(shape, shops=shape.shops // SHORT) for shape in shapes] if wanted.short else shapes


@frozen
class Bench:
    """One shape of work on the shops of one server."""

    shape: Shape
    homes: list[str]
    place: str
    shops: int  # the process that serves them
    server: Server | None  # where the database is no file

    def median_round(self) -> Round:
        """The round in the middle of those that had the machine to themselves, or of all where none had."""
        rounds: list[Round] = []
        for _ in range(ROUNDS * TRIES):
            rounds.append(self.round())
            if sum(map(_is_quiet, rounds)) == ROUNDS:
                break
        quiet = list(filter(_is_quiet, rounds)) or rounds
        return sorted(quiet, key=lambda each: each.ratio)[len(quiet) // 2]

    def round(self) -> Round:
        """Measure the three in turn, and say so."""
        bare, bare_at_ours, full = map(self.crawl, ("bare", "bare-at-ours", self.shape.mode))
        done = Round(bare[0], bare_at_ours[0], full[0], max(each[1] for each in (bare, bare_at_ours, full)))
        told = "" if _is_quiet(done) else ": dropped"
        print(
            f"{self.shape.name}: {_speed(done.bare):.0f}, {_speed(done.bare_at_ours):.0f} → "
            f"{_speed(done.full):.0f}/s ({done.ratio:.2f}), {_cpu_ms(done.bare):.2f}, "
            f"{_cpu_ms(done.bare_at_ours):.2f} → {_cpu_ms(done.full):.2f} ms of CPU a page, "
            f"beside {done.beside:.2f} cores of others{told}",
            flush=True,
        )
        return done

    def crawl(self, mode: str) -> tuple[dict[str, Any], float]:
        """Crawl once; the figures, and the cores of others meanwhile."""
        folder = tempfile.mkdtemp(dir=self.place)
        urls = Path(folder) / "urls.txt"
        urls.write_text("\n".join(self.homes), encoding="utf-8")
        with ExitStack() as stack:
            environment = {**os.environ, "VITRINE_HOME": folder, **_HOUSE}
            servers = [self.shops]
            if self.server is not None:
                servers.append(self.server.pid)
                environment["DATABASE_URL"] = stack.enter_context(_tables(self.server.url))
            watch = Watch.start(*servers)
            done = subprocess.run(
                [sys.executable, "-m", "bench.slice_worker", mode, str(urls), str(self.shape.pages)],
                env=environment, check=True, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            beside = watch.cores_of_others()
        return dict(json.loads(done.stdout.splitlines()[-1])), beside


@contextmanager
def _tables(server: str) -> Generator[str]:
    """The URL of a new database with empty tables."""
    with fresh_database(server) as url:
        database = Database(url)
        upgrade(database)
        database.close()
        yield url


def _is_quiet(done: Round) -> bool:
    return done.beside <= MOST_BESIDE


def _speed(figures: dict[str, Any]) -> float:
    return float(figures["per_second"])


def _cpu_ms(figures: dict[str, Any]) -> float:
    return sum(float(figures[name]) for name in PARTS)


def _print(shape: Shape, middle: Round) -> None:
    bare, full = middle.bare, middle.full
    cells = (
        f"{shape.name}, {shape.shops} shops", full["pages"],
        f"{_speed(bare):.0f}", f"{_speed(middle.bare_at_ours):.0f}", f"{_speed(full):.0f}",
        f"{middle.ratio:.2f}", f"{_speed(full) / _speed(middle.bare_at_ours):.2f}",
        f"{_cpu_ms(bare):.2f}", *(f"{full[name]:.2f}" for name in PARTS),
        f"{full['peak_mib']:.0f}", f"{middle.beside:.2f}",
    )  # fmt: skip
    print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
