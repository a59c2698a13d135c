"""What a photograph of a page shows: whether there is anything on it at all. Pure."""

from __future__ import annotations

import zlib
from struct import Struct

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHUNK = Struct(">I4s")
_HEADER = Struct(">IIBBBBB")
_PIECE = 1 << 20
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by PNG's colour types
_NONE, _SUB, _UP, _PAETH = 0, 1, 2, 4  # ways in which a row of a PNG is told by its neighbours


def size_of(png: bytes) -> tuple[int, int]:
    """Width and height in pixels."""
    width, height, *_ = _HEADER.unpack_from(png, len(SIGNATURE) + _CHUNK.size)
    return width, height


def is_blank(png: bytes) -> bool:
    """Whether every pixel has the same colour; the first row that has two ends the look."""
    if not png.startswith(SIGNATURE):
        return True
    width, _, depth, colour, *_ = _HEADER.unpack_from(png, len(SIGNATURE) + _CHUNK.size)
    if depth != 8 or colour not in _CHANNELS:  # ruff: ignore[magic-value-comparison] - bits; no browser writes others
        return False
    pixel, row = _CHANNELS[colour], 1 + width * _CHANNELS[colour]
    machine, buffer, first = zlib.decompressobj(), bytearray(), b""
    for data in _packed(png):
        left = data
        while left:
            buffer += machine.decompress(left, _PIECE)
            left = machine.unconsumed_tail
            whole = len(buffer) // row * row
            for at in range(0, whole, row):
                line = bytes(buffer[at : at + row])
                is_first = not first
                first = first or line[1 : 1 + pixel]
                if not _is_plain(line, first, is_first=is_first):
                    return False
            del buffer[:whole]
    return True


def _packed(png: bytes) -> list[bytes]:
    """The pieces of its pixels."""
    pieces, at = [], len(SIGNATURE)
    while at + _CHUNK.size <= len(png):
        length, kind = _CHUNK.unpack_from(png, at)
        at += _CHUNK.size
        if kind == b"IDAT":
            pieces.append(png[at : at + length])
        at += length + 4
    return pieces


def _is_plain(line: bytes, colour: bytes, *, is_first: bool) -> bool:
    """Whether a row is of that colour from end to end, as rows of one colour are told."""
    kind, told, pixel = line[0], line[1:], len(colour)
    if kind == _NONE:
        return told == colour * (len(told) // pixel)
    begins = colour if is_first or kind == _SUB else bytes(pixel)
    if kind == _UP and is_first:
        return told == colour * (len(told) // pixel)
    return kind in {_SUB, _UP, _PAETH} and told[:pixel] == begins and not any(told[pixel:])
