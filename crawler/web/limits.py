"""How often one client may ask; this machine itself is not counted."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW_SECONDS = 60
CLIENT_BITS = 64  # of an IPv6 address; a provider gives each of its customers at least such a network
MAX_CLIENTS = 10_000  # remembered; the one that asked longest ago is forgotten
# What part of the limit each kind of request has.
SHARES = {"": 1.0, "search": 1 / 2, "export": 1 / 12, "login": 1 / 12, "verify": 1 / 12}
KINDS = (
    ("/api/search", "search"),
    ("/search", "search"),
    ("/api/exports", "export"),
    ("/admin/login", "login"),
)
VERIFY = b"verify="  # of a snapshot: it reads a whole file
FREE = ("/static/", "/web/", "/favicon.ico", "/api/health", "/health")  # a page has many of these


class TooOftenError(CrawlerError):
    """Too many requests; wait a minute."""

    code = "too_often"
    http_status = 429


class Limits:
    """Counts the requests of each client, in windows of a minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._counts: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()

    def admit(self, address: str, path: str, query: bytes = b"") -> None:
        """Count a request, or refuse it."""
        client = client_of(address)
        if not self._per_minute or path.startswith(FREE) or is_here(client):
            return
        kind = next((kind for begin, kind in KINDS if path.startswith(begin)), "")
        if path.startswith("/snapshots/") and VERIFY in query:
            kind = "verify"
        window = int(self._clock() / WINDOW_SECONDS)
        before, count = self._counts.pop((client, kind), (window, 0))
        count = count + 1 if before == window else 1
        self._counts[client, kind] = (window, count)
        if len(self._counts) > MAX_CLIENTS:
            self._counts.popitem(last=False)
        if count > max(1, int(self._per_minute * SHARES[kind])):
            raise TooOftenError


def client_of(address: str) -> str:
    """Return the client that an address stands for; in an IPv6 network one client has all addresses."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped or parsed.is_loopback:
        return str(parsed.ipv4_mapped or parsed)
    network = ipaddress.ip_network((int(parsed), CLIENT_BITS), strict=False)
    return str(network)


def is_here(client: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(client).is_loopback
    except ValueError:
        return False
