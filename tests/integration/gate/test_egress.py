"""A real crawl never connects to an address that is not public, by whatever way it is led there."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Generator

# Stands for the public net: everything in 127.0.0.2 is allowed, everything else on loopback is not.
PUBLIC = "127.0.0.2"
LOOPBACK = [
    "localhost",
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "127.1",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",  # ruff: ignore[hardcoded-bind-all-interfaces] - connected to, not bound
    "[::1]",
]
NOWHERE = ["169.254.169.254", "100.64.0.1", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "10.255.255.1"]


@define
class Canary:
    """Listens where nobody may come, and counts who came."""

    port: int
    visits: list[str] = field(factory=list)


class Shop(BaseHTTPRequestHandler):
    """A public site that sends its visitors where they should not go."""

    def do_GET(self) -> None:
        """Redirect to `?to=`; the robots.txt of some hosts lies with the canary."""
        parts = urlsplit(self.path)
        to = parse_qs(parts.query).get("to", [""])[0]
        host = self.headers["Host"]
        if parts.path == "/robots.txt" and host.startswith("robots"):
            to = f"http://127.0.0.1:{self.server.server_port}/robots.txt"  # type: ignore[attr-defined]
        self.send_response(302 if to else 200)
        if to:
            self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def canary() -> Generator[Canary]:
    """The shop on the public address, and on the same port of every other loopback address the canary."""
    if sys.platform != "linux":
        pytest.skip("needs all of 127.0.0.0/8 on the loopback interface")
    with ThreadingHTTPServer((PUBLIC, 0), Shop) as shop, ExitStack() as stack:
        serving = threading.Thread(target=shop.serve_forever, args=(0.05,))
        serving.start()
        stack.callback(serving.join)
        stack.callback(shop.shutdown)
        found = Canary(shop.server_port)
        for address, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
            if family == socket.AF_INET6 and not socket.has_dualstack_ipv6():
                continue
            listener = stack.enter_context(socket.create_server((address, found.port), family=family))
            watching = threading.Thread(target=_watch, args=(listener, found))
            watching.start()
            stack.callback(watching.join)
            stack.callback(listener.shutdown, socket.SHUT_RDWR)
        yield found


def _watch(listener: socket.socket, canary: Canary) -> None:
    while True:
        try:
            visitor, address = listener.accept()
        except OSError:
            return
        canary.visits.append(address[0])
        with visitor:
            visitor.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def crawl(canary: Canary, urls: list[str]) -> dict[str, str]:
    """What became of each URL."""
    answers = {
        "shop.test": [[PUBLIC]],
        "robots.test": [[PUBLIC]],
        # the robots.txt gets a public answer, the page after it another one
        "rebind.test": [[PUBLIC], ["127.0.0.1"]],
        "mixed.test": [[PUBLIC, "127.0.0.1"]],
    }
    order = {"allow": PUBLIC, "answers": answers, "urls": urls}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.integration.gate.egress_crawl", json.dumps(order)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert not done.stderr
    outcomes: dict[str, str] = json.loads(done.stdout)
    return outcomes


def test_canary_is_never_reached(canary: Canary) -> None:
    """Spellings, redirects, robots.txt, and names that change or mix their answers: all refused."""
    direct = [f"http://{host}:{canary.port}/" for host in LOOPBACK + NOWHERE]
    tls = [f"https://{host}:{canary.port}/" for host in ("127.0.0.1", "[::1]", "localhost")]
    redirects = [f"http://shop.test:{canary.port}/?to={url}" for url in direct + tls]
    names = [f"http://{name}.test:{canary.port}/" for name in ("rebind", "mixed")]
    outcomes = crawl(canary, direct + tls + redirects + names)
    assert canary.visits == []
    assert set(outcomes.values()) == {"EgressRefusedError"}
    assert len(outcomes) == len(direct) + len(tls) + len(redirects) + len(names)


def test_allowed_pages_are_fetched(canary: Canary) -> None:
    """The public site is fetched, also where its robots.txt leads nowhere good."""
    urls = [f"http://{name}.test:{canary.port}/" for name in ("shop", "robots")]
    assert crawl(canary, urls) == dict.fromkeys(urls, "fetched")
    assert canary.visits == []
