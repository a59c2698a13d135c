"""Whether bytes are what their records' digests say, told by a second thread while reading goes on. Pure."""

from __future__ import annotations

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    Work = Callable[[memoryview, int | None], None]

_MAKERS = {
    "md5": hashlib.md5, "sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha384": hashlib.sha384,
    "sha512": hashlib.sha512,
}  # fmt: skip
# A digest of less takes no longer than handing it to another thread.
_SMALL_BYTES = 16 * 1024
_MOST_WAITING = 4  # pieces that are read, and not digested yet


class Beside:
    """A thread that does one thing after the other; what waits for it is bounded.

    Digests and unpacking both let other threads run, so that two processors share a file's work. Queues are
    a tenth of the price of a future for each record.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Work, memoryview, int | None] | None] = SimpleQueue()
        self._done: SimpleQueue[Exception | None] = SimpleQueue()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="digests")
        self._begun = self._ended = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._jobs.put(None)
        self._thread.shutdown()

    def submit(self, work: Work, data: memoryview, body_at: int | None) -> int:
        """Have something done with some bytes, once there is room for them; its number."""
        if not self._begun:
            self._thread.submit(self._go)
        self.wait_for(self._begun - _MOST_WAITING)
        self._begun += 1
        self._jobs.put((work, data, body_at))
        return self._begun

    def has_room(self) -> bool:
        """Whether it is not behind: else who reads is quicker to do something himself."""
        while self._begun - self._ended >= _MOST_WAITING and not self._done.empty():
            self._take_end()
        return self._begun - self._ended < _MOST_WAITING

    def wait_for(self, number: int) -> None:
        """Wait until everything up to a number is done."""
        while self._ended < number:
            self._take_end()

    def _take_end(self) -> None:
        error = self._done.get()
        self._ended += 1
        if error is not None:
            raise error

    def _go(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, data, body_at = job
            try:
                work(data, body_at)
            except Exception as error:  # ruff: ignore[blind-except] - raised where it is waited for
                self._done.put(error)
            else:
                self._done.put(None)


class Checks:
    """The digests of one record, made again from what is read of it."""

    __slots__ = ("_beside", "_block", "_last", "_payload", "_verdict")

    def __init__(self, beside: Beside, block: str | None, payload: str | None) -> None:
        self._beside = beside
        self._block = _Digest.of(block)
        self._payload = _Digest.of(payload)
        self._last = 0
        self._verdict: tuple[bool | None, bool | None] | None = None

    def update(self, data: memoryview, body_at: int | None) -> None:
        """Take the next bytes of the block; from `body_at` on they are of the payload as well."""
        if self._block is None and self._payload is None:
            return
        if not self._last and (len(data) < _SMALL_BYTES or not self._beside.has_room()):
            self._update(data, body_at)
        else:
            self._last = self._beside.submit(self._update, data, body_at)

    def without_payload(self) -> None:
        """Nobody can tell where it begins."""
        self._payload = None

    def verdict(self) -> tuple[bool | None, bool | None]:
        """On the block, and on the payload; None where no digest is given, or none that can be made."""
        if self._verdict is None:
            self._beside.wait_for(self._last)
            block, payload = self._block, self._payload
            self._verdict = _verdict(block), _verdict(payload)
            self._block = self._payload = None
        return self._verdict

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
    with suppress(ValueError):
        if len(value) == 2 * size:
            return bytes.fromhex(value)
        bare = value.rstrip("=")
        if len(bare) == -(-size * 8 // 5):
            return base64.b32decode(bare.upper() + "=" * (-len(bare) % 8))
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    return b""
