"""Many at once, too often, and never ending: everybody else is served."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from crawler.clock import utc_now
from crawler.db.models import AuditEntry
from crawler.web import patience
from crawler.web.limits import Limits, TooOftenError
from crawler.web.proxies import Proxies
from tests.unit.archive.stored import index_pages, keep
from tests.unit.web.conftest import NO_TLS
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served

STRANGER = "203.0.113.5"
AT_ONCE = 60  # more than there are threads and connections
PATHS = ("/api/search?q=beech", "/search?q=beech", "/snapshots/1?verify=1", "/api/snapshots/raw/1")


def test_everybody_is_answered_while_somebody_writes(served_on_both: Served) -> None:
    """More ask at once than there are threads and connections."""
    served = served_on_both
    keep(served.database, served.blobs, "<title>A chair</title><main><p>Made of beech.</p></main>")
    index_pages(served.database, served.blobs)
    over = threading.Event()

    def write() -> int:
        written = 0
        while not over.is_set():
            with served.database.write() as db:
                db.add(AuditEntry(timestamp=utc_now(), actor="a", action="b", subject="c", details={}))
            written += 1
        return written

    def ask(number: int) -> int:
        return client.get(PATHS[number % len(PATHS)], timeout=300).status_code

    unlimited = httpx2.Limits(max_connections=None)
    with (
        httpx2.Client(base_url=served.address, limits=unlimited, verify=NO_TLS) as client,
        ThreadPoolExecutor(AT_ONCE + 1) as threads,
    ):
        writing = threads.submit(write)
        answers = Counter(threads.map(ask, range(AT_ONCE)))
        over.set()
        assert writing.result() > 0
    assert answers == {200: AT_ONCE}


def connected(served: Served, source: str = "127.0.0.1") -> socket.socket:
    """A connection from an address of this machine."""
    host, port = served.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), 60, source_address=(source, 0))


def asked(served: Served, source: str) -> bytes:
    """What a request from there is answered."""
    with connected(served, source) as client:
        with suppress(ConnectionError):  # it may be closed before the request is sent
            client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return client.recv(65_536)


def test_a_connection_that_never_ends_its_request_is_closed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that says nothing, and one that stops in its head; a broken request is answered 400."""
    monkeypatch.setattr(patience, "HEAD_SECONDS", 0.5)
    served = serve()
    with connected(served) as silent, connected(served) as slow, connected(served) as broken:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: local")
        broken.sendall(b"GET /\x01 HTTP/1.1\r\n\r\n")
        assert b"400" in broken.recv(100)
        assert served.get("/api/stats").status_code == 200
        assert silent.recv(100) == b""
        assert slow.recv(100) == b""


def test_one_client_does_not_take_all_connections(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind so many of one address the next is refused; others are served, and a proxy of ours."""
    monkeypatch.setattr(patience, "MAX_OF_ONE", 3)
    served, proxied = serve(), serve(trusted_proxies="127.0.0.3")
    with ExitStack() as open_ones:
        held = [open_ones.enter_context(connected(served, "127.0.0.2")) for _ in range(3)]
        assert asked(served, "127.0.0.2").startswith(b"HTTP/1.1 503 ")
        assert asked(served, "127.0.0.4").startswith(b"HTTP/1.1 200 ")
        held[0].close()
        wait_for(lambda: asked(served, "127.0.0.2").startswith(b"HTTP/1.1 200 "))
        for _ in range(5):
            open_ones.enter_context(connected(proxied, "127.0.0.3"))
        assert asked(proxied, "127.0.0.3").startswith(b"HTTP/1.1 200 ")


def admitted(limits: Limits, path: str, times: int, client: str = STRANGER, query: bytes = b"") -> int:
    """How many of so many requests pass."""
    passed = 0
    for _ in range(times):
        with suppress(TooOftenError):
            limits.admit(client, path, query)
            passed += 1
    return passed


def test_each_kind_of_request_has_its_share() -> None:
    """Of 120 a minute: all, half of it searches, a twelfth exports, logins and verifications."""
    now = [0.0]
    limits = Limits(120, clock=lambda: now[0])
    assert admitted(limits, "/api/stats", 200) == 120
    assert admitted(limits, "/api/search", 200) == 60
    assert admitted(limits, "/api/exports/snapshots", 200) == 10
    assert admitted(limits, "/admin/login", 200) == 10
    assert admitted(limits, "/snapshots/7", 200, query=b"x=1&verify=1") == 10
    assert admitted(limits, "/api/stats", 200, "203.0.113.6") == 120  # another client
    now[0] = 60.0
    assert admitted(limits, "/api/stats", 200) == 120


def test_this_machine_and_static_files_are_not_counted() -> None:
    """0 switches the limits off."""
    limits = Limits(1, clock=lambda: 0.0)
    for client, path in (("127.0.0.1", "/api/stats"), ("::1", "/"), (STRANGER, "/static/a.css")):
        assert admitted(limits, path, 50, client) == 50
    assert admitted(Limits(0), "/", 500) == 500


def test_a_client_has_a_whole_network_of_version_6() -> None:
    """Its limit is one, however many addresses of its own it takes; another network has its own."""
    limits = Limits(120, clock=lambda: 0.0)
    mine = [f"2001:db8:0:7::{number:x}" for number in range(1, 200)]
    assert sum(admitted(limits, "/admin/login", 1, each) for each in mine) == 10
    assert admitted(limits, "/admin/login", 1, "2001:db8:0:8::1") == 1
    assert sum(admitted(limits, "/admin/login", 1, f"::ffff:192.0.2.{number}") for number in range(20)) == 20


@pytest.mark.parametrize(
    ("client", "forwarded", "expected"),
    [
        ("203.0.113.1", "198.51.100.7", "203.0.113.1"),  # nobody we trust
        ("10.0.0.1", "1.1.1.1, 198.51.100.7", "198.51.100.7"),  # the first was made up
        ("10.0.0.1", "198.51.100.7, 10.0.0.2", "198.51.100.7"),  # two proxies of ours
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
    ],
)
def test_the_client_is_the_last_address_that_is_no_proxy_of_ours(
    client: str, forwarded: str, expected: str
) -> None:
    """What stands before it, the client may have written; without proxies nothing is believed."""
    headers = [(b"x-forwarded-for", forwarded.encode())]
    scope: Any = {"type": "http", "client": (client, 1), "headers": headers, "scheme": "http"}
    assert Proxies(("10.0.0.0/8",)).seen_through(scope)["client"][0] == expected
    assert Proxies(()).seen_through(scope)["client"][0] == client
