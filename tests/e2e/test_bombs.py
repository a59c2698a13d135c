"""Bodies that unfold: refused, in bounded memory."""

from __future__ import annotations

import gzip
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import brotli
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

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


BOMBS = {
    "gzip": ("gzip", _gzip_bomb),
    "deflate": ("deflate", _deflate_bomb),
    "brotli": ("br", _brotli_bomb),
    "gzip-in-gzip": ("gzip, gzip", lambda: gzip.compress(_gzip_bomb())),
}


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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_bombs_are_refused_in_bounded_memory(home: Home, bombs: str) -> None:
    """Half a gigabyte behind a few hundred kilobytes, in every encoding that is asked for."""
    home.extra["SESSIONS_AT_ONCE"] = "1"
    urls = " ".join(f"{bombs}/{name}" for name in BOMBS)
    done = home.python(
        "-c", MEASURED, "crawl", "pdp", "-a", f"url={urls}", "-s", "DOWNLOAD_DELAY=0", "--nolog"
    )
    status, peak_kib = map(int, done.stdout.split())
    assert status == 0
    causes = {session["url"].rpartition("/")[2]: session["cause"] for session in home.sessions()}
    assert causes == dict.fromkeys(BOMBS, "too_large")
    assert peak_kib / 1024 < ALLOWED_MIB
