"""Replay beside pywb on the same WARC file; comparing beside the naive way; what is news and what is not.

`python -m bench.replay [PART…]`, all of `pywb timemap news days naive many` without one. pywb is that of
`.peers`, which `make peers` makes; where it is not there, its lines are left out.
"""

from __future__ import annotations

import difflib
import http.client
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import frozen
from bs4 import BeautifulSoup
from sqlalchemy import insert

from bench.machine import busy_ms
from bench.words import parser_of
from crawler.archive.changes import ChangesOrder, compute_changes
from crawler.archive.comparing import ADDED, REMOVED, Side, compared
from crawler.config import load_settings
from crawler.db import revisions
from crawler.db.models import PageGroup, Record, RegisteredSource, Snapshot, Text, WarcFile
from crawler.demo.goods import Product, moved, price_text
from crawler.demo.pages import page_of
from crawler.demo.shops import Shop, all_shops
from crawler.html.content import ContentQuestion, content_of, plain
from crawler.stores import open_stores
from crawler.warc.cdxj import stored_key
from tests.programs.peers import own_pywb, peers_folder
from tests.servers import MissingServerError
from tests.unit.warc.made import exchange, made

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import TypeAlias

    from crawler.db.engine import Database

    Asking: TypeAlias = tuple["Server", Sequence[str]]


PAGES, ROUNDS, ASKED = 40, 3, 200
CAPTURES = 10_000
PAIRS = 60
SNAPSHOTS = int(os.environ.get("BENCH_SNAPSHOTS", "100000"))
DAYS = 5  # of the demo's shops
AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
SHOP = "https://shop.example/"
URLS = [f"{SHOP}p/{number}" for number in range(PAGES)]
HEAD = """| what | ours ms | pywb ms | pywb / ours | ours, CPU ms | pywb, CPU ms | pywb / ours |
|---|---|---|---|---|---|---|"""
MB = 1024 * 1024


def main() -> None:
    """Print the figures, ratios where there is a peer."""
    parts: dict[str, Callable[[Path], None]] = {
        "pywb": _beside_pywb, "timemap": _timemap, "news": _news, "days": _day_to_day,
        "naive": _beside_naive, "many": _many,
    }  # fmt: skip
    wanted = parser_of("replay", parts).parse_args().parts
    print(f"{os.cpu_count()} cores; medians of {ASKED} requests in each of {ROUNDS} rounds, in turn\n")
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder))


# ── beside pywb ──


@frozen
class Server:
    """A server under test."""

    address: str
    pid: int


def _page(number: int, token: int = 0, price: int = 10) -> bytes:
    """A shop's page of some 60 KB: tiles, styles, a script, a form with a token."""
    dice = random.Random(number)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - the same each time
    words = ["glass", "lamp", "tea", "paper", "quiet", "made", "of", "and", "window", "harbour"]

    def text(length: int) -> str:
        return " ".join(dice.choices(words, k=length))

    tiles = "".join(
        f'<li class="tile"><a href="/p/{n}"><img src="/photo/{n}.jpg" srcset="/photo/{n}@2.jpg 2x" '
        f'alt="{text(3)}"><h3>{text(4)}</h3></a><p>{text(30)}</p></li>'
        for n in range(120)
    )
    return (
        f"<!doctype html><html lang=en><head><title>Product {number}</title>"
        f"<link rel=stylesheet href='/s.css'><script>var token='{token}'</script>"
        f"<style>.tile {{ background: url(/tile.png) }}</style></head><body>"
        f'<header><nav><a href="/">Home</a></nav></header><main><h1>Product {number}</h1><p>{text(60)}</p>'
        f'<form action="/cart"><input type=hidden name=csrf value="{token}"><button>Buy</button></form>'
        f"<h2>Price</h2><p>{price} EUR</p><ul>{tiles}</ul></main></body></html>"
    ).encode()


def archive_of(folder: Path) -> Path:
    """A job's folder with the pages in one file; the file."""
    path = folder / "job" / "warcs" / "bench.warc.gz"
    path.parent.mkdir(parents=True)
    answers = (
        exchange(f"{SHOP}p/{n}", _page(n), captured_at=AT + timedelta(minutes=n)) for n in range(PAGES)
    )
    data, _ = made(*answers)
    path.write_bytes(data)
    return path


