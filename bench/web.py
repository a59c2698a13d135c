"""The web side beside a large archive: the first scrape of the metrics, and the search's page beside its API.

`python -m bench.web --prepare FOLDER` makes archives of a million snapshots on both databases, which takes
some minutes; `python -m bench.web FOLDER` measures on them. Without a folder both are done, in a temporary
one.
"""

from __future__ import annotations

import http.client
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from sqlalchemy import text
from sqlalchemy.engine import make_url

from bench.machine import busy_ms
from bench.search import Corpus, filled
from crawler.db import revisions
from crawler.db.engine import Database
from tests.servers import MissingServerError, own_postgresql

if TYPE_CHECKING:
    from collections.abc import Generator

SNAPSHOTS = int(os.environ.get("BENCH_SNAPSHOTS", "1000000"))
CAPTURES, SOURCES = 10, 20
SEARCHED = 2_000  # texts of the archive that is searched, each captured ten times
STARTS, QUERIES = 3, 60
_ASSETS = re.compile(r'(?:href|src)="(/static/[^"]+)"')
# Numbers from 1 on, as each database makes them.
_NUMBERS = {
    "sqlite": "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {most})"
    " SELECT n FROM c)",
    "postgresql": "generate_series(1, {most}) AS c(n)",
}
_AT = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%S.000000', '2024-01-01', '+' || n || ' minutes')",
    "postgresql": "timestamptz '2024-01-01' + n * interval '1 minute'",
}
_FILL = (
    (
        "INSERT INTO sources (id, code, name, enabled, created_at, updated_at)"
        " SELECT n, 's' || n, 'S' || n, {true}, {at}, {at} FROM {sources}"
    ),
    (
        "INSERT INTO warc_files (id, folder, path, state, size_bytes, records, records_bad, created_at)"
        " SELECT n, '/', 'bench', 'sealed', 0, 0, 0, {at} FROM {one}"
    ),
    (
        "INSERT INTO page_groups (id, source_id, group_key, link_key, snapshot_count, inlink_count,"
        " outlink_count) SELECT n, n % 20 + 1, 'https://site.example/p/' || n, n, 10, 0, 0 FROM {groups}"
    ),
    (
        'INSERT INTO records (id, warc_file_id, "offset", kind, url, url_key, captured_at)'
        " SELECT n, 1, n, 'response', 'https://site.example/p/' || n / 10, n || '', {at} FROM {snapshots}"
    ),
    (
        "INSERT INTO snapshots (id, record_id, source_id, group_id, url, captured_at, status_code,"
        " status_class, title, snippet, language, content_hash, deduplicated, find_title, find_snippet,"
        " find_url) SELECT n, n, ((n - 1) / 10 + 1) % 20 + 1, (n - 1) / 10 + 1,"
        " 'https://site.example/p/' || n / 10,"
        " {at}, 200, 2, 'Title of page ' || n, {words}, 'en', 'hash ' || n, {false},"
        " 'title of page ' || n, {words}, 'p/' || n"
        " FROM {snapshots}"
    ),
)


