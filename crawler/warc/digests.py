"""Compares records with their digests. Pure."""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from typing import Self

_MAKERS = {
    "md5": hashlib.md5, "sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha384": hashlib.sha384,
    "sha512": hashlib.sha512,
}  # fmt: skip


class Checks:
    """The digests of one record, made again from what is read of it."""

    __slots__ = ("_block", "_payload")

    def __init__(self, block: str | None, payload: str | None) -> None:
        self._block = _Digest.of(block)
        self._payload = _Digest.of(payload)

    def update(self, data: memoryview, body_at: int | None) -> None:
        """Add the next bytes of the block; from `body_at` on they are of the payload as well."""
        if self._block is not None:
            self._block.machine.update(data)
        if self._payload is not None and body_at is not None:
            self._payload.machine.update(data[body_at:])

    def without_payload(self) -> None:
        """Leave the payload unjudged: its beginning was not found."""
        self._payload = None

    def verdict(self) -> tuple[bool | None, bool | None]:
        """Whether block and payload are right; None where no digest is given, or none that can be made."""
        return _verdict(self._block), _verdict(self._payload)


class _Digest:
    """A digest that is being computed, and the value in the record's field."""

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
    """Return the bytes of a digest in hexadecimal, base 32 or base 64; empty if it is none of them."""
    bare = value.rstrip("=").replace("-", "+").replace("_", "/")  # base 64 for URLs is read as the other
    with suppress(ValueError):
        if len(bare) == -(-size * 8 // 5):
            return base64.b32decode(bare.upper() + "=" * (-len(bare) % 8))
        if len(bare) == 2 * size:
            return bytes.fromhex(bare)
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    return b""
