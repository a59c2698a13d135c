"""What letting evidence go costs: `python -m bench.retention [--full]` (it starts its own PostgreSQL).

`--full` measures one batch among a million rows instead of a hundred thousand, which takes some minutes.
"""

from __future__ import annotations

import logging
import os
import statistics
import sys
import tempfile
import time
import zlib
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from functools import partial
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen
from isal import igzip
from sqlalchemy import delete, insert, select, text

from bench.pdp import pages_folder, saved_pages
from crawler.clock import utc_now
from crawler.db.engine import Database
from crawler.db.models import Artifact, Base, CrawlSession
from crawler.db.models.evidence import IS_UNTRIED
from crawler.evidence.folder_store import FolderStore
from crawler.retention import claims
from crawler.retention.cleanup import CleanupOrder, clean_up
from tests.servers import own_postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from uuid import UUID

    from crawler.retention.plan import CleanupResult

ARTIFACTS = 3_000
NAIVE_ARTIFACTS = 400
ROUNDS = 3
BATCH = 100
BATCHES = 30
SMALL, LARGE, FULL = 10_000, 100_000, 1_000_000
INSERT_ROWS = 10_000
PAGE = os.urandom(4_000)  # small, or the disk is still busy with writing when the deleting begins
SIBLINGS = ("features.json", "visible_text.txt")  # what stays in a page's folder
# As a server comes out of the box; the test suite's own never waits for the disk.
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "autovacuum": "on"}
ZLIB_LEVELS, ISAL_LEVELS = (1, 6, 9), (0, 1, 2, 3)


@frozen
class Place:
    """A database and a folder to measure on."""

    name: str
    database: Database
    root: Path
    session_id: UUID

    @property
    def blobs(self) -> FolderStore:
        """The store on the folder."""
        return FolderStore(self.root)


def main() -> None:
    """Print every figure."""
    with quiet_log(), places() as both:
        print_speed(both)
        print_batches(both, FULL if "--full" in sys.argv[1:] else LARGE)
    print_compression()


# ── how fast ──


def print_speed(both: Iterable[Place]) -> None:
    """Artifacts deleted per second, beside the loop that one writes first and the files by themselves."""
    print(f"\ndeleting {ARTIFACTS} expired pages, files and database included (best of {ROUNDS} rounds)")
    print(f"{'':12}{'naive loop':>14}{'cleanup':>14}{'ratio':>8}{'unlink alone':>16}")
    for place in both:
        rounds = [(naive_rate(place), cleanup_rate(place), unlink_rate(place)) for _ in range(ROUNDS)]
        naive, ours, limit = map(max, zip(*rounds, strict=True))
        print(f"{place.name:12}{naive:>12,.0f}/s{ours:>12,.0f}/s{ours / naive:>7.1f}x{limit:>14,.0f}/s")


def unlink_rate(place: Place) -> float:
    """The limit: files per second of a loop that only unlinks."""
    fill(place, ARTIFACTS, files=True)
    paths = [place.root / row["storage_uri"] for row in pages(place, ARTIFACTS)]
    begin = time.perf_counter()
    for path in paths:
        path.unlink()
    return ARTIFACTS / (time.perf_counter() - begin)


def naive_rate(place: Place) -> float:
    """Artifacts per second of the loop that one writes first, on the same files."""
    fill(place, ARTIFACTS, files=True)
    begin = time.perf_counter()
    for _ in range(NAIVE_ARTIFACTS):
        with place.database.write() as db:
            row = db.scalars(oldest_expired()).one()
            (place.root / row.storage_uri).unlink(missing_ok=True)
            row.deleted_at = utc_now()
    return NAIVE_ARTIFACTS / (time.perf_counter() - begin)


def oldest_expired() -> Any:
    """The documented query for one row, in words that let an index serve it."""
    is_due = (text(IS_UNTRIED), Artifact.retention_until < utc_now())
    return select(Artifact).where(*is_due).order_by(Artifact.retention_until, Artifact.id).limit(1)


def cleanup_rate(place: Place) -> float:
    """Artifacts per second of one pass, its log lines included."""
    fill(place, ARTIFACTS, files=True)
    begin = time.perf_counter()
    result = clean_up(place.database, place.blobs, CleanupOrder(batch_size=ARTIFACTS))
    seconds = time.perf_counter() - begin
    return result.deleted / seconds


# ── how it grows ──


def print_batches(both: Iterable[Place], large: int) -> None:
    """One batch among few rows and among many, all of them expired; and the count of what remains."""
    print(f"\none batch of {BATCH} (median of {BATCHES}), and counting what remains, once a pass")
    print(f"{'':12}{'rows':>12}{'batch':>12}{'ratio':>8}{'count':>12}")
    for place in both:
        first = 0.0
        for rows in (SMALL, large):
            fill(place, rows, files=False)
            batch, count = batch_ms(place)
            first = first or batch
            print(f"{place.name:12}{rows:>12,}{batch:>9.1f} ms{batch / first:>7.2f}x{count:>9.1f} ms")


def batch_ms(place: Place) -> tuple[float, float]:
    """Milliseconds of a batch, and of the count that each pass ends with."""
    ends: list[float] = []

    def note_end(_: CleanupResult) -> None:
        ends.append(time.perf_counter())
        if len(ends) > BATCHES:
            raise EnoughError

    with suppress(EnoughError):
        clean_up(place.database, place.blobs, CleanupOrder(batch_size=BATCH, max_seconds=600), note_end)
    begin = time.perf_counter()
    with place.database.read() as db:
        claims.count_due(db, utc_now())
    count = time.perf_counter() - begin
    return statistics.median(end - start for start, end in pairwise(ends)) * 1000, count * 1000