def main() -> None:
    """Print the figures."""
    parser = ArgumentParser(prog="python -m bench.web")
    parser.add_argument("folder", nargs="?", type=Path, help="measure on what was prepared there")
    parser.add_argument("--prepare", type=Path, metavar="FOLDER", help="make the archives there, and end")
    asked = parser.parse_args()
    if asked.prepare:
        _prepare(asked.prepare)
    elif asked.folder:
        _measure(asked.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            _prepare(Path(folder))
            _measure(Path(folder))


# ── the archives ──


def _prepare(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    folder.chmod(0o777)  # the server is another user
    with _databases(folder) as urls:
        for name, url in urls.items():
            began = time.perf_counter()
            _fill(Database(url))
            print(f"{name}: {SNAPSHOTS:,} snapshots in {time.perf_counter() - began:.0f} s", flush=True)
    filled(f"sqlite:///{folder}/searched.db", _corpus()).close()


def _corpus() -> Corpus:
    return Corpus(SEARCHED, tuple(f"word{n}" for n in range(60_000)))


@contextmanager
def _databases(folder: Path) -> Generator[dict[str, str]]:
    """Both, while the block lasts; PostgreSQL only where it is to be had."""
    urls = {"SQLite": f"sqlite:///{folder}/archive.db"}
    with ExitStack() as stack:
        try:
            server = stack.enter_context(own_postgresql(folder / "postgresql"))
            urls["PostgreSQL"] = make_url(server.url).render_as_string(hide_password=False)
        except MissingServerError as error:
            print(f"without PostgreSQL: {error}")
        yield urls


def _fill(database: Database) -> None:
    revisions.upgrade(database)
    kind = "sqlite" if database.is_sqlite else "postgresql"
    numbers = {"sources": SOURCES, "one": 1, "groups": SNAPSHOTS // CAPTURES, "snapshots": SNAPSHOTS}
    said = {name: _NUMBERS[kind].format(most=most) for name, most in numbers.items()}
    said |= {"at": _AT[kind], "words": f"'{'some words of it ' * 12}'"}
    said |= {"true": "1", "false": "0"} if database.is_sqlite else {"true": "true", "false": "false"}
    with database.write() as db:
        for statement in _FILL:
            db.execute(text(statement.format(**said)))
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # As the server's own care of its tables does, sooner or later.
        connection.execute(text("ANALYZE" if database.is_sqlite else "VACUUM ANALYZE"))
    database.close()


# ── what is measured ──


def _measure(folder: Path) -> None:
    with _databases(folder) as urls:
        for name, url in urls.items():
            times = [_scraped(url) for _ in range(STARTS)]
            said = ", ".join(f"{took:.0f} ({busy:.0f})" for took, busy in times)
            print(
                f"{name}: the first scrape of {SNAPSHOTS:,} snapshots takes {said} ms (of our CPU)",
                flush=True,
            )
    with _served(f"sqlite:///{folder}/searched.db") as (address, _):
        _print_search(address)
        _print_first_page(address)


def _scraped(url: str) -> tuple[float, float]:
    """Milliseconds of a scrape that nothing is remembered for, and of our own process's CPU time for it."""
    with _served(url) as (address, pid):
        _fetched(address, "/api/health")  # what loads with the first request
        busy, began = busy_ms(pid), time.perf_counter()
        _fetched(address, "/metrics")
        return 1000 * (time.perf_counter() - began), busy_ms(pid) - busy


def _print_search(address: str) -> None:
    corpus = _corpus()
    asked = [quote(corpus.text_of(n)[1].split()[0]) for n in range(QUERIES)]
    pages: list[float] = []
    answers: list[float] = []
    for words in asked * 2:
        for path, times in ((f"/search?q={words}", pages), (f"/api/search?q={words}", answers)):
            began = time.perf_counter()
            _fetched(address, path)
            times.append(1000 * (time.perf_counter() - began))
    page, answer = statistics.median(pages[QUERIES:]), statistics.median(answers[QUERIES:])
    print(f"a search: page {page:.1f} ms, API {answer:.1f} ms ({page / answer:.2f} times)", flush=True)


def _print_first_page(address: str) -> None:
    page = _fetched(address, "/")
    parts = {path: len(_fetched(address, path)) for path in sorted(set(_ASSETS.findall(page.decode())))}
    total = len(page) + sum(parts.values())
    print(f"the first page: {len(page):,} bytes, with {len(parts)} files {total / 1024:.1f} KB on the wire")


def _fetched(address: str, path: str) -> bytes:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status != http.HTTPStatus.OK:
        raise RuntimeError(body[:200])
    return body


@contextmanager
def _served(url: str) -> Generator[tuple[str, int]]:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "VITRINE_HOME": home, "DATABASE_URL": url, "LOG_LEVEL": "ERROR"}
        environment["ADMIN_TOKEN"] = ""
        command = [sys.executable, "-m", "crawler.cli", "serve", "--port", "0"]
        server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            lines = (re.search(r"http://[\w.:]+", line) for line in server.stdout or ())
            yield next(found[0] for found in lines if found), server.pid
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
