"""Bodies that unfold: refused, in bounded memory."""

from __future__ import annotations

import gzip
import threading
import zlib
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import brotli
import pytest
from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tests.e2e.conftest import Home

UNFOLDED = 512 * 1024 * 1024
ALLOWED_MIB = 300  # Scrapy, the project, and a few copies of the largest body that is allowed
# A process starts out with its parent's peak, so the parent has to be a small one.
MEASURED = """
import resource, subprocess, sys
status = subprocess.run([sys.executable, "-m", "scrapy", *sys.argv[1:]]).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
STEP = b"\0" * (1024 * 1024)


def _gzip_bomb() -> bytes:
    machine = zlib.compressobj(9, wbits=31)
    return b"".join(machine.compress(STEP) for _ in range(UNFOLDED // len(STEP))) + machine.flush()


def _deflate_bomb() -> bytes:
    machine = zlib.compressobj(9)
    return b"".join(machine.compress(STEP) for _ in range(UNFOLDED // len(STEP))) + machine.flush()


def _brotli_bomb() -> bytes:
    machine = brotli.Compressor(quality=1)
    return bytes(b"".join(machine.process(STEP) for _ in range(UNFOLDED // len(STEP))) + machine.finish())


def _zstd_bomb() -> bytes:
    machine = zstd.ZstdCompressor(level=1)
    return bytes(b"".join(machine.compress(STEP) for _ in range(UNFOLDED // len(STEP))) + machine.flush())


BOMBS = {
    "gzip": ("gzip", _gzip_bomb),
    "deflate": ("deflate", _deflate_bomb),
    "brotli": ("br", _brotli_bomb),
    "zstd": ("zstd", _zstd_bomb),
    "gzip-in-gzip": ("gzip, gzip", lambda: gzip.compress(_gzip_bomb())),
}


@contextmanager
def _served(site: type[BaseHTTPRequestHandler]) -> Generator[str]:
    """The address of a site on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def bombs() -> Iterator[str]:
    """A site with a bomb at each path."""
    bodies = {f"/{name}": (encoding, make()) for name, (encoding, make) in BOMBS.items()}

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            encoding, body = bodies.get(self.path, ("identity", b""))
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Encoding", encoding)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    with _served(Site) as address:
        yield address


def test_bombs_are_refused_in_bounded_memory(home: Home, bombs: str) -> None:
    """Half a gigabyte behind a few hundred kilobytes, in every encoding that is asked for."""
    home.extra["SESSIONS_AT_ONCE"] = "1"
    urls = " ".join(f"{bombs}/{name}" for name in BOMBS)
    done = home.python(
        "-c", MEASURED, "crawl", "pdp", "-a", f"url={urls}", "-s", "DOWNLOAD_DELAY=0", "--nolog"
    )
    status, peak_kib = map(int, done.stdout.split())
    assert status == 1  # of all these sessions none was completed
    causes = {session["url"].rpartition("/")[2]: session["cause"] for session in home.sessions()}
    assert causes == dict.fromkeys(BOMBS, "too_large")
    assert peak_kib / 1024 < ALLOWED_MIB


LINE = b"X-Fill: " + b"x" * 8000 + b"\r\n"
HEADERS = {  # what is sent again and again after the status line, and what then ends the headers
    "lines": (LINE, 40_000),
    "folded": (b" " + b"x" * 8000 + b"\r\n", 40_000),
    "one-line": (b"x" * 8000, 40_000),
    "many": (b"X-A: b\r\n", 100_000),
}


@pytest.fixture
def talkers() -> Iterator[str]:
    """A site whose headers do not end, or nearly so."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            piece, times = HEADERS.get(self.path.strip("/"), (b"", 0))
            status = b"200 OK" if times else b"404 Not Found"
            with suppress(ConnectionError):
                self.wfile.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\nX-First: 1")
                self.wfile.write(b"\r\n" if piece.endswith(b"\n") or not piece else b"")
                for _ in range(times):
                    self.wfile.write(piece)
                self.wfile.write(b"\r\nok" if piece.endswith(b"\n") or not piece else b"\r\n\r\nok")
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    with _served(Site) as address:
        yield address


@pytest.mark.soak(minutes=10)
def test_headers_without_end_are_cut_off(home: Home, talkers: str) -> None:
    """Lines, folded lines, one line, a hundred thousand short ones: a cause of its own, in bounded memory."""
    home.extra["SESSIONS_AT_ONCE"] = "1"
    urls = " ".join(f"{talkers}/{name}" for name in HEADERS)
    done = home.python(
        "-c", MEASURED, "crawl", "pdp", "-a", f"url={urls}", "-s", "DOWNLOAD_DELAY=0", "--nolog"
    )
    _status, peak_kib = map(int, done.stdout.split())
    causes = {session["url"].rpartition("/")[2]: session["cause"] for session in home.sessions()}
    assert causes == dict.fromkeys(HEADERS, "headers_too_large")
    assert peak_kib / 1024 < ALLOWED_MIB