def _beside_pywb(folder: Path) -> None:
    """Each in its own process; for how long that was busy can be read on a busy machine, too."""
    path = archive_of(folder)
    with served(folder / "home", lambda database: _register(database, path)) as server:
        print(HEAD)
        with suppress(MissingServerError), served_by_pywb(folder, path) as peer:
            for word, modifier in (("a page, rewritten (`mp_`)", "mp_"), ("the bytes (`id_`)", "id_")):
                for how, kept in (("new connections", False), ("a kept connection", True)):
                    mine = [f"/web/2026{modifier}/{url}" for url in URLS]
                    theirs = [f"{peer[1]}/2026{modifier}/{url}" for url in URLS]
                    print_in_turn(f"{word}, {how}", (server, mine), (peer[0], theirs), kept=kept)


def print_in_turn(what: str, ours: Asking, theirs: Asking, *, kept: bool) -> None:
    """A line of the table: the best round of each, in turn."""
    rounds = [(_asked(*ours, kept=kept), _asked(*theirs, kept=kept)) for _ in range(ROUNDS)]
    mine, peers = (tuple(map(min, zip(*each, strict=True))) for each in zip(*rounds, strict=True))
    shown = (f"{m:.2f} | {t:.2f} | {t / m:.1f}" for m, t in zip(mine, peers, strict=True))
    print(f"| {what} | {' | '.join(shown)} |", flush=True)


def _register(database: Database, path: Path) -> None:
    """Rows of what the file has, as an index makes them."""
    done = subprocess.run(
        [sys.executable, "-m", "crawler.cli", "warcs", "cdxj", str(path)],
        check=True,
        capture_output=True,
        text=True,
    )
    with database.write() as db:
        file = WarcFile(folder=str(path.parent), path=path.name, state="sealed", created_at=db.now)
        db.add(file)
        db.flush()
        for line in done.stdout.splitlines():
            key, stamp, said = line.split(" ", 2)
            fields = json.loads(said)
            at = datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
            db.add(
                Record(
                    warc_file_id=file.id, offset=int(fields["offset"]), length=int(fields["length"]),
                    kind="response", url=fields["url"], url_key=key, captured_at=at,
                    mime_type=fields["mime"], status_code=200,
                    payload_digest=fields["digest"],
                )
            )  # fmt: skip


def _asked(server: Server, addresses: Sequence[str], *, kept: bool) -> tuple[float, float]:
    """Milliseconds from a request to the last byte of its answer, and of the server's CPU time for it."""
    parts = urlsplit(server.address)
    took = []
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    busy = busy_ms(server.pid)
    for number in range(ASKED):
        began = time.perf_counter()
        if not kept:
            connection.close()
        connection.request("GET", addresses[number % len(addresses)])
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(body[:200])
        took.append(time.perf_counter() - began)
    connection.close()
    return 1000 * statistics.median(took), (busy_ms(server.pid) - busy) / ASKED


