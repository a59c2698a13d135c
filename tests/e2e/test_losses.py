"""Locks that are lost, delays that sites ask for, and what a connection may not do."""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.db.models import AuditEntry
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import redis

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

SLOWLY = ("-s", "DOWNLOAD_DELAY=3")


def test_a_session_that_lost_its_lock_stops_fetching(
    home: Home,
    shops: DemoServer,
    endings: list[subprocess.Popen[str]],
    redis_database: str,
    redis_client: redis.Redis,
) -> None:
    """Somebody else has the lock: the session ends as failed with `lock_lost`, and leaves that lock alone."""
    home.extra.update(REDIS_URL=redis_database, DOMAIN_LOCK_TTL_SECONDS="2")
    shops.forget()
    key = f"lock:domain:{shops.domain('hub')}"
    process = home.start_scrapy("crawl", "pdp", "-a", f"url={shops.url('hub')}", *SLOWLY)
    endings.append(process)
    wait_for(lambda: len(shops.log.entries("hub")) > 1)
    redis_client.set(key, "worker-9:other:1700000000", ex=300)
    process.communicate(timeout=120)
    seen = len(shops.log.entries("hub"))
    [session] = home.sessions()
    assert (session["status"], session["cause"]) == ("failed", "lock_lost")
    assert redis_client.get(key) == "worker-9:other:1700000000"
    assert "pdp" not in [page["page_type"] for page in session["pages"]]
    assert seen < 6


@pytest.mark.soak
def test_breaking_a_lock_asks_first_and_says_whose_it_is(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """`domains show` names the session; `release` needs a yes; the session notices, and stops."""
    home.extra["DOMAIN_LOCK_TTL_SECONDS"] = "3"
    shops.forget()
    endings.append(
        home.start_scrapy("crawl", "pdp", "-a", f"url={shops.url('hub')}", "-s", "DOWNLOAD_DELAY=10")
    )
    wait_for(lambda: shops.log.entries("hub"))
    domain = shops.domain("hub")
    [session] = home.sessions()
    shown = json.loads(home.vitrine("domains", "show", domain, "--json").stdout)
    assert (shown["state"], shown["session"]) == ("held", session["id"])
    refused = home.vitrine("domains", "release", domain)
    assert refused.returncode == 2
    assert session["id"] in refused.stderr
    assert home.vitrine("domains", "release", domain, "--yes").returncode == 0
    database = home.database()
    with database.read() as db:
        assert list(db.scalars(select(AuditEntry.subject))) == [domain]
    database.close()
    endings[0].communicate(timeout=120)
    assert home.sessions()[0]["cause"] == "lock_lost"


class _Canary(BaseHTTPRequestHandler):
    """Counts who comes."""

    def do_GET(self) -> None:
        """Say hello."""
        self.server.seen.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<h1>canary</h1>")

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@pytest.fixture
def canary() -> Iterator[HTTPServer]:
    """A server on loopback that nobody should reach."""
    server = HTTPServer(("127.0.0.1", 0), _Canary)
    server.seen = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def self_signed(canary: HTTPServer, tmp_path: Path) -> str:
    """The address of the canary, behind a certificate of its own."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    canary.socket = context.wrap_socket(canary.socket, server_side=True)
    return f"127.0.0.1:{canary.server_port}"


@pytest.mark.soak(minutes=10)
def test_a_connection_goes_where_it_is_meant_to(
    home: Home, shops: DemoServer, canary: HTTPServer, self_signed: str
) -> None:
    """Proxies of the environment are ignored, and a certificate that nobody vouches for is refused."""
    home.extra.update(HTTP_PROXY=f"http://{self_signed}", http_proxy=f"http://{self_signed}")
    sessions = home.crawl(shops.url("plain"), f"https://{self_signed}/")
    ends = {session["url"]: (session["status"], session["cause"]) for session in sessions}
    assert ends == {
        shops.url("plain"): ("completed", None),
        f"https://{self_signed}/": ("failed", "connection_failed"),
    }
    assert not canary.seen  # type: ignore[attr-defined]


@pytest.mark.soak
def test_a_proxy_is_asked_for_public_addresses_alone(home: Home, canary: HTTPServer) -> None:
    """PROXY_URL leads to it; private addresses are refused before."""
    home.extra["PROXY_URL"] = f"http://127.0.0.1:{canary.server_port}"
    home.crawl("http://shop.example/", "http://169.254.169.254/latest")
    asked = {f"http://shop.example/{path}" for path in ("robots.txt", "", "sitemap.xml")}
    assert set(canary.seen) == asked  # type: ignore[attr-defined]
