"""What a record is overwritten with in place: one of exactly its length that says nothing. Pure."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from crawler.errors import UsageError
from crawler.warc.messages import PIECE_BYTES
from crawler.warc.records import VERSION, as_date, new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # as every gzip member begins
_TRAILER_BYTES = 8  # checksum and size
_BLOCK_BYTES = 65_535  # the most that a deflate block may store unpacked
_BLOCK_HEAD_BYTES = 5
_LENGTH_DIGITS = 12  # always so many, so that the length does not depend on itself
_MARK = b"erased\r\n"
_TOO_SHORT = "the record is too short to be overwritten by another"


class TooShortError(UsageError):
    """The record is too short to be overwritten by another."""

    code = "too_short"


def erasure(length: int, at: datetime, *, is_packed: bool = True) -> Iterator[bytes]:
    """What takes the place of a record of this length, piece by piece."""
    if not is_packed:
        yield from _record(length, at)
        return
    inside = length - len(_HEADER) - _TRAILER_BYTES
    blocks = -(-inside // (_BLOCK_BYTES + _BLOCK_HEAD_BYTES))
    size = inside - blocks * _BLOCK_HEAD_BYTES
    if size < 0 or not blocks:
        raise TooShortError(_TOO_SHORT)
    yield _HEADER
    checksum, data = 0, b""
    pieces = _record(size, at)
    for number in range(blocks):
        while len(data) < _BLOCK_BYTES and (piece := next(pieces, b"")):
            data += piece
        block, data = data[:_BLOCK_BYTES], data[_BLOCK_BYTES:]
        checksum = zlib.crc32(block, checksum)
        yield _stored(block, is_last=number == blocks - 1)
    yield checksum.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")


def _stored(data: bytes, *, is_last: bool) -> bytes:
    size = len(data)
    return bytes([is_last]) + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + data


def _record(length: int, at: datetime) -> Iterator[bytes]:
    lines = (
        VERSION.decode(),
        "WARC-Type: metadata",
        f"WARC-Record-ID: {new_id()}",
        f"WARC-Date: {as_date(at)}",
        "Content-Type: text/plain",
    )
    end = b"\r\n\r\n"
    head = "".join(f"{line}\r\n" for line in lines).encode()
    left = length - len(head) - len(b"Content-Length: \r\n\r\n") - _LENGTH_DIGITS - len(end)
    if left < len(_MARK):
        raise TooShortError(_TOO_SHORT)
    yield head + f"Content-Length: {left:0{_LENGTH_DIGITS}}\r\n\r\n".encode() + _MARK
    left -= len(_MARK)
    while left:
        yield b" " * min(left, PIECE_BYTES)
        left -= min(left, PIECE_BYTES)
    yield end
