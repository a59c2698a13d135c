"""Which addresses may be connected to: the public ones, and what an operator allows by name or network."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Self

from attrs import frozen

from crawler.errors import BadUrlError, CrawlerError
from crawler.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    Address = IPv4Address | IPv6Address
    Network = IPv4Network | IPv6Network

# The first that fits names the reason. The list does not lean on Python's idea of "global" alone, which
# calls NAT64, 6to4 and multicast global, and which differs between releases.
_REFUSED = tuple(
    (ip_network(network), reason)
    for reason, networks in {
        "loopback": ("127.0.0.0/8", "::1/128"),
        "unspecified": ("0.0.0.0/8", "::/128"),
        "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
        "link-local": ("169.254.0.0/16", "fe80::/10"),
        "shared (CGNAT)": ("100.64.0.0/10",),
        "multicast": ("224.0.0.0/4", "ff00::/8"),
        "NAT64": ("64:ff9b::/96", "64:ff9b:1::/48"),
        "6to4": ("2002::/16", "192.88.99.0/24"),
        "Teredo": ("2001::/32",),
        "reserved": (
            "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
            "240.0.0.0/4", "::/8", "100::/8", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16",
        ),
    }.items()
    for network in networks
)  # fmt: skip
_LOOPBACK = "127.0.0.1"
# All public IPv6 addresses that were ever given out lie here.
_PUBLIC_IPV6 = IPv6Network("2000::/3")


class EgressRefusedError(CrawlerError):
    """That address is not to be connected to."""

    code = "egress_refused"


@frozen
class EgressPolicy:
    """What may be connected to although it is not public."""

    hosts: frozenset[str]
    suffixes: tuple[str, ...]  # of `*.name`: any host below name
    networks: tuple[Network, ...]

    @classmethod
    def of(cls, allowed: Iterable[str]) -> Self:
        """Read `EGRESS_ALLOW`: host names, `*.names`, addresses and networks."""
        networks = {text: network for text in allowed if (network := _network(text)) is not None}
        names = [text for text in allowed if text not in networks]
        return cls(
            hosts=frozenset(host_name(name) for name in names if not name.startswith("*.")),
            suffixes=tuple(f".{host_name(name[2:])}" for name in names if name.startswith("*.")),
            networks=tuple(networks.values()),
        )

    def refusal(self, host: str, addresses: Iterable[str]) -> str | None:
        """Why `host` must not be connected to; None when it may.

        One bad answer spoils the name: who mixes public and private addresses wants to be tried twice.
        """
        name = host_name(host)
        if name in self.hosts or name.endswith(self.suffixes):
            return None
        reasons = (self._why_not(address) for address in addresses)
        return next((reason for reason in reasons if reason), None)

    def _why_not(self, text: str) -> str | None:
        try:
            address = _unwrapped(ip_address(text.partition("%")[0]))
        except ValueError:
            return f"{text} is no address"
        if any(address in network for network in self.networks):
            return None
        reason = _reason(address)
        return f"{address} is {reason}" if reason else None


def host_name(text: str) -> str:
    """One spelling for a host, as names are compared here: ASCII in lower case, no brackets."""
    bare = text.strip().strip("[]")
    try:
        return host_of(f"//[{bare}]" if ":" in bare else f"//{bare}")
    except BadUrlError:
        return bare.lower()


def given_away(host: str) -> Iterable[str]:
    """The addresses that a host's spelling gives away, where somebody else resolves it."""
    host = host_name(host).rstrip(".")  # the root's dot changes nothing for who resolves it
    if host == "localhost" or host.endswith(".localhost"):
        return [_LOOPBACK]
    try:
        return [str(ip_address(host))]
    except ValueError:
        # 127.1, 0x7f.1 and 2130706433 are addresses to some resolvers, and names to nobody.
        return [_LOOPBACK] if host.rpartition(".")[2][:1].isdigit() else []


def _reason(address: Address) -> str | None:
    for network, reason in _REFUSED:
        if address in network:
            return reason
    if isinstance(address, IPv6Address) and address not in _PUBLIC_IPV6:
        return "reserved"
    return None if address.is_global else "not public"


def _unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 socket would reach behind `::ffff:…`."""
    return getattr(address, "ipv4_mapped", None) or address


def _network(text: str) -> Network | None:
    try:
        return ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None
