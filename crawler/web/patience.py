"""Closes connections that would keep everybody out: requests that never end, and too many of one client."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from crawler.web.limits import client_of

if TYPE_CHECKING:
    from crawler.web.proxies import Proxies

HEAD_SECONDS = 15.0  # for the head of a request, from its first byte or the connection's beginning
MAX_OF_ONE = 250  # connections of one client
REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"
)


class Crowd:
    """The open connections of each client; a proxy of ours brings those of many, and is not counted."""

    def __init__(self, proxies: Proxies) -> None:
        self._proxies = proxies
        self._open: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Count a connection; False where its client has as many as it may."""
        client = client_of(address)
        if self._open[client] >= MAX_OF_ONE and not self._proxies.trusts(address):
            return False
        self._open[client] += 1
        return True

    def leave(self, address: str) -> None:
        """Count a connection no more."""
        client = client_of(address)
        self._open[client] -= 1
        if not self._open[client]:
            del self._open[client]


class PatientProtocol(H11Protocol):
    """Waits for the head of a request, and not for ever; between requests the server's own patience holds."""

    _deadline: asyncio.TimerHandle | None = None
    _address: str | None = None  # under which the connection is counted

    def __init__(self, *, crowd: Crowd, **given: Any) -> None:
        super().__init__(**given)
        self._crowd = crowd

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait, unless the client has too many connections."""
        super().connection_made(transport)
        address = self.client[0] if self.client else "?"
        if not self._crowd.enter(address):
            transport.write(REFUSAL)
            transport.close()
            return
        self._address = address
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on waiting where a head is still not whole."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody waits any more."""
        self._stop_waiting()
        if self._address is not None:
            self._crowd.leave(self._address)
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
