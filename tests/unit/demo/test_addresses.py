"""Every shop has a domain of its own, on loopback, by whatever way works."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

import pytest

from crawler.demo import SHOPS, serve
from crawler.demo.addresses import Addressing, hosts_of, open_doors
from crawler.errors import UsageError
from crawler.urls import domain_of
from tests.unit.demo.asking import ask, read

if TYPE_CHECKING:
    from crawler.demo import DemoServer


@pytest.mark.parametrize("addressing", ["ports", "auto"])
def test_every_shop_is_reached_and_has_its_own_domain(addressing: str) -> None:
    """No two shops share what a polite visitor locks."""
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


def test_nothing_but_loopback_listens() -> None:
    """No socket can be reached from another machine."""
    doors = open_doors(hosts_of([*SHOPS, "shop-0001"]), 0, Addressing.AUTO)
    try:
        for listener in doors.sockets:
            assert ipaddress.ip_address(listener.getsockname()[0]).is_loopback
    finally:
        for listener in doors.sockets:
            listener.close()


def test_the_port_can_be_chosen_once(demo: DemoServer) -> None:
    """A port in use is one clear error."""
    with pytest.raises(UsageError, match=f"port {demo.port}"), serve(port=demo.port):
        pass
