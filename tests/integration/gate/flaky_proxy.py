"""A TCP proxy before Redis that spoils scripts on their way, as networks do."""

from __future__ import annotations

import select
import socket
import struct
import threading
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Generator

CHUNK = 65_536
# Closing with this set sends a reset instead of an orderly end.
RESET = struct.pack("ii", 1, 0)


class Fault(Enum):
    """What happens to one script call."""

    REQUEST_LOST = "the connection is reset before Redis hears of it"
    ANSWER_LOST = "Redis did it, and the connection is reset before the answer"
    ANSWER_CUT = "Redis did it, and the connection ends within the answer"
    SILENCE = "nothing comes back, and the connection stays open"


class FlakyProxy:
    """Passes bytes on; each fault in `faults` spoils one script call, in order."""

    def __init__(self, redis_url: str) -> None:
        self.faults: list[Fault] = []
        self.down = False  # refuse connections, and end the open ones
        parts = urlsplit(redis_url)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 6379)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self._closed = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}{parts.path}"

    def close(self) -> None:
        """End all connections and threads."""
        self._closed.set()
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            if self.down:
                _reset(client)
                continue
            thread = threading.Thread(target=self._serve, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as server:
            while not self._closed.is_set() and not self.down:
                readable, _, _ = select.select([client, server], [], [], 0.05)
                for source in readable:
                    data = _received(source)
                    if not data or not self._pass_on(data, source, client, server):
                        return

    def _pass_on(
        self, data: bytes, source: socket.socket, client: socket.socket, server: socket.socket
    ) -> bool:
        """Whether the connection lives on."""
        if source is server:
            client.sendall(data)
            return True
        is_script = b"EVAL" in data
        fault = self.faults.pop(0) if is_script and self.faults else None
        return _deliver(data, fault, client, server)


def _deliver(data: bytes, fault: Fault | None, client: socket.socket, server: socket.socket) -> bool:
    match fault:
        case Fault.REQUEST_LOST:
            _reset(client)
            return False
        case Fault.ANSWER_LOST | Fault.ANSWER_CUT:
            server.sendall(data)
            answer = server.recv(CHUNK)
            if fault is Fault.ANSWER_CUT:
                client.sendall(answer[: len(answer) // 2])
            else:
                _reset(client)
            return False
        case Fault.SILENCE:
            return True
    server.sendall(data)
    return True


def _reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    client.close()


def _received(source: socket.socket) -> bytes:
    try:
        return source.recv(CHUNK)
    except ConnectionError:
        return b""


@contextmanager
def flaky_proxy(redis_url: str) -> Generator[FlakyProxy]:
    """A proxy for the length of the block."""
    proxy = FlakyProxy(redis_url)
    try:
        yield proxy
    finally:
        proxy.close()
