"""Whether bytes are what their records' digests say. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from types import TracebackType

    Work = Callable[[memoryview, int | None], None]

_MAKERS = {
    "md5": hashlib.md5, "sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha384": hashlib.sha384,
    "sha512": hashlib.sha512,
}  # fmt: skip
# Only a record of more is digested beside its reading: all others are in the processor's cache when they were
# unpacked, and are digested there before they could be handed over.
_LARGE_BYTES = 4 * 1024 * 1024
_MOST_WAITING = 4  # pieces that are read, and not digested yet


class Beside:
    """A thread that does one thing after the other; what waits for it is bounded."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)

    def submit(self, work: Work, data: memoryview, body_at: int | None) -> None:
        """Have something done with some bytes, once there is room for them."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="digests")
        self._wait(_MOST_WAITING)
        self._waiting.append(self._thread.submit(work, data, body_at))

    def finish(self) -> None:
        """Wait until all is done."""
        self._wait(0)

    def _wait(self, most: int) -> None:
        while len(self._waiting) > most:
            self._waiting.popleft().result()


class Checks:
    """The digests of one record, made again from what is read of it."""

    __slots__ = ("_beside", "_block", "_is_large", "_payload")

    def __init__(self, beside: Beside, length: int, block: str | None, payload: str | None) -> None:
        self._beside = beside
        self._is_large = length > _LARGE_BYTES
        self._block = _Digest.of(block)
        self._payload = _Digest.of(payload)

    def update(self, data: memoryview, body_at: int | None) -> None:
        """Take the next bytes of the block; from `body_at` on they are of the payload as well."""
        if self._is_large:
            self._beside.submit(self._update, data, body_at)
        else:
            self._update(data, body_at)

    def without_payload(self) -> None:
        """Nobody can tell where it begins."""
        self._payload = None

    def verdict(self) -> tuple[bool | None, bool | None]:
        """On the block, and on the payload; None where no digest is given, or none that can be made."""
        if self._is_large:
            self._beside.finish()
        return _verdict(self._block), _verdict(self._payload)

    def _update(self, data: memoryview, body_at: int | None) -> None:
        if self._block is not None:
            self._block.machine.update(data)
        if self._payload is not None and body_at is not None:
            self._payload.machine.update(data[body_at:])


class _Digest:
    """A digest in the making, and what a field says that it is to be."""

    __slots__ = ("_wanted", "machine")

    def __init__(self, machine: hashlib._Hash, wanted: str) -> None:
        self.machine = machine
        self._wanted = wanted

    @classmethod
    def of(cls, field: str | None) -> Self | None:
        if field is None:
            return None
        algorithm, _, value = field.partition(":")
        make = _MAKERS.get(algorithm) or _MAKERS.get(algorithm.strip().lower().replace("-", ""))
        return cls(make(usedforsecurity=False), value.strip()) if make else None

    def is_right(self) -> bool:
        made = self.machine.hexdigest()
        return made == self._wanted or bytes.fromhex(made) == _binary(self._wanted, len(made) // 2)


def _verdict(digest: _Digest | None) -> bool | None:
    return None if digest is None else digest.is_right()


def _binary(value: str, size: int) -> bytes:
    """A digest's bytes, in whichever of the usual ways they are written; empty where in none."""
    bare = value.rstrip("=").replace("-", "+").replace("_", "/")  # base 64 for URLs is read as the other
    with suppress(ValueError):
        if len(bare) == -(-size * 8 // 5):
            return base64.b32decode(bare.upper() + "=" * (-len(bare) % 8))
        if len(bare) == 2 * size:
            return bytes.fromhex(bare)
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    return b""
