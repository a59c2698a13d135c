"""Every shop has a domain of its own, on loopback, by whatever way works."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawler.demo import SHOPS, serve
from crawler.demo.addresses import Addressing, hosts_of, names_resolve, open_doors
from crawler.errors import NotFoundError, UsageError
from crawler.urls import domain_of
from tests.unit.demo.asking import ask, read

if TYPE_CHECKING:
    from crawler.demo import DemoServer


def loopback_works() -> bool:
    """Whether this machine has all of 127.0.0.0/8."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.1.1", 0))
        except OSError:
            return False
    return True


@pytest.mark.parametrize("addressing", ["addresses", "ports", "auto"])
def test_every_shop_is_reached_and_has_its_own_domain(addressing: str) -> None:
    """No two shops share what a polite visitor locks."""
    if addressing == "addresses" and not loopback_works():
        pytest.skip("this machine has one loopback address")
    with serve(bulk=2, addressing=addressing) as demo:
        assert len({domain_of(url) for url in demo.urls.values()}) == len(SHOPS) + 2
        for name in ("plain", "japanese", "shop-0002"):
            assert read(demo.url(name))
            assert demo.domain(name) == domain_of(demo.url(name))


def test_a_name_in_the_host_header_decides(demo: DemoServer) -> None:
    """Whatever the suffix, so that a test with a resolver of its own can choose one."""
    for host in ("german.localhost", "www.german.localhost:81", "GERMAN.example", "m.german.test."):
        assert "Kontor Lindgrün" in ask(demo.front, Host=host).text
    assert ask(demo.front, Host="nobody.localhost").status == 404


def test_names_can_be_had_where_they_do_not_resolve() -> None:
    """For a client that resolves them itself."""
    with serve(addressing="names") as demo:
        assert demo.url("plain", "/about") == f"http://plain.localhost:{demo.port}/about"
        assert demo.url("www.plain") == f"http://www.plain.localhost:{demo.port}/"
        assert demo.domain("www.plain") == demo.domain("plain") == f"plain.localhost:{demo.port}"


def test_nothing_but_loopback_listens() -> None:
    """No socket can be reached from another machine."""
    doors = open_doors(hosts_of([*SHOPS, "shop-0001"]), 0, Addressing.AUTO)
    try:
        for listener in doors.sockets:
            assert ipaddress.ip_address(listener.getsockname()[0]).is_loopback
    finally:
        for listener in doors.sockets:
            listener.close()


def test_auto_hands_out_what_resolves(demo: DemoServer) -> None:
    """A URL that the demo gives out works on this machine."""
    parts = urlsplit(demo.url("plain"))
    assert socket.getaddrinfo(parts.hostname, parts.port)
    assert (demo.addressing is Addressing.NAMES) == names_resolve()


def test_the_port_can_be_chosen_once(demo: DemoServer) -> None:
    """A port in use is one clear error."""
    with pytest.raises(UsageError, match=f"port {demo.port}"), serve(port=demo.port):
        pass


def test_an_unknown_shop_has_no_url(demo: DemoServer) -> None:
    """A misspelt shop is an error and not a page that is not found."""
    with pytest.raises(NotFoundError, match="nobody"):
        demo.url("nobody")


@pytest.mark.parametrize("bulk", [-1, 10_000])
def test_the_number_of_bulk_shops_is_bounded(bulk: int) -> None:
    """A number outside the range is refused before anything listens."""
    with pytest.raises(UsageError, match="bulk"), serve(bulk=bulk):
        pass
