"""The index: pages of a WARC file made findable, beside what bs4 and warcio make of them in three parses.

`python -m bench.index [PART…]`: without one all of `pass offset memory two beside raw`. CPU time is that of
all processes that take part: on a machine with other work it says more than the clock.
"""

from __future__ import annotations

import gzip
import os
import random
import resource
import sqlite3
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from attrs import frozen
from bs4 import BeautifulSoup
from sqlalchemy import text
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from bench import index_beside
from bench.words import parser_of
from crawler.archive.warc_indexing import JobPass, index_job
from crawler.db import revisions
from crawler.db.engine import Database
from crawler.warc.messages import decoded
from crawler.warc.reader import body_of, open_record
from tests.databases import fresh_database
from tests.servers import MissingServerError, own_postgresql
from tests.unit.archive.stored import crawled_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

from crawler.archive.warc_indexing import JobResult

PAGES = int(os.environ.get("BENCH_PAGES", "1000"))
NAIVE_PAGES = 60
LARGE_MB = 1_000
LOOKS = (1_000, 10_000, 30_000, 60_000, 100_000)  # pages, after which memory is looked at
WORDS, MENU, PARAGRAPHS, LINKS = 30_000, 150, 18, 60
MB = 1024 * 1024


@frozen
class Took:
    """What something cost."""

    seconds: float
    cpu: float
    pages: int

    def __str__(self) -> str:
        return f"{1000 * self.cpu / self.pages:.2f} ms CPU, {self.pages / self.seconds:.0f}/s"


def main() -> None:
    """Print the figures."""
    parts: dict[str, Callable[[Path], None]] = {
        "pass": _pass, "offset": _offset, "memory": _memory, "two": _two, "beside": _beside, "raw": _raw,
    }  # fmt: skip
    print(f"{os.cpu_count()} cores\n")
    for name in parser_of("index", parts).parse_args().parts:
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder))


def _pass(root: Path) -> None:
    """A first and a second pass, beside the naive one."""
    with ExitStack() as stack:
        write_corpus(root / "job", PAGES)
        size = sum(path.stat().st_size for path in root.rglob("*.gz")) / PAGES / 1024
        print(f"{PAGES} pages, {size:.0f} KB each in the file")
        naive = took(NAIVE_PAGES, lambda: naively(root / "job", root / "naive.db"))
        print(f"bs4 and warcio, three parses, no full text: {naive}")
        urls = {"SQLite": f"sqlite:///{root}/ours.db"}
        try:
            urls["PostgreSQL"] = stack.enter_context(
                fresh_database(stack.enter_context(own_postgresql()).url)
            )
        except MissingServerError as error:
            print(f"without PostgreSQL: {error}")
        for name, url in urls.items():
            _show(name, url, root, naive)


def _offset(root: Path) -> None:
    small, large = (read_at_the_end(root / f"{size}.warc.gz", size) for size in (10, LARGE_MB))
    where = f"{1000 * small:.2f} ms at the end of 10 MB, {1000 * large:.2f} ms of {LARGE_MB} MB"
    print(f"a page by its offset: {where}, {large / small:.2f} x")


def _memory(root: Path) -> None:
    """Of a pass in a process of its own, and of all that it starts, after more and more pages."""
    write_small(root / "job", LOOKS[-1])
    database = Database(f"sqlite:///{root}/ours.db")
    revisions.upgrade(database)
    rows = index_beside.job_in(database, root / "job")
    for pages, mib in index_beside.memory(database, rows, LOOKS):
        print(f"after {pages:,} pages: {mib:.0f} MiB", flush=True)


def _two(root: Path) -> None:
    folders = [root / "one", root / "other"]
    for number, folder in enumerate(folders):
        write_corpus(folder, PAGES, f"site{number}.example")
    index_beside.two(folders)


def _beside(root: Path) -> None:
    write_corpus(root / "one", PAGES)
    index_beside.beside(root)


def _raw(root: Path) -> None:
    index_beside.raw(root, lambda database, folder: indexed(database, crawled_job(database, folder)))


