"""Bodies that unfold: refused, in bounded memory."""

from __future__ import annotations

import gzip
import threading
import zlib
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import brotli
import pytest
from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.e2e.conftest import Home

UNFOLDED = 256 * 1024 * 1024
ALLOWED_MIB = 300  # Scrapy, the project, and a few copies of the largest body that is allowed
# A process starts out with its parent's peak, so the parent has to be a small one.
MEASURED = """
import resource, subprocess, sys
status = subprocess.run([sys.executable, "-m", "scrapy", *sys.argv[1:]]).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
STEP = b"\0" * (1024 * 1024)


def _bomb(machine: Any, compress: str = "compress", end: str = "flush") -> bytes:
    """So much of nothing, compressed piece by piece."""
    pieces = [getattr(machine, compress)(STEP) for _ in range(UNFOLDED // len(STEP))]
    return b"".join([*pieces, getattr(machine, end)()])


def bombs() -> dict[str, tuple[str, bytes]]:
    """Encodings and bodies, in every encoding that is asked for."""
    packed = _bomb(zlib.compressobj(1, wbits=31))
    return {
        "gzip": ("gzip", packed),
        "deflate": ("deflate", _bomb(zlib.compressobj(1))),
        "brotli": ("br", _bomb(brotli.Compressor(quality=1), "process", "finish")),
        "zstd": ("zstd", _bomb(zstd.ZstdCompressor(level=1))),
        "gzip-in-gzip": ("gzip, gzip", gzip.compress(packed)),
    }


LINE = b"X-Fill: " + b"x" * 8000 + b"\r\n"
HEADERS = {  # what is sent again and again after the status line
    "lines": (LINE, 40_000),
    "folded": (b" " + b"x" * 8000 + b"\r\n", 40_000),
    "one-line": (b"x" * 8000, 40_000),
    "many": (b"X-A: b\r\n", 100_000),
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


def hostile(bodies: dict[str, tuple[str, bytes]]) -> type[BaseHTTPRequestHandler]:
    """A site with a bomb at some paths, and headers that do not end, or nearly so, at others."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/")
            with suppress(ConnectionError):
                if name in HEADERS:
                    self.talk(*HEADERS[name])
                else:
                    self.drop(*bodies.get(name, ("identity", b"")))
            self.close_connection = True

        def talk(self, piece: bytes, times: int) -> None:
            is_line = piece.endswith(b"\n")
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-First: 1" + b"\r\n" * is_line)
            for _ in range(times):
                self.wfile.write(piece)
            self.wfile.write(b"\r\nok" if is_line else b"\r\n\r\nok")

        def drop(self, encoding: str, body: bytes) -> None:
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Encoding", encoding)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    return Site


@pytest.mark.soak(minutes=10)
def test_bodies_and_headers_without_end_are_refused_in_bounded_memory(home: Home) -> None:
    """A quarter of a gigabyte behind a few hundred kilobytes, and headers for as long as anybody listens."""
    home.extra["SESSIONS_AT_ONCE"] = "1"
    bodies = bombs()
    expected = dict.fromkeys(bodies, "too_large") | dict.fromkeys(HEADERS, "headers_too_large")
    with _served(hostile(bodies)) as address:
        urls = " ".join(f"{address}/{name}" for name in expected)
        done = home.python(
            "-c", MEASURED, "crawl", "pdp", "-a", f"url={urls}", "-s", "DOWNLOAD_DELAY=0", "--nolog"
        )
    status, peak_kib = map(int, done.stdout.split())
    assert status == 1  # of all these sessions none was completed
    assert {session["url"].rpartition("/")[2]: session["cause"] for session in home.sessions()} == expected
    assert peak_kib / 1024 < ALLOWED_MIB
