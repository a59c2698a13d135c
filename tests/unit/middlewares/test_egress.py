"""A connection to a refused address is never made, and is told as what it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.exceptions import CannotResolveHostError
from scrapy.resolver import CachingHostnameResolver

from crawler.access.egress import EgressPolicy, EgressRefusedError
from crawler.middlewares.egress import GuardedHandler, GuardedResolver
from crawler.middlewares.partial import PartialHandler
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