def _show(name: str, url: str, root: Path, naive: Took) -> None:
    database, order = prepared(url, root / "job")
    first = took(PAGES, lambda: indexed(database, order))
    before = ids(database)
    second = took(PAGES, lambda: indexed(database, order))
    changed = len(set(before) ^ set(ids(database)))
    waits = write_waits(database, lambda: indexed(database, order, again=True))
    ratio = (naive.cpu / naive.pages) / (first.cpu / first.pages)
    print(f"{name}: {first}: {ratio:.1f} x naive; second pass {second}, {first.cpu / second.cpu:.1f} x, "
          f"{changed} ids changed; other writes wait {1000 * waits:.0f} ms (p99); "
          f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")  # fmt: skip
    database.close()


# ── the corpus ──


def write_corpus(folder: Path, count: int, host: str = "site.example") -> None:
    """Pages as archives have them: menus, scripts and a main part, with links to each other."""
    path = folder / "warcs" / "bench.warc.gz"
    path.parent.mkdir(parents=True)
    chance = random.Random(host)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - the same pages each time
    vocabulary = [_word(chance) for _ in range(WORDS)]
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number in range(count):
            http = StatusAndHeaders(
                "200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1"
            )
            writer.write_record(writer.create_warc_record(
                f"https://{host}/p/{number}", "response", http_headers=http,
                payload=BytesIO(page(chance, vocabulary, number, count).encode()),
            ))  # fmt: skip


def page(chance: random.Random, vocabulary: list[str], number: int, count: int) -> str:
    """One page."""
    menu = "".join(
        f'<li class="menu-item"><a class="menu-link" href="/s/{n}"><span>{vocabulary[n]}</span></a></li>'
        for n in range(MENU)
    )
    paragraphs = "".join(f"<p>{_words(chance, vocabulary, 60)}.</p>" for _ in range(PARAGRAPHS))
    links = " ".join(f'<a href="/p/{chance.randrange(count)}">{vocabulary[n]}</a>' for n in range(LINKS))
    return (
        f"<!doctype html><html lang=en><head><title>{_words(chance, vocabulary, 6)} {number}</title>"
        f"<style>{'.a{color:red}' * 200}</style><script>{'var a=1;' * 300}</script></head><body>"
        f"<nav><ul>{menu}"
        f"</ul></nav><main><h1>Page {number}</h1>{paragraphs}<p>{links}</p></main>"
        f"<footer>{menu}</footer></body>"
    )


def write_small(folder: Path, count: int) -> None:
    """Very many short pages; as bytes, for a writer would take longer than a pass."""
    path = folder / "warcs" / "small.warc.gz"
    path.parent.mkdir(parents=True)
    chance = random.Random(7)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - the same pages each time
    vocabulary = [_word(chance) for _ in range(WORDS)]
    with path.open("wb") as file:
        for number in range(count):
            title, said = _words(chance, vocabulary, 6), _words(chance, vocabulary, 120)
            links = "".join(f'<a href="/p/{chance.randrange(count)}">{number}</a> ' for _ in range(8))
            http = (
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!doctype html><html lang=en>"
                f"<title>{title} {number}</title><main><h1>{title}</h1><p>{said}</p>{links}</main>"
            )
            head = (
                f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{UUID(int=number)}>\r\n"
                f"WARC-Target-URI: https://site.example/p/{number}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
            )
            file.write(gzip.compress(f"{head}{http}\r\n\r\n".encode(), 1))


def _word(chance: random.Random) -> str:
    return "".join(chance.choice("abcdefghiklmnoprstuvwz") for _ in range(chance.randint(3, 10)))


def _words(chance: random.Random, vocabulary: list[str], count: int) -> str:
    return " ".join(vocabulary[int(WORDS * chance.random() ** 3)] for _ in range(count))


# ── what is measured ──


def took(pages: int, work: Callable[[], object]) -> Took:
    """The time of the clock and of all processes."""
    began, cpu = time.perf_counter(), _cpu()
    work()
    return Took(time.perf_counter() - began, _cpu() - cpu, pages)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def naively(folder: Path, path: Path) -> None:
    """As a first version would: a parse for each question, and a row for each page."""
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE pages (url TEXT, title TEXT, snippet TEXT, links INTEGER)")
    for number, (url, body) in enumerate(_bodies(folder)):
        if number == NAIVE_PAGES:
            break
        title = BeautifulSoup(body, "html.parser").title
        soup = BeautifulSoup(body, "html.parser")
        for each in soup(["script", "style", "nav", "header", "footer", "aside", "form"]):
            each.decompose()
        said = soup.get_text(" ", strip=True)
        links = BeautifulSoup(body, "html.parser").find_all("a", href=True)
        row = (url, title.get_text() if title else "", said[:280], len(links))
        database.execute("INSERT INTO pages VALUES (?, ?, ?, ?)", row)
    database.commit()
    database.close()


def _bodies(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "response":
                    yield record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read()


def read_at_the_end(path: Path, size_mb: int) -> float:
    """The median time to read the last record of a file of so many MB, found by its offset."""
    members = []
    for number, body in enumerate((random.Random(1).randbytes(MB), b"<title>last</title>" * 2_000)):  # ruff: ignore[suspicious-non-cryptographic-random-usage] - nothing that packs
        packed = BytesIO()
        http = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        writer = WARCWriter(packed, gzip=True)
        writer.write_record(writer.create_warc_record(
            f"https://site.example/{number}", "response", http_headers=http, payload=BytesIO(body),
        ))  # fmt: skip
        members.append(packed.getvalue())
    with path.open("wb") as file:
        for _ in range(size_mb):
            file.write(members[0])
        offset = file.tell()
        file.write(members[1])
    times = []
    for _ in range(101):
        began = time.perf_counter()
        with path.open("rb") as file:
            head, pieces = body_of(open_record(file, offset))
            assert head is not None  # ruff: ignore[assert] - it was written above
            assert b"last" in b"".join(decoded(head, pieces))  # ruff: ignore[assert] - the same
        times.append(time.perf_counter() - began)
    path.unlink()
    return sorted(times)[50]


def prepared(url: str, folder: Path) -> tuple[Database, JobPass]:
    """A database with a job whose crawl is over."""
    database = Database(url)
    revisions.upgrade(database)
    return database, crawled_job(database, folder)


def indexed(database: Database, order: JobPass, *, again: bool = False) -> JobResult:
    """One pass, in a thread: it has an event loop of its own."""
    order = JobPass(job_id=order.job_id, source_id=order.source_id, output_dir=order.output_dir, again=again)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(index_job, database, order, lambda _: None).result()


def ids(database: Database) -> list[tuple[int, int]]:
    """Every snapshot and its record."""
    with database.read() as db:
        return [tuple(row) for row in db.execute(text("SELECT id, record_id FROM snapshots"))]


def write_waits(database: Database, work: Callable[[], object]) -> float:
    """How long another writer waits for its turn while work is done: the longest but one in a hundred."""
    with index_beside.waiting(database) as waits:
        work()
    return waits[0]


if __name__ == "__main__":
    main()
