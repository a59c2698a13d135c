"""WARC files: writing, reading and indexing beside warcio and cdxj-indexer; crawls with and without them.

cdxj-indexer is that of `.peers`, which `make peers` makes; where it is not there, its line is left out.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, redirect_stdout, suppress
from datetime import UTC, datetime
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from bench import site
from bench.words import parser_of
from crawler.cli.app import run as vitrine
from crawler.demo import spawn
from crawler.evidence.warc_tools import index
from crawler.warc.messages import Exchange
from crawler.warc.reader import Bad, Entry
from crawler.warc.records import About, PairWriter
from crawler.warc.scan import walk
from tests.programs.peers import peers_folder
from tests.servers import MissingServerError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

PAGES = 400
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
CRAWLS = int(os.environ.get("BENCH_CRAWLS", "5"))  # rounds of them
ROW_SECONDS = 4.0
MB = 1024 * 1024
LARGE_BYTES = 2 * 1024 * MB
LARGE_PAGE = 100_000  # bytes, as those of the slice
SHOPS = 48  # 3,312 pages: of a third as many, start and end are too much of the time
AT = datetime(2026, 1, 1, tzinfo=UTC)
# Which crawl stands beside which.
BESIDE = (
    ("pages in WARC files", "pages in files"),
    ("the same, not judged", "pages in files"),
    ("the same, not judged", "a bare spider"),
    ("the same, recorded", "Scrapy's queue"),
)
SHAPES: dict[str, tuple[str, dict[str, str]]] = {
    "a bare spider": ("bare", {}),
    "pages in files": ("site", {}),
    "pages in WARC files": ("site", {"PAGE_STORE": "warc"}),
    "the same, not judged": ("site", {"PAGE_STORE": "warc", "JUDGE_PAGES": "0"}),
    "Scrapy's queue": ("memory", {}),
    "the same, recorded": ("memory", {"WARC_DIR": "warcs", "PAGE_STORE": "files"}),
}
HEADERS = ((b"Content-Type", b"text/html; charset=utf-8"), (b"Set-Cookie", b"a=1"))


def main() -> None:
    """Print the figures as ratios, each of one run."""
    for part in parser_of("warc", PARTS).parse_args().parts:
        PARTS[part]()


def _rows() -> None:
    """Records written, read and indexed."""
    bodies = _bodies()
    size = sum(map(len, bodies)) / PAGES / 1024
    print(f"{PAGES} pages of {size:.0f} KB, best of {ROUNDS} rounds or more, {os.cpu_count()} cores\n")
    print("| what | ours | peer | ratio |\n|---|---|---|---|")
    _row("pairs written a second, beside warcio", PAGES, lambda: _ours(bodies), lambda: _warcios(bodies))
    data = _ours(bodies)
    records = 2 * PAGES
    _row("records read a second with CRC and digests, beside warcio without", records,
         lambda: _read(data), lambda: _read_by_warcio(data))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.warc.gz"
        path.write_bytes(data)
        with suppress(MissingServerError):
            peer = [str(peers_folder() / "cdxj-indexer"), "-s", str(path)]
            _row("records indexed a second, beside cdxj-indexer", records,
                 lambda: list(index([path], lambda *_: None)),
                 lambda: subprocess.run(peer, check=True, capture_output=True))  # fmt: skip


def _damage() -> None:
    """What is large, and what is damaged."""
    print(f"\npeak memory for a record of 2 GB: {_peak_of_a_large_record():.0f} MiB")
    lost = _lost(_bodies()).items()
    print("records lost of 400 by each damage: " + ", ".join(f"{k} {n}" for k, n in lost))


def _bodies() -> list[bytes]:
    return [_page(number) for number in range(PAGES)]


def _row(what: str, count: int, ours: Callable[[], Any], peer: Callable[[], Any]) -> None:
    rounds: list[tuple[float, float]] = []  # in turn, and many where they are short: the machine may be busy
    while len(rounds) < ROUNDS or sum(map(sum, rounds)) < ROW_SECONDS:
        rounds.append((_seconds(ours), _seconds(peer)))
    mine, theirs = map(min, zip(*rounds, strict=True))
    print(f"| {what} | {count / mine:.0f} | {count / theirs:.0f} | {theirs / mine:.1f} |", flush=True)


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _page(number: int) -> bytes:
    dice = random.Random(number)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - the same pages each time
    words = [f"w{dice.randrange(4000):x}" for _ in range(9000)]
    return ("<html><title>page</title>" + "".join(f"<p>{word}</p>" for word in words)).encode()


def _exchange(number: int, body: bytes) -> Exchange:
    return Exchange(
        url=f"https://shop.example/p/{number}", captured_at=AT, method=b"GET",
        request_headers=((b"User-Agent", b"Vitrine"), (b"Accept", b"*/*")), protocol=b"HTTP/1.1", status=200,
        reason=b"OK", headers=HEADERS, body=body, ip_address="127.0.0.1",
    )  # fmt: skip


def _ours(bodies: list[bytes]) -> bytes:
    writer, file = PairWriter(), BytesIO()
    file.write(About("Vitrine", "Vitrine", "obey").member("bench.warc.gz", writer.file_id, AT))
    for number, body in enumerate(bodies):
        file.write(writer.pair(_exchange(number, body)).data)
    return file.getvalue()


def _warcios(bodies: list[bytes]) -> None:
    writer = WARCWriter(BytesIO(), gzip=True)
    for number, body in enumerate(bodies):
        url = f"https://shop.example/p/{number}"
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        answer = writer.create_warc_record(url, "response", payload=BytesIO(body), http_headers=head)
        asked = StatusAndHeaders("GET /p HTTP/1.1", [("User-Agent", "Vitrine")], is_http_request=True)
        request = writer.create_warc_record(url, "request", http_headers=asked)
        writer.write_request_response_pair(request, answer)


def _read(data: bytes) -> None:
    """As `vitrine warcs verify` does."""
    for each in walk(BytesIO(data), keep=0):
        assert isinstance(each, Entry)  # ruff: ignore[assert] - the file is whole
        assert not each.digests_wrong  # ruff: ignore[assert] - the same


def _read_by_warcio(data: bytes) -> None:
    for each in ArchiveIterator(BytesIO(data)):
        each.content_stream().read()


def _peak_of_a_large_record() -> float:
    """Of `vitrine warcs verify`, which reads one record of zeros with its digest, with all that it loads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.warc.gz"
        digest = hashlib.sha256()
        for _ in range(LARGE_BYTES // MB):
            digest.update(bytes(MB))
        with gzip.open(path, "wb", compresslevel=1) as file:
            said = f"WARC-Type: resource\r\nWARC-Block-Digest: sha256:{digest.hexdigest()}"
            file.write(f"WARC/1.1\r\n{said}\r\nContent-Length: {LARGE_BYTES}\r\n\r\n".encode())
            for _ in range(LARGE_BYTES // MB):
                file.write(bytes(MB))
            file.write(b"\r\n\r\n")
        done = subprocess.run(
            [sys.executable, "-m", "bench.warc", str(path)], check=True, stdout=subprocess.PIPE, text=True
        )
    return float(done.stdout)


def _read_alone(path: str) -> None:
    """The process's own peak: what `getrusage` says begins with that of the process that started it."""
    with redirect_stdout(StringIO()) as said:
        vitrine(["warcs", "verify", path, "--json"])
    [found] = json.loads(said.getvalue())["files"]
    assert (found["digests_checked"], found["digests_wrong"], found["records"]) == (1, 0, 1)  # ruff: ignore[assert] - it is whole
    status = Path("/proc/self/status").read_text("ascii")
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


def _lost(bodies: list[bytes]) -> dict[str, int]:
    data = _ours(bodies)
    whole = [each for each in walk(BytesIO(data)) if isinstance(each, Entry)]
    victim = whole[len(whole) // 2]
    begin, end = victim.offset, victim.offset + victim.length
    middle, noise = (begin + end) // 2, random.Random(1).randbytes(64)  # ruff: ignore[suspicious-non-cryptographic-random-usage] - the same noise each time
    damaged = {
        "noise": data[:middle] + noise + data[middle + 64 :],
        "no head": data[:begin] + bytes(16) + data[begin + 16 :],
        "checksum": data[: end - 8] + b"\1\2\3\4" + data[end - 4 :],
        "cut out": data[:middle] + data[middle + 100 :],
        "put in": data[:middle] + noise + data[middle:],
        "cut off": data[: whole[-1].offset + 20],
    }
    return {
        kind: len(whole) - sum(not isinstance(each, Bad) for each in walk(BytesIO(each_data)))
        for kind, each_data in damaged.items()
    }


def _crawls(*names: str, page_bytes: int = 0) -> None:
    """The crawls of `bench site` with pages in files, in WARC files, and unjudged; and a recorded one.

    Others may be at work, now more and now less: so the crawls of a round follow each other, every other
    round backwards, and what is told of two is the median of their ratios. The processors' time is told, too.
    """
    with spawn(bulk=SHOPS, page_bytes=page_bytes) as shops:
        homes = [shops.url(f"shop-{number:04}") for number in range(1, SHOPS + 1)]
        rounds = [
            {name: _crawled(name, homes) for name in (names, names[::-1])[number % 2]}
            for number in range(CRAWLS)
        ]
    print("\n| crawl | pages/s | beside | ratio | of all rounds | ms of CPU | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name, beside in (pair for pair in BESIDE if {*names} >= set(pair)):
        rates = sorted(each[name][0] / each[beside][0] for each in rounds)
        works = [each[beside][1] / each[name][1] for each in rounds]
        print(
            f"| {name} | {median(each[name][0] for each in rounds):.0f} | {beside} | {median(rates):.2f} |"
            f" {', '.join(f'{rate:.2f}' for rate in rates)} |"
            f" {median(each[name][1] for each in rounds):.1f} | {median(works):.2f} |"
        )


def _crawled(name: str, homes: list[str]) -> tuple[float, float]:
    """Pages a second, and milliseconds of CPU a page."""
    mode, settings = SHAPES[name]
    with tempfile.TemporaryDirectory() as folder:
        placed = {
            name: str(Path(folder) / said) if name == "WARC_DIR" else said for name, said in settings.items()
        }
        with _set(placed):
            figures = site._run(mode, homes)  # ruff: ignore[private-member-access] - the same crawl
    return float(figures["per_second"]), float(figures["cpu_ms"])


@contextmanager
def _set(settings: dict[str, str]) -> Generator[None]:
    os.environ.update(settings)
    try:
        yield
    finally:
        for name in settings:
            del os.environ[name]


PARTS: dict[str, Callable[[], None]] = {
    "rows": _rows,
    "damage": _damage,
    "stored": partial(_crawls, *list(SHAPES)[:4]),
    "recorded": partial(_crawls, *list(SHAPES)[4:]),
    "large": partial(_crawls, "a bare spider", "the same, not judged", page_bytes=LARGE_PAGE),
}


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].endswith(".warc.gz"):
        _read_alone(sys.argv[1])
    else:
        main()
