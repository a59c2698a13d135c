"""Where an answer ends: HTTP has more ways to say so than a length, and only a broken promise is a loss."""

from __future__ import annotations

import fcntl
import os
import socket
import ssl
import struct
import subprocess
import termios
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.db.models import Page, Task
from tests.e2e.farm import QUICK_RUNS
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.e2e.conftest import Home

MAYBE = "maybe_truncated"
HTML = (
    b"<html><title>Jugs</title><body><h1>Jugs</h1><p>"
    + b"Earthenware, glazed twice. " * 20
    + b"</p></body></html>"
)
CHUNK = b"%x\r\n%s\r\n" % (len(HTML), HTML)
TYPE = b"Content-Type: text/html\r\n"
WHOLE = {
    "/old": b"HTTP/1.0 200 OK\r\n" + TYPE + b"\r\n" + HTML,
    "/close": b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + TYPE + b"\r\n" + HTML,
    "/silent": b"HTTP/1.1 200 OK\r\n" + TYPE + b"\r\n" + HTML,
    "/length": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(HTML) + TYPE + b"\r\n" + HTML,
    "/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + TYPE + b"\r\n" + CHUNK + b"0\r\n\r\n",
}
BROKEN = {
    "/short": b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n" + TYPE + b"\r\n" + HTML,
    "/unfinished": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + TYPE + b"\r\n" + CHUNK,
    "/reset": b"HTTP/1.0 200 OK\r\n" + TYPE + b"\r\n" + HTML,
}


class Server(ThreadingTCPServer):
    """Answers a path with bytes and closes the connection; over TLS with notice or without."""

    daemon_threads = True
    context: ssl.SSLContext | None = None
    gives_notice = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.asked: list[str] = []
        links = b"".join(b'<a href="%s">x</a>' % path.encode() for path in (*WHOLE, *BROKEN))
        page = b"<html><title>Start</title><h1>Start</h1>" + links
        self.answers = {**WHOLE, **BROKEN, "/": WHOLE["/old"].replace(HTML, page)}

    def url(self, path: str = "/") -> str:
        """Where it is."""
        scheme = "https" if self.context else "http"
        return f"{scheme}://127.0.0.1:{self.server_address[1]}{path}"

    def get_request(self) -> tuple[socket.socket, Any]:
        """Take a connection; the handshake is left to its thread."""
        connection, address = super().get_request()
        if self.context is None:
            return connection, address
        return self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address


class _Connection(StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        """One request, one answer."""
        lines = []
        while (line := self.rfile.readline()).strip():
            lines.append(line)
        path = lines[0].split()[1].decode() if lines else ""
        self.server.asked.append(path)
        self.wfile.write(self.server.answers.get(path, b"HTTP/1.0 404 Not Found\r\n\r\n"))
        if path == "/reset":
            self._reset()
        elif isinstance(self.connection, ssl.SSLSocket) and self.server.gives_notice:
            with suppress(OSError):  # whoever has the length does not wait for it
                self.connection.unwrap()

    def _reset(self) -> None:
        """Break the connection off once the other side's system has all that was written."""
        left = bytearray(4)
        wait_for(lambda: fcntl.ioctl(self.connection, termios.TIOCOUTQ, left) == 0 and not any(left))
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())


@pytest.fixture
def server() -> Generator[Server]:
    """A server that ends its answers in every way."""
    with Server() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def homepage(home: Home, url: str) -> tuple[str, str | None, bool]:
    """What a session of a site says of its home page: status, cause, and whether its end is doubted."""
    [session] = home.crawl(url)
    pages = [page for page in session["pages"] if page["page_type"] == "homepage"]
    return (
        pages[0]["status"],
        session["cause"],
        any(MAYBE in page["low_confidence_reasons"] for page in pages),
    )


def pages_of_a_run(home: Home, server: Server) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The doubts about each page that a run kept, and the causes of those that it did not."""
    home.scrapy("crawl", "site", "-a", f"start_url={server.url()}", "-s", "DOWNLOAD_DELAY=0")
    database = home.database()
    with database.read() as db:
        tasks = list(db.scalars(select(Task).where(Task.url != server.url())))
        pages = {page.id: page for page in db.scalars(select(Page))}
    database.close()
    path = {task.url: task.url.removeprefix(server.url("")) for task in tasks}
    kept = {path[task.url]: pages[task.page_id] for task in tasks if task.page_id}
    return (
        {each: page.low_confidence_reasons for each, page in kept.items() if page.status == "ok"},
        {path[task.url]: task.cause for task in tasks if task.cause},
    )


QUICKLY = {**QUICK_RUNS, "TASK_MAX_RETRIES": "1"}


@pytest.mark.soak
def test_a_run_keeps_what_is_whole(home: Home, server: Server) -> None:
    """HTTP/1.0 and a plain close are in order; a short body, a missing last chunk and a reset are not."""
    home.extra.update(QUICKLY)
    kept, failed = pages_of_a_run(home, server)
    assert kept.keys() == WHOLE.keys()
    assert not any(MAYBE in doubts for doubts in kept.values())
    assert failed == dict.fromkeys(BROKEN, "truncated")


@pytest.mark.soak
def test_a_session_keeps_what_is_whole(home: Home, server: Server) -> None:
    """The home page of a server that speaks HTTP/1.0 is a page as any other; a short one is none."""
    assert homepage(home, server.url("/old")) == ("ok", "no_candidates", False)
    assert homepage(home, server.url("/short")) == ("failed", "truncated", False)


@pytest.mark.soak
@pytest.mark.parametrize("gives_notice", [True, False])
def test_tls_that_ends_without_notice_is_doubted(
    home: Home, server: Server, tmp_path: Path, *, gives_notice: bool
) -> None:
    """Anybody on the way may have cut such an answer off, and many servers never give notice."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.context, server.gives_notice = context, gives_notice
    home.extra.update(QUICKLY, SSL_CERT_FILE=str(certificate))
    kept, failed = pages_of_a_run(home, server)
    # Over TLS a reset looks the same as an end without notice.
    assert kept.keys() == {*WHOLE, "/reset"}
    doubted = {path for path, doubts in kept.items() if MAYBE in doubts}
    assert doubted == {"/reset"} | (set() if gives_notice else {"/old", "/close", "/silent"})
    assert failed == {"/short": "truncated", "/unfinished": "truncated"}