@contextmanager
def served_by_pywb(folder: Path, path: Path) -> Generator[tuple[Server, str]]:
    """Pywb on that file, and the address of its collection there."""
    programs = peers_folder()
    root = folder / "pywb"
    root.mkdir()
    subprocess.run([programs / "wb-manager", "init", "shop"], cwd=root, check=True, capture_output=True)
    command = [
        sys.executable,
        "-m",
        "crawler.cli",
        "warcs",
        "cdxj",
        str(path),
        "--pywb",
        str(root / "collections" / "shop"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    with own_pywb(programs, root) as pywb:
        while not pywb.answers():
            time.sleep(0.2)
        yield Server(pywb.address(""), pywb.pid), "/shop"


@contextmanager
def served(home: Path, fill: Callable[[Database], None]) -> Generator[Server]:
    """Our server, a process of its own as the peer is, on what `fill` wrote."""
    settings = load_settings({"vitrine_home": home, "log_level": "ERROR"})
    with closing(open_stores(settings)) as stores:
        revisions.upgrade(stores.database)
        fill(stores.database)
    command = [sys.executable, "-m", "crawler.cli", "serve", "--port", "0"]
    environment = {**os.environ, "VITRINE_HOME": str(home), "LOG_LEVEL": "ERROR"}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        yield Server(_address(server), server.pid)
    finally:
        server.terminate()
        server.wait()


def _address(server: subprocess.Popen[str]) -> str:
    for line in server.stdout or ():
        if found := re.search(r"http://[\w.:]+", line):
            return found[0]
    raise RuntimeError("the server did not say where it is")


# ── a long list ──


def _timemap(folder: Path) -> None:
    with served(folder / "home", _fill_timemap) as server:
        parts = urlsplit(server.address)
        first, whole, body = [], [], b""
        for _ in range(5):
            connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
            began = time.perf_counter()
            connection.request("GET", f"/web/timemap/link/{SHOP}")
            answer = connection.getresponse()
            answer.read(1)
            first.append(time.perf_counter() - began)
            body = answer.read()
            whole.append(time.perf_counter() - began)
            connection.close()
    shown = body.count(b"memento")
    print(
        f"\nTimeMap of {shown} captures: first byte after {1000 * min(first):.0f} ms, "
        f"all of it after {min(whole):.2f} s"
    )


def _fill_timemap(database: Database) -> None:
    rows = [
        {
            "warc_file_id": 1, "offset": n, "length": 1000, "kind": "response", "url": SHOP,
            "mime_type": "text/html", "url_key": stored_key(SHOP), "captured_at": AT + timedelta(hours=n),
            "status_code": 200,
        }
        for n in range(CAPTURES)
    ]  # fmt: skip
    with database.write() as db:
        db.add(WarcFile(folder="/nowhere", path="x.warc.gz", state="sealed", created_at=db.now))
        db.flush()
        db.execute(insert(Record), rows)


# ── what is news ──


def _side(body: bytes) -> Side:
    found = content_of(ContentQuestion(body, SHOP))
    return Side.of(found.title, found.text, found.headings)


def _news(_: Path) -> None:
    """Pairs that differ by a token alone, and pairs that a reader sees differ."""
    tokens = sum(not compared(_side(_page(n, n)), _side(_page(n, n + 1))).sections for n in range(PAIRS))
    edits = [compared(_side(_page(n, n)), _side(_page(n, n + 1, price=11))) for n in range(PAIRS)]
    right = sum((each.added_lines, each.removed_lines) == (1, 1) for each in edits)
    found = sum(bool(each.sections) for each in edits)
    print(f"\n{tokens} of {PAIRS} pairs that differ by a token are the same")
    print(f"{found} of {PAIRS} pairs with another price are not, {right} with exactly that line")


def _day_to_day(_: Path) -> None:
    """Product pages of the demo's shops from one day to the next: is the price told, and nothing else?

    What is right comes from the shops' own books. Products beside the page's own are no part of its text.
    """
    right = edits = 0
    for shop in all_shops(0).values():
        sold = (each for each in shop.goods.products if page_of(shop, shop.address(each), _as_listed)[1])
        for product in sold:
            pages = [_on_day(shop, shop.address(product), day) for day in range(DAYS)]
            prices = [moved(product.price, product.slug, day) for day in range(DAYS)]
            wanted = [plain(price_text(each, shop.language, shop.currency)) for each in prices]
            for (before, after), (old, new) in zip(pairwise(pages), pairwise(wanted), strict=True):
                told = _lines_told(before, after)
                edits += 1
                right += [len(each) for each in told] == [1, 1] and old in told[0][0] and new in told[1][0]
    print(f"{right} of {edits} edits of the demo's shops from day to day have exactly the right lines")


def _as_listed(product: Product) -> int:
    return product.price


def _on_day(shop: Shop, path: str, day: int) -> Side:
    reply, _ = page_of(shop, path, lambda product: moved(product.price, product.slug, day))
    return _side(bytes(reply.body))


def _lines_told(before: Side, after: Side) -> tuple[list[str], list[str]]:
    lines = [line for section in compared(before, after).sections for line in section.lines]
    removed, added = ([line.text for line in lines if line.change == each] for each in (REMOVED, ADDED))
    return removed, added


def _beside_naive(_: Path) -> None:
    """From two bodies to what differs, and from the texts that are stored already."""
    bodies = [(_page(n, n), _page(n, n + 1, price=11)) for n in range(PAIRS)]
    texts = [tuple(map(_side, pair)) for pair in bodies]

    def naive() -> None:
        for before, after in bodies:
            list(difflib.unified_diff(_normalised(before), _normalised(after), lineterm=""))

    def ours() -> None:
        for before, after in texts:
            compared(before, after)

    theirs, mine = _best(naive), _best(ours)
    ms = 1000 / PAIRS
    print(f"\na comparison: {ms * mine:.2f} ms; bs4 and a unified diff: {ms * theirs:.1f} ms", end=" ")
    print(f"({theirs / mine:.0f} times)")


def _normalised(body: bytes) -> list[str]:
    soup = BeautifulSoup(body, "html.parser")
    for each in soup(["script", "style", "nav", "header", "footer"]):
        each.decompose()
    return [line.strip() for line in soup.get_text("\n").splitlines() if line.strip()]


def _best(work: Callable[[], None]) -> float:
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


# ── many ──


def _many(folder: Path) -> None:
    """A pass over so many snapshots: its rate, and how much memory it takes."""
    settings = load_settings({"vitrine_home": folder, "log_level": "ERROR"})
    with closing(open_stores(settings)) as stores:
        revisions.upgrade(stores.database)
        _fill(stores.database)
        before = _peak()
        marks: list[tuple[int, float]] = []
        began = time.perf_counter()
        result = compute_changes(
            stores.database,
            ChangesOrder(),
            on_progress=lambda so_far: marks.append((so_far.computed, _peak())),
        )
        took = time.perf_counter() - began
    early = next(peak for computed, peak in marks if computed >= SNAPSHOTS // 100)
    rate = result.computed / took
    print(
        f"\n{result.computed} snapshots compared in {took:.0f} s ({rate:.0f} a second); peak memory", end=" "
    )
    print(f"{before:.0f} MiB before, {early:.0f} after a hundredth, {marks[-1][1]:.0f} at the end")


def _fill(database: Database) -> None:
    """Pages with ten captures each, of which every other one says something else."""
    with database.write() as db:
        db.add(RegisteredSource(id=1, code="shop", name="shop", created_at=db.now, updated_at=db.now))
        db.add(WarcFile(id=1, folder="/nowhere", path="x.warc.gz", state="sealed", created_at=db.now))
        db.flush()
        body = "\n".join(f"line {n} of a text with some words in it" for n in range(80))
        texts = [
            {"id": n + 1, "text_hash": str(n), "title": "t", "body": f"{body}\n{n}", "is_cut": False}
            for n in range(10)
        ]
        db.execute(insert(Text), texts)
    for start in range(0, SNAPSHOTS, 5_000):
        with database.write() as db:
            for table, rows in _rows(range(start, start + 5_000)):
                db.execute(insert(table), rows)


def _rows(numbers: range) -> Iterator[tuple[type, list[dict[str, object]]]]:
    groups = sorted({n // 10 for n in numbers})
    yield PageGroup, [{"id": g + 1, "source_id": 1, "group_key": f"{SHOP}{g}"} for g in groups]
    records, snapshots = [], []
    for n in numbers:
        at, url = AT + timedelta(days=n % 10), f"{SHOP}{n // 10}"
        records.append(
            {
                "id": n + 1,
                "warc_file_id": 1,
                "offset": n,
                "kind": "response",
                "url": url,
                "url_key": url,
                "captured_at": at,
            }
        )
        snapshots.append(
            {
                "id": n + 1, "record_id": n + 1, "source_id": 1, "group_id": n // 10 + 1,
                "text_id": n % 10 // 2 + 1, "url": url, "captured_at": at, "status_code": 200,
                "status_class": 2, "title": "t", "snippet": "", "language": "en", "content_hash": str(n),
                "find_title": "", "find_snippet": "", "find_url": "", "deduplicated": False,
            }
        )  # fmt: skip
    yield Record, records
    yield Snapshot, snapshots


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
