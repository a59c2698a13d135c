"""What a proxy says of the client, where the proxy is one of ours; from anybody else it is hot air."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import Scope


class Proxies:
    """The proxies that are trusted."""

    def __init__(self, networks: Collection[str]) -> None:
        self._networks = [ipaddress.ip_network(each, strict=False) for each in networks]

    def seen_through(self, scope: Scope) -> Scope:
        """The request as the first proxy of ours saw it."""
        client = scope.get("client")
        if not self._networks or client is None or not self.trusts(client[0]):
            return scope
        headers = Headers(scope=scope)
        changed = {**scope, "client": (self._origin(headers.getlist("x-forwarded-for"), client[0]), 0)}
        scheme = headers.get("x-forwarded-proto", "").strip().lower()
        return {**changed, "scheme": scheme} if scheme in {"http", "https"} else changed

    def _origin(self, told: list[str], client: str) -> str:
        """The last address that is none of ours; what stands before it, the client may have made up."""
        for address in reversed([part.strip() for line in told for part in line.split(",")]):
            if not _is_address(address):
                break
            client = address
            if not self.trusts(address):
                break
        return client

    def trusts(self, address: str) -> bool:
        """Return whether an address is that of a proxy of ours."""
        if not _is_address(address):
            return False
        parsed = ipaddress.ip_address(address)
        return any(parsed in network for network in self._networks)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
