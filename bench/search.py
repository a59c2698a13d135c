"""The search: how its time grows with the archive, and whether it finds what a look at every text finds.

`python -m bench.search --prepare FOLDER` makes a small and a large archive on both databases, which takes
some minutes; `python -m bench.search FOLDER` measures on them, with `--on SQLite` on one database alone.
Without a folder both are done, in a temporary one. `BENCH_SNAPSHOTS` says how many captures the large archive
has; each text was captured ten times.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from argparse import ArgumentParser
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from attrs import frozen
from psycopg import sql
from sqlalchemy import text
from sqlalchemy.engine import make_url

from crawler.archive import groups, similar, word_index
from crawler.archive.query import understood
from crawler.archive.search import SearchOrder, search
from crawler.archive.words import words_of
from crawler.clock import utc_now
from crawler.db import revisions
from crawler.db.engine import Database
from crawler.db.upsert import insert_many
from tests.servers import MissingServerError, own_postgresql

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from sqlalchemy.orm import Session

NAMES = SQLITE, POSTGRESQL = ("SQLite", "PostgreSQL")
SMALL, LARGE = 5_000, int(os.environ.get("BENCH_SNAPSHOTS", "1000000"))
CAPTURES, VOCABULARY, BODY_WORDS, QUERIES, SOURCES = 10, 60_000, 120, 200, 20
BATCH = 2_000  # texts
SNAPSHOT = (
    "id", "record_id", "source_id", "group_id", "text_id", "url", "captured_at", "status_code",
    "status_class", "title", "snippet", "language", "content_hash", "deduplicated", "find_title",
    "find_snippet", "find_url",
)  # fmt: skip
FIRST_DAY = datetime(2016, 1, 1, tzinfo=UTC)
# What is asked, and how often of the 200.
KINDS = {"a word": 80, "two words": 40, "a phrase": 30, "a part": 20, "a URL": 20, "an expression": 10}


@frozen
class Corpus:
    """The texts of an archive, made anew from their numbers."""

    texts: int
    words: tuple[str, ...]

    def text_of(self, number: int) -> tuple[str, str]:
        """Title and body of a text."""
        chance = random.Random(number)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - always the same
        some = [self.words[int(VOCABULARY * chance.random() ** 4)] for _ in range(BODY_WORDS + 5)]
        return " ".join([*some[:5], f"n{number}"]), " ".join(some[5:])

    @property
    def bodies(self) -> list[list[str]]:
        """The words of every text."""
        return [
            [*words_of(title), "", *words_of(body)] for title, body in map(self.text_of, range(self.texts))
        ]


def main() -> None:
    """Print the figures."""
    parser = ArgumentParser(prog="python -m bench.search")
    parser.add_argument("folder", nargs="?", type=Path, help="measure on what was prepared there")
    parser.add_argument("--prepare", type=Path, metavar="FOLDER", help="make the archives there, and end")
    parser.add_argument("--on", choices=NAMES, action="append", help="this database alone")
    asked = parser.parse_args()
    names = asked.on or list(NAMES)
    with ExitStack() as stack:
        folder = asked.prepare or asked.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with _databases(folder, names) as every:
            if not asked.folder:
                _prepare(every)
            if not asked.prepare:
                _measure(every)


@contextmanager
def _databases(folder: Path, names: Sequence[str]) -> Generator[dict[str, tuple[str, str]]]:
    """The URLs of a small and a large archive on each database; PostgreSQL only where it is to be had."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)  # the server is another user
    urls = {}
    with ExitStack() as stack:
        if SQLITE in names:
            urls[SQLITE] = (f"sqlite:///{folder}/small.db", f"sqlite:///{folder}/large.db")
        try:
            if POSTGRESQL in names:
                server = stack.enter_context(own_postgresql(folder / "postgresql"))
                url = make_url(server.url)
                small, large = (
                    url.set(database=name).render_as_string(hide_password=False)
                    for name in ("small", "large")
                )
                urls[POSTGRESQL] = (small, large)
        except MissingServerError as error:
            print(f"without PostgreSQL: {error}")
        yield urls