class EnoughError(Exception):
    """All batches that are to be measured are done."""


# ── how small ──


def print_compression() -> None:
    """Milliseconds and bytes a page of the compressors that write gzip."""
    bodies, source = page_bodies()
    size = sum(map(len, bodies)) / len(bodies)
    print(f"\ncompressing {len(bodies)} {source}, {size:,.0f} bytes each on average")
    print(f"{'':16}{'ms/page':>10}{'bytes/page':>14}{'of zlib 6':>12}")
    figures = {name: compressed(pack, bodies) for name, pack in compressors()}
    for name, (ms, packed) in figures.items():
        print(f"{name:16}{ms:>10.2f}{packed:>14,.0f}{packed / figures['zlib 6'][1]:>11.2f}x")


def compressors() -> Iterator[tuple[str, Callable[[bytes], bytes]]]:
    """Each with its levels; zlib-ng only where it is installed."""
    yield from ((f"zlib {level}", partial(zlib.compress, level=level, wbits=31)) for level in ZLIB_LEVELS)
    try:
        compress = import_module("zlib_ng.zlib_ng").compress
    except ImportError:
        print("(zlib-ng is not installed)")
    else:
        yield from ((f"zlib-ng {level}", partial(compress, level=level, wbits=31)) for level in ZLIB_LEVELS)
    yield from ((f"isal {level}", partial(igzip.compress, compresslevel=level)) for level in ISAL_LEVELS)


def compressed(pack: Callable[[bytes], bytes], bodies: list[bytes]) -> tuple[float, float]:
    """Milliseconds and bytes a page, the faster of two rounds."""
    rounds = []
    for _ in range(2):
        begin = time.perf_counter()
        packed = sum(len(pack(body)) for body in bodies)
        rounds.append((time.perf_counter() - begin, packed))
    seconds, packed = min(rounds)
    return seconds * 1000 / len(bodies), packed / len(bodies)


def page_bodies() -> tuple[list[bytes], str]:
    """Real pages where some are saved, else those of the tests."""
    folder = pages_folder()
    if folder:
        return [page.body for page in saved_pages(folder)], "saved pages"
    own = Path(__file__).parent.parent / "tests" / "contract" / "pdp"
    return [path.read_bytes() for path in sorted(own.rglob("*.html"))], "pages of the tests"


# ── what it is measured on ──


@contextmanager
def quiet_log() -> Generator[None]:
    """Log at INFO as a cron job does, into nothing."""
    root = logging.getLogger()
    with open(os.devnull, "w", encoding="utf-8") as nothing:  # ruff: ignore[builtin-open] - a device
        handler = logging.StreamHandler(nothing)
        root.addHandler(handler)
        root.setLevel(logging.INFO)
        try:
            yield
        finally:
            root.removeHandler(handler)


@contextmanager
def places() -> Generator[list[Place]]:
    """SQLite and PostgreSQL with empty tables, each with a folder."""
    with (
        tempfile.TemporaryDirectory() as folder,
        own_postgresql(**DURABLE) as server,
    ):
        urls = {"sqlite": f"sqlite:///{folder}/vitrine.db", "postgresql": server.url}
        with ExitStack() as stack:
            yield [opened(stack, name, each, Path(folder) / name) for name, each in urls.items()]


def opened(stack: ExitStack, name: str, url: str, root: Path) -> Place:
    """A place with one session."""
    database = Database(url)
    stack.callback(database.close)
    Base.metadata.create_all(database.engine)
    root.mkdir()
    session = CrawlSession(
        url="https://shop.example/", domain="shop.example", mode="standard", retention_policy="standard",
        status="completed", crawl_policy_version="v1.2", config_snapshot={}, created_at=utc_now(),
    )  # fmt: skip
    with database.write() as db:
        db.add(session)
    return Place(name, database, root, session.id)


def pages(place: Place, count: int) -> Iterator[dict[str, Any]]:
    """Rows of expired pages, two of each session."""
    now = utc_now()
    for n in range(count):
        yield {
            "id": uuid4(), "session_id": place.session_id, "type": "html_gz",
            "storage_uri": f"shop.example__{n // 2:08d}/{'pdp' if n % 2 else 'homepage'}/desktop/html.gz",
            "size_bytes": len(PAGE), "checksum": "0" * 64, "content_sha256": "0" * 64, "created_at": now,
            "retention_until": now - timedelta(days=1, seconds=n), "legal_hold": False, "cleanup_attempts": 0,
        }  # fmt: skip


def fill(place: Place, count: int, *, files: bool) -> None:
    """Lay out expired pages, and their files with what lies beside them."""
    with place.database.write() as db:
        db.execute(delete(Artifact))
    rows = pages(place, count)
    while group := list(islice(rows, INSERT_ROWS)):
        with place.database.write() as db:
            db.execute(insert(Artifact), group)
        if files:
            write_files(place, group)
    tidy(place.database)


def write_files(place: Place, rows: list[dict[str, Any]]) -> None:
    """The files of pages, with those that stay beside them."""
    for row in rows:
        path = place.root / row["storage_uri"]
        path.parent.mkdir(parents=True, exist_ok=True)
        for name in (path.name, *SIBLINGS):
            (path.parent / name).write_bytes(PAGE)
    os.sync()  # or the deletions wait for these writes


def tidy(database: Database) -> None:
    """What a database's own housekeeping does within a minute."""
    statement = "ANALYZE" if database.is_sqlite else "VACUUM ANALYZE artifacts"
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))


if __name__ == "__main__":
    main()
