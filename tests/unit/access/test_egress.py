"""Which addresses may be connected to."""

from __future__ import annotations

import pytest

from crawler.access.egress import EgressPolicy, given_away

NOTHING_ALLOWED = EgressPolicy.of(())

REFUSED = {
    "loopback": "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1",
    "unspecified": "0.0.0.0 0.1.2.3 ::",
    "private": "10.0.0.1 172.16.0.1 172.31.255.255 ::ffff:192.168.1.1 fc00::1 fd12::1 fec0::1",
    "link-local": "169.254.169.254 ::ffff:169.254.169.254 fe80::1 fe80::1%eth0",
    "shared (CGNAT)": "100.64.0.1 100.127.255.255",
    "multicast": "224.0.0.1 239.255.255.250 ff02::1",
    "NAT64": "64:ff9b::7f00:1 64:ff9b::5db8:d822 64:ff9b:1::a00:1",
    "6to4": "2002:7f00:1:: 192.88.99.1",
    "Teredo": "2001:0:53aa:64c:0:fbff:80ff:fffe",
    "reserved": "192.0.0.9 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 240.0.0.1 255.255.255.255 "
    "::127.0.0.1 100::1 2001:2::1 2001:db8::1 3fff::1 4000::1 5f00::1",
}
PUBLIC = (
    "93.184.215.14 1.1.1.1 100.63.255.255 100.128.0.1 172.32.0.1 ::ffff:1.1.1.1 2606:4700::1111 2a00:1450::e"
)


@pytest.mark.parametrize("reason", REFUSED)
def test_private_address_is_refused(reason: str) -> None:
    """Nothing that is not public is connected to, and the reason is told."""
    for address in REFUSED[reason].split():
        refusal = NOTHING_ALLOWED.refusal("shop.example", [address])
        assert refusal is not None, address
        assert refusal.endswith(f" is {reason}"), address


def test_public_address_is_fine() -> None:
    """A shop on the open net is what this is for; a name without an answer is not refused here."""
    for address in PUBLIC.split():
        assert NOTHING_ALLOWED.refusal("shop.example", [address]) is None
    assert NOTHING_ALLOWED.refusal("shop.example", []) is None


def test_one_bad_answer_spoils_the_name() -> None:
    """A name with a public and a private address is refused, in whatever order they come."""
    assert NOTHING_ALLOWED.refusal("shop.example", ["1.1.1.1", "10.0.0.1"]) == "10.0.0.1 is private"
    assert NOTHING_ALLOWED.refusal("shop.example", ["10.0.0.1", "1.1.1.1"]) == "10.0.0.1 is private"


def test_answer_that_is_no_address_is_refused() -> None:
    """What cannot be judged is not connected to."""
    assert NOTHING_ALLOWED.refusal("shop.example", ["/run/socket"]) == "/run/socket is no address"


@pytest.mark.parametrize(
    ("allowed", "host", "address"),
    [
        ("localhost", "localhost", "127.0.0.1"),
        ("LocalHost.", "LOCALHOST", "::1"),
        ("shop.internal", "shop.internal.", "10.1.2.3"),
        ("*.localhost", "north.localhost", "127.0.0.1"),
        ("*.localhost", "a.b.localhost", "127.0.0.1"),
        ("bücher.intern", "xn--bcher-kva.intern", "10.1.2.3"),
        ("xn--bcher-kva.intern", "bücher.intern", "10.1.2.3"),
        ("10.0.0.0/8", "shop.example", "10.1.2.3"),
        ("10.1.2.3/8", "shop.example", "10.9.9.9"),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "2130706433", "127.0.0.1"),
        ("127.0.0.1", "::ffff:127.0.0.1", "::ffff:127.0.0.1"),
        ("::1", "::1", "::1"),
        ("[::1]", "::1", "::1"),
        ("fd00::/8", "shop.example", "fd12::1"),
    ],
)
def test_allowed_although_private(allowed: str, host: str, address: str) -> None:
    """An operator names hosts, hosts below a name, addresses and networks (EGRESS_ALLOW)."""
    assert EgressPolicy.of([allowed]).refusal(host, [address]) is None


@pytest.mark.parametrize(
    ("allowed", "host", "address"),
    [
        ("localhost", "notlocalhost", "127.0.0.1"),
        ("localhost", "a.localhost", "127.0.0.1"),
        ("*.localhost", "localhost", "127.0.0.1"),
        ("*.localhost", "localhost.example", "127.0.0.1"),
        ("*.localhost", "evillocalhost", "127.0.0.1"),
        ("10.0.0.0/8", "shop.example", "192.168.1.1"),
        ("127.0.0.1", "shop.example", "127.0.0.2"),
        ("::1", "shop.example", "127.0.0.1"),
    ],
)
def test_allowing_reaches_no_further(allowed: str, host: str, address: str) -> None:
    """What was not named stays refused."""
    assert EgressPolicy.of([allowed]).refusal(host, [address]) is not None


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost.", "LocalHost", "a.localhost.", "localhost..", "127.0.0.1.", "127.1.", "[::1]"],
)  # fmt: skip
def test_what_a_spelling_gives_away(host: str) -> None:
    """Where a proxy looks names up, this is all that is known of them; a dot at the end hides nothing."""
    assert NOTHING_ALLOWED.refusal(host, given_away(host)) is not None


@pytest.mark.parametrize("host", ["shop.example", "shop.example.", "1e100.net", "localhost.example"])
def test_a_name_gives_nothing_away(host: str) -> None:
    """It is the proxy's to resolve."""
    assert given_away(host) == []
