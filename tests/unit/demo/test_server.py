"""A demo that has ended leaves nothing: no thread, no socket, no task."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from crawler.demo import serve
from tests.unit.demo.asking import ask, read
from tests.waiting import PATIENCE_SECONDS


def open_files() -> int | None:
    """How many files and sockets this process has open, where the system tells."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else None


def test_no_thread_and_no_socket_is_left() -> None:
    """Also of clients that were served."""
    with serve():
        pass  # what is loaded once, is loaded
    threads, files = threading.enumerate(), open_files()
    with serve(bulk=5) as demo:
        read(demo.url("plain"))
        url = demo.url("plain")
    assert threading.enumerate() == threads
    assert open_files() == files
    with pytest.raises(ConnectionRefusedError):
        ask(url)


@pytest.mark.parametrize("path", ["/about", "/scenario/slow/?ms=60000", "/scenario/endless/"])
def test_clients_in_mid_request_are_hung_up_on(path: str, caplog: pytest.LogCaptureFixture) -> None:
    """At once, and without a word in the log."""
    with serve() as demo:
        parts = urlsplit(demo.url("plain"))
        link = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_SECONDS)
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        time.sleep(0.05)
        stopping = time.monotonic()
    assert time.monotonic() - stopping < 50
    assert not caplog.records
    with link, contextlib.suppress(ConnectionResetError):
        while link.recv(1 << 20):
            pass


def test_an_error_in_the_block_ends_the_demo_too() -> None:
    """The error comes through, and nothing listens any more."""
    urls: list[str] = []
    with pytest.raises(ZeroDivisionError):
        _fail_while_serving(urls)
    with pytest.raises(ConnectionRefusedError):
        ask(urls[0])


def _fail_while_serving(urls: list[str]) -> None:
    with serve() as demo:
        urls.append(demo.url("plain"))
        _ = 1 / 0
