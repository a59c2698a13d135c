"""Connections are made to allowed addresses only, for sessions with their domain; answers are bounded."""

from __future__ import annotations

import asyncio
import socketserver
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pytest_twisted import ensureDeferred
from scrapy.exceptions import CannotResolveHostError
from scrapy.resolver import CachingHostnameResolver
from scrapy.utils.test import get_crawler
from twisted.internet.defer import Deferred

from crawler.access.egress import EgressPolicy, EgressRefusedError
from crawler.capture.failures import Cause
from crawler.crawl.answers import BrokenOffError, HeadersTooLargeError, SessionStoppedError, cause_of_error
from crawler.crawl.context import SESSION, TASK, CrawlContext
from crawler.middlewares.egress import MAX_HEADER_BYTES, MAX_HEADER_LINES, GuardedHandler, GuardedResolver
from tests.unit.components import a_request, a_visit, crawl_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

PART = b"<html><bo"
HEAD = b"HTTP/1.1 200 OK\r\nX-A: b\r\n"
ANSWERS = {
    "/page": HEAD + b"Content-Length: 9\r\n\r\n" + PART,
    "/lines": HEAD + b"X: y\r\n" * (MAX_HEADER_LINES - 1) + b"\r\n",
    "/bytes": HEAD + (b"X: " + b"y" * 8000 + b"\r\n") * (MAX_HEADER_BYTES // 8003 + 1) + b"\r\n",
    "/folded": HEAD + (b" " + b"y" * 8000 + b"\r\n") * (MAX_HEADER_BYTES // 8001 + 1) + b"\r\n",
    "/line": HEAD + b"X" * 20_000,
    "/cut": HEAD + b"Content-Length: 390\r\n\r\n" + PART,
    "/slow": HEAD + b"Content-Length: 390\r\n\r\n" + PART,
    "/large": HEAD + b"\r\n" + b"x" * 2000,
}


class Wire(socketserver.StreamRequestHandler):
    """Sends what is wanted, byte for byte."""

    server: Site

    def handle(self) -> None:
        """One request a connection; the slow one is answered in part and held."""
        path = self.rfile.readline().split(b" ")[1].decode()
        self.server.asked.append(path)
        while self.rfile.readline().strip():
            pass
        self.wfile.write(ANSWERS[path])
        if path == "/slow":
            self.server.may_end.wait(60)


class Site(socketserver.ThreadingTCPServer):
    """Remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Wire)
        self.asked: list[str] = []
        self.may_end = threading.Event()

    def url(self, path: str = "/page", host: str = "127.0.0.1") -> str:
        """Of one of its pages."""
        return f"http://{host}:{self.server_address[1]}{path}"


@pytest.fixture
def site() -> Iterator[Site]:
    """A site on this machine."""
    with Site() as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        yield site
        site.may_end.set()
        site.shutdown()
        thread.join()


@pytest.fixture(autouse=True)  # ruff: ignore[pytest-fixture-autouse] - handlers put theirs into the reactor
def usual_resolver() -> Iterator[None]:
    """Other tests have the reactor's own resolver."""
    from twisted.internet import reactor

    before = reactor.nameResolver
    yield
    reactor.installNameResolver(before)


def downloaded(url: str, allowed: str = "127.0.0.0/8", timeout: float = 60) -> Deferred[Response]:
    """What comes of a request of a crawl that may connect to these addresses, in the reactor's loop."""
    from twisted.internet import reactor

    crawler = get_crawler(settings_dict={"EGRESS_ALLOW": allowed, "DOWNLOAD_MAXSIZE": 1000})
    handler = GuardedHandler(crawler)

    async def download() -> Response:
        try:
            return await handler.download_request(a_request(url, meta={"download_timeout": timeout}))
        finally:
            await handler.close()

    loop = reactor._asyncioEventloop
    return Deferred.fromFuture(asyncio.ensure_future(download(), loop=loop))


@ensureDeferred  # type: ignore[untyped-decorator]
async def test_an_address_that_is_not_allowed_is_never_connected_to(site: Site) -> None:
    """It is told from a name that has no address, for which Scrapy has the same error."""
    assert (await downloaded(site.url(host="localhost"))).body == PART
    for host in ("localhost", "127.0.0.1"):
        with pytest.raises(EgressRefusedError, match=f"{host} is not to be connected to") as refused:
            await downloaded(site.url(host=host), allowed="")
        assert "EGRESS_ALLOW" in str(refused.value.hint)
    assert site.asked == ["/page"]
    with pytest.raises(CannotResolveHostError):
        await downloaded("http://nowhere.invalid/")


@ensureDeferred  # type: ignore[untyped-decorator]
@pytest.mark.parametrize(
    ("path", "cause", "kept"),
    [
        ("/lines", Cause.HEADERS_TOO_LARGE, None),
        ("/bytes", Cause.HEADERS_TOO_LARGE, None),
        ("/folded", Cause.HEADERS_TOO_LARGE, None),
        ("/line", Cause.HEADERS_TOO_LARGE, None),
        ("/cut", Cause.TRUNCATED, PART),
        ("/slow", Cause.TIMEOUT, PART),
        ("/large", Cause.TOO_LARGE, b""),
    ],
)
async def test_an_answer_without_its_end_is_an_error_that_has_what_came(
    site: Site, path: str, cause: Cause, kept: bytes | None
) -> None:
    """For the record of it; of one that grew too large only the head is kept, of endless headers nothing."""
    with pytest.raises((HeadersTooLargeError, BrokenOffError)) as failed:
        await downloaded(site.url(path), timeout=0.5 if path == "/slow" else 60)
    assert cause_of_error(failed.value) == cause
    response: Any = getattr(failed.value, "response", None)
    assert (response and response.body) == kept
    assert kept is None or response.headers[b"X-A"] == b"b"


@pytest.mark.parametrize("why", ["held", "stopped", "unknown", "lost", "run over", "closing"])
def test_no_connection_is_made_for_a_session_that_lost_its_domain(
    monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """It is asked right before, as its request may have waited in Scrapy's queue."""
    parts, visit = crawl_parts(), a_visit()
    held = SimpleNamespace(may_fetch=lambda of, domain: (of, domain) == (visit, "shop.example"))
    visits = SimpleNamespace(running={visit.id: visit}, domains=held)
    over = SimpleNamespace(why="it was stopped") if why == "run over" else None
    context = SimpleNamespace(visits=visits, run_worker=SimpleNamespace(over=over))
    monkeypatch.setattr(CrawlContext, "of", lambda _: context)
    request = a_request(visit=visit, meta={"download_slot": "shop.example", TASK: "a task"})
    if why == "stopped":
        visit.stop(Cause.LOCK_LOST)
    elif why == "unknown":
        request.meta[SESSION] = "another"
    elif why == "lost":
        request.meta["download_slot"] = "elsewhere.example"
    elif why == "closing":
        parts.crawler.engine.running = False
    handler: Any = GuardedHandler.__new__(GuardedHandler)
    handler._crawler = parts.crawler
    if why == "held":
        handler.require_lock(request)
    else:
        with pytest.raises(SessionStoppedError):
            handler.require_lock(request)


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("93.184.216.34", ["93.184.216.34"]),
        ("93.184.216.34,2606:2800:220:1::1", ["93.184.216.34", "2606:2800:220:1::1"]),
        ("10.1.2.3", ["10.1.2.3"]),
        ("127.0.0.1", []),
        ("93.184.216.34,10.0.0.1", []),
        ("::ffff:127.0.0.1", []),
        ("169.254.169.254", []),
    ],
)
def test_all_addresses_of_a_name_or_none(
    monkeypatch: pytest.MonkeyPatch, answer: str, passed: list[str]
) -> None:
    """One bad address spoils the name; what the operator allows is good."""

    def resolve(_: Any, receiver: Any, name: str, *_args: Any, **_options: Any) -> None:
        receiver.resolutionBegan(None)
        for host in name.split(","):
            receiver.addressResolved(SimpleNamespace(host=host))
        receiver.resolutionComplete()

    monkeypatch.setattr(CachingHostnameResolver, "resolveHostName", resolve)
    reactor: Any = SimpleNamespace(nameResolver=None)
    resolver = GuardedResolver(reactor, 10, EgressPolicy.of(["10.1.0.0/16"]))
    found: list[str] = []
    receiver: Any = SimpleNamespace(
        resolutionBegan=lambda _: None,
        addressResolved=lambda address: found.append(address.host),
        resolutionComplete=lambda: None,
    )
    resolver.resolveHostName(receiver, answer)
    assert found == passed