def _prepare(every: dict[str, tuple[str, str]]) -> None:
    for name, urls in every.items():
        for url, snapshots in zip(urls, (SMALL, LARGE), strict=True):
            began = time.perf_counter()
            _make_anew(url)
            database = filled(url, _corpus(snapshots))
            if not database.is_sqlite:
                with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.execute(text("VACUUM ANALYZE"))  # as the server's own care does in time
            database.close()
            print(f"{name}, {snapshots:,} snapshots: made in {time.perf_counter() - began:.0f} s", flush=True)


def _make_anew(url: str) -> None:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        Path(parsed.database or "").unlink(missing_ok=True)
        return
    server = parsed.set(drivername="postgresql", database="postgres").render_as_string(hide_password=False)
    with psycopg.connect(server, autocommit=True) as connection:
        name = sql.Identifier(parsed.database or "")
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(name))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(name))


def _corpus(snapshots: int) -> Corpus:
    chance = random.Random(3)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - always the same
    words = tuple({_word(chance): None for _ in range(VOCABULARY * 2)})[:VOCABULARY]
    return Corpus(snapshots // CAPTURES, words)


def _measure(every: dict[str, tuple[str, str]]) -> None:
    """On both archives in turn, query by query."""
    corpora = [_corpus(snapshots) for snapshots in (SMALL, LARGE)]
    for name, urls in every.items():
        databases = [Database(url) for url in urls]
        wrong = compared(databases[0], corpora[0])
        print(f"{name}: {wrong} of {QUERIES} answers differ from a look at every text", flush=True)
        _show(name, *measured(list(zip(databases, corpora, strict=True))))
        for database in databases:
            database.close()


def _show(name: str, small: dict[str, list[float]], large: dict[str, list[float]]) -> None:
    print(f"\n| {name} | p50 at {SMALL} | p50 at {LARGE} | ratio | p95 at {LARGE} |\n|---|---|---|---|---|")
    every = {**{kind: (small[kind], large[kind]) for kind in KINDS}}
    every["all"] = (sum(small.values(), []), sum(large.values(), []))  # ruff: ignore[quadratic-list-summation] - six lists
    for kind, (few, many) in every.items():
        before, after = statistics.median(few), statistics.median(many)
        late = sorted(many)[int(len(many) * 0.95)]
        times = (
            f"{1000 * before:.1f} ms | {1000 * after:.1f} ms | {after / before:.1f} | {1000 * late:.0f} ms"
        )
        print(f"| {kind} | {times} |")
    print(flush=True)


def _word(chance: random.Random) -> str:
    return "".join(chance.choice("abcdefghiklmnoprstuvwz") for _ in range(chance.randint(4, 10)))


# ── the archive ──


def filled(url: str, corpus: Corpus) -> Database:
    """An archive of the corpus; made in bulk, with the rows that the index would have written."""
    database = Database(url)
    revisions.upgrade(database)
    now = utc_now()
    with database.write() as db:
        rows = [
            (n, f"s{n}", f"S{n}", True, _stored(db, now), _stored(db, now)) for n in range(1, SOURCES + 1)
        ]
        insert_many(db, "sources", ("id", "code", "name", "enabled", "created_at", "updated_at"), rows)
        file = (1, "/", "bench", "sealed", 0, 0, 0, _stored(db, now))
        columns = ("id", "folder", "path", "state", "size_bytes", "records", "records_bad", "created_at")
        insert_many(db, "warc_files", columns, [file])
    for begin in range(0, corpus.texts, BATCH):
        with database.write() as db:
            _fill(db, corpus, range(begin, min(begin + BATCH, corpus.texts)))
    with database.write() as db:
        if database.is_sqlite:
            db.execute(text("INSERT INTO snapshot_grams (snapshot_grams) VALUES ('rebuild')"))
        db.execute(text("ANALYZE"))
    return database


def _fill(db: Session, corpus: Corpus, numbers: range) -> None:
    texts = {number: corpus.text_of(number) for number in numbers}
    insert_many(db, "texts", ("id", "text_hash", "title", "body", "is_cut"),
                [(n + 1, str(n), title, body, False) for n, (title, body) in texts.items()])  # fmt: skip
    word_index.add(db, [(n + 1, title, body) for n, (title, body) in texts.items()])
    similar.add(db, [title for title, _ in texts.values()])
    urls = {n: _url(n) for n in numbers}
    columns = ("id", "source_id", "group_key", "link_key", "snapshot_count", "inlink_count", "outlink_count")
    insert_many(db, "page_groups", columns,
                [(n + 1, n % SOURCES + 1, url, n, CAPTURES, 0, 0) for n, url in urls.items()])  # fmt: skip
    captures = [(n, n * CAPTURES + c + 1, FIRST_DAY + timedelta(days=n % 90 + 100 * c)) for n in numbers
                for c in range(CAPTURES)]  # fmt: skip
    insert_many(db, "records", ("id", "warc_file_id", _quoted("offset"), "kind", "url", "url_key"),
                [(key, 1, key, "response", urls[n], str(key)) for n, key, _ in captures])  # fmt: skip
    rows = [_snapshot(n, key, texts[n], _stored(db, at)) for n, key, at in captures]
    insert_many(db, "snapshots", SNAPSHOT, rows)
    groups.refresh(db, [n + 1 for n in numbers])


def _snapshot(n: int, key: int, said_here: tuple[str, str], at: object) -> tuple[object, ...]:
    (title, body), url = said_here, _url(n)
    said = (title, body[:200], "en", str(n), False, title, body[:200], url)
    return (key, key, n % SOURCES + 1, n + 1, n + 1, url, at, 200, 2, *said)


def _url(number: int) -> str:
    return f"https://site.example/p/{number}"


def _quoted(name: str) -> str:
    return f'"{name}"'


def _stored(db: Session, at: datetime) -> object:
    """A time as the column has it."""
    return at.strftime("%Y-%m-%d %H:%M:%S.%f") if db.get_bind().dialect.name == "sqlite" else at


# ── what is asked ──


def queries(corpus: Corpus) -> list[tuple[str, str]]:
    """What is looked for, by kind: words as often as they occur, so the common ones more often."""
    chance = random.Random(11)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - always the same
    found = []
    for kind, count in KINDS.items():
        for _ in range(count):
            number = chance.randrange(corpus.texts)
            title, body = corpus.text_of(number)
            words = body.split()
            at = chance.randrange(len(words) - 3)
            asked = {
                "a word": words[at],
                "two words": f"{words[at]} {words[at + 2]}",
                "a phrase": f'"{" ".join(words[at : at + 3])}"',
                "a part": f"{f'n{number}'[:7]} {words[0][1:4]}",
                "a URL": f"site.example/p/{number}",
                "an expression": f"title:{title.split()[0]} NOT {words[at]}",
            }
            found.append((kind, asked[kind]))
    return found


def measured(archives: Sequence[tuple[Database, Corpus]]) -> list[dict[str, list[float]]]:
    """How long each query takes, the second time: the first one warms what it needs."""
    times: list[dict[str, list[float]]] = [{kind: [] for kind in KINDS} for _ in archives]
    every = [(database, queries(corpus)) for database, corpus in archives]
    for number in range(QUERIES):
        for (database, asked), found in zip(every, times, strict=True):
            kind, words = asked[number]
            for turn in range(2):
                began = time.perf_counter()
                with database.read() as db:
                    search(db, SearchOrder(words))
                if turn:
                    found[kind].append(time.perf_counter() - began)
    return times


def compared(database: Database, corpus: Corpus) -> int:
    """How many answers differ from what a look at every text gives."""
    bodies = corpus.bodies
    wrong = 0
    for kind, asked in queries(corpus):
        if kind in {"a word", "two words", "a phrase"}:
            terms = understood(asked).terms
            expected = {
                n + 1 for n, body in enumerate(bodies) if all(_has(body, term.words) for term in terms)
            }
            with database.read() as db:
                found = search(db, SearchOrder(asked, page_size=100, sort="newest"))
            hits = {each.text_id for each in found.snapshots}
            wrong += found.total != len(expected) * CAPTURES or not hits <= expected
    return wrong


def _has(body: list[str], words: tuple[str, ...]) -> bool:
    return any(tuple(body[at : at + len(words)]) == words for at in range(len(body) - len(words) + 1))


if __name__ == "__main__":
    main()
