"""Where each shop is reached: a name under .localhost, a loopback address, or a port of its own.

A crawler locks by domain, so every shop needs a host that no other shop has. Names read best but resolve on
some machines only; addresses out of 127.0.0.0/8 work on every Linux; ports work everywhere. Nothing but
loopback is ever listened to.
"""

from __future__ import annotations

import errno
import socket
import threading
from contextlib import suppress
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from attrs import field, frozen

from crawler.demo.shops import SHOPS
from crawler.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LOOPBACK = "127.0.0.1"
SUFFIX = "localhost"
FRONT = ""  # the host that belongs to no shop, where all shops are listed
SIDE_HOSTS = ("www", "m")  # further hosts of a shop, for redirects inside a site
BACKLOG = 1024
_PROBE_SECONDS = 1.0
_PORT_TRIES = 20
_PER_BLOCK = 250

Place = tuple[str, int]


class Addressing(Enum):
    """How shops are told apart."""

    AUTO = "auto"
    NAMES = "names"
    ADDRESSES = "addresses"
    PORTS = "ports"


@frozen
class Doors:
    """The sockets that listen, and which host of which shop is behind each."""

    addressing: Addressing
    front: Place
    sockets: tuple[socket.socket, ...] = field(repr=False)
    places: Mapping[str, Place]  # host without suffix → where it is reached
    hosts: Mapping[Place, str]  # and back; empty where names tell the shops apart

    def authority(self, host: str) -> str:
        """Host and port by which a client on this machine reaches `host` (`plain`, `www.plain`)."""
        if host not in self.places:
            raise NotFoundError(f"the demo has no host {host!r}")
        address, port = self.places[host]
        if self.addressing is Addressing.NAMES and host != FRONT:
            return f"{host}.{SUFFIX}:{port}"
        return f"{address}:{port}"

    def url(self, host: str, path: str = "/") -> str:
        """The URL of `path` on `host`."""
        return f"http://{self.authority(host)}/{path.removeprefix('/')}"

    def host_behind(self, host_header: str, place: Place) -> str:
        """Which host a request means: by its Host header, or by the socket it came in on."""
        name = host_header.partition(":")[0].rstrip(".")
        labels = name.split(".")
        if len(labels) > 1 and not labels[-1].isdigit():
            return ".".join(labels[:-1])
        return self.hosts.get(place, FRONT)


def hosts_of(shops: Iterable[str]) -> tuple[str, ...]:
    """Every host that the demo answers as: bulk shops have one, named shops have side hosts too."""
    names = tuple(shops)
    sides = tuple(f"{side}.{name}" for side in SIDE_HOSTS for name in names if name in SHOPS)
    return names + sides


def open_doors(hosts: Sequence[str], port: int, addressing: Addressing) -> Doors:
    """Listen for `hosts`; port 0 takes one that is free."""
    chosen = _choose() if addressing is Addressing.AUTO else addressing
    for _ in range(_PORT_TRIES):
        try:
            return _open(hosts, port, chosen)
        except OSError as error:
            if port or error.errno != errno.EADDRINUSE:
                raise UsageError(f"cannot listen on loopback port {port}: {error.strerror}") from error
    raise UsageError("found no port that is free on every loopback address", hint="name one with --port")


def _open(hosts: Sequence[str], port: int, addressing: Addressing) -> Doors:
    opened: list[socket.socket] = []
    try:
        front = _listen((LOOPBACK, port), opened)
        places = {host: _listen(_wanted(host, front, addressing), opened) for host in hosts}
    except OSError:
        for listener in opened:
            listener.close()
        raise
    told_apart = {} if addressing is Addressing.NAMES else {place: host for host, place in places.items()}
    return Doors(addressing, front, tuple(opened), {FRONT: front, **places}, told_apart)


def _wanted(host: str, front: Place, addressing: Addressing) -> Place:
    if addressing is Addressing.ADDRESSES:
        return address_of(host), front[1]
    return front if addressing is Addressing.NAMES else (LOOPBACK, 0)


def _listen(place: Place, opened: list[socket.socket]) -> Place:
    """Listen at `place`, unless that is done already, and say where it is."""
    if any(listener.getsockname() == place for listener in opened[:1]):
        return place
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.append(listener)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(place)
    listener.listen(BACKLOG)
    address, port = listener.getsockname()
    return address, port


@cache
def address_of(host: str) -> str:
    """The loopback address that always belongs to `host`, whatever other hosts there are."""
    side, _, name = host.rpartition(".")
    if name in SHOPS:
        index = list(SHOPS).index(name)
        block = (SIDE_HOSTS.index(side) + 2) if side else 1
        return f"127.0.{block}.{index + 1}"
    number = int(name.removeprefix("shop-"))
    return f"127.1.{number // _PER_BLOCK}.{number % _PER_BLOCK + 1}"


@cache
def _choose() -> Addressing:
    """The best addressing that works on this machine."""
    if names_resolve():
        return Addressing.NAMES
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address_of(next(iter(SHOPS))), 0))
        except OSError:
            return Addressing.PORTS
    return Addressing.ADDRESSES


def names_resolve() -> bool:
    """Whether names under .localhost lead to loopback here.

    Asked in a thread of its own: without a network the answer can take as long as a name server's time-out.
    """
    found: list[object] = []

    def ask() -> None:
        with suppress(OSError):
            answers = socket.getaddrinfo(f"plain.{SUFFIX}", None, type=socket.SOCK_STREAM)
            found.extend(answer[4][0] for answer in answers)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_PROBE_SECONDS)
    return LOOPBACK in found
