"""A connection to a refused address is never made, and is told as what it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.exceptions import CannotResolveHostError
from scrapy.resolver import CachingHostnameResolver

from crawler.access.egress import EgressPolicy, EgressRefusedError
from crawler.crawl.answers import HeadersTooLargeError
from crawler.middlewares.egress import (
    MAX_HEADER_BYTES,
    MAX_HEADER_LINES,
    GuardedHandler,
    GuardedResolver,
    PartialHandler,
    _BoundedParser,
)
from tests.unit.components import a_request, awaited


class Receiver:
    """Who asked for a name's addresses."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.is_done = False

    # ruff: ignore[invalid-function-name] - Twisted's names
    def resolutionBegan(self, resolution: Any) -> None:
        """An answer is on its way."""

    # ruff: ignore[invalid-function-name] - the same
    def addressResolved(self, address: Any) -> None:
        """One of them."""
        self.addresses.append(address.host)

    # ruff: ignore[invalid-function-name] - the same
    def resolutionComplete(self) -> None:
        """There are no more."""
        self.is_done = True


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> GuardedResolver:
    """A resolver of names that are lists of addresses."""

    def resolve(_: Any, receiver: Any, name: str, *_args: Any, **_options: Any) -> None:
        receiver.resolutionBegan(None)
        for host in name.split(","):
            receiver.addressResolved(SimpleNamespace(host=host))
        receiver.resolutionComplete()

    monkeypatch.setattr(CachingHostnameResolver, "resolveHostName", resolve)
    reactor: Any = SimpleNamespace(nameResolver=None)
    return GuardedResolver(reactor, 10, EgressPolicy.of(["10.1.0.0/16"]))


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
def test_all_addresses_of_a_name_or_none(resolver: GuardedResolver, answer: str, passed: list[str]) -> None:
    """One bad address spoils the name; what the operator allows is good."""
    receiver = Receiver()
    resolver.resolveHostName(receiver, answer)
    assert receiver.addresses == passed
    assert receiver.is_done


def downloaded(resolver: GuardedResolver, url: str) -> Any:
    """What the handler of a crawl with this resolver says."""
    handler = GuardedHandler.__new__(GuardedHandler)
    handler._resolver = resolver
    return awaited(handler.download_request(a_request(url)))


def test_a_refused_host_is_told_from_an_unknown_one(
    resolver: GuardedResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scrapy has one error for both: a name without addresses."""

    def no_address(*_: Any) -> None:
        raise CannotResolveHostError("no")

    monkeypatch.setattr(PartialHandler, "download_request", no_address)
    resolver.judge("inner.example", ["192.168.0.1"])
    resolver.judge("gone.example", [])
    with pytest.raises(EgressRefusedError, match=r"inner\.example is not to be connected to") as refused:
        downloaded(resolver, "http://inner.example/")
    assert "EGRESS_ALLOW" in str(refused.value.hint)
    for host in ("gone.example", "never-asked.example"):
        with pytest.raises(CannotResolveHostError):
            downloaded(resolver, f"http://{host}/")


# ── an answer's headers: read to a bound, and refused beyond it before they are kept ──


def parser() -> Any:
    """A parser in the midst of an answer's headers."""
    request = SimpleNamespace(method=b"GET", absoluteURI=None, persistent=False)
    made = _BoundedParser(request, lambda _rest: None)  # type: ignore[no-untyped-call]
    made.makeConnection(SimpleNamespace(loseConnection=lambda: None, abortConnection=lambda: None))  # type: ignore[no-untyped-call]
    made.lineReceived(b"HTTP/1.1 200 OK")
    return made


def test_as_many_as_are_allowed() -> None:
    """The status line counts as one."""
    reading = parser()
    for number in range(MAX_HEADER_LINES - 1):
        reading.lineReceived(b"X-%d: y" % number)
    with pytest.raises(HeadersTooLargeError, match="more than 500 header lines"):
        reading.lineReceived(b"X: y")


@pytest.mark.parametrize("line", [b"X: " + b"y" * 8000, b" " + b"y" * 8000, b"y" * 8000])
def test_as_much_as_is_allowed(line: bytes) -> None:
    """Folded lines count, and those without a colon."""
    reading = parser()
    reading.lineReceived(b"X-First: y")
    for _ in range(MAX_HEADER_BYTES // 8003):
        reading.lineReceived(line)
    with pytest.raises(HeadersTooLargeError, match="262144 bytes"):
        reading.lineReceived(b"y" * 9000)


def test_a_line_without_end() -> None:
    """Twisted gives up on it; we say why."""
    with pytest.raises(HeadersTooLargeError, match="a header line of more than"):
        parser().lineLengthExceeded(b"X" * 20_000)


# ── answers that do not come to their ends keep what came of them ──
