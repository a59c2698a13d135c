"""A photograph with nothing on it is told from one with something."""

from __future__ import annotations

import struct
import zlib

import pytest

from crawler.rendering.pictures import SIGNATURE, is_blank, size_of

WHITE, BLACK = b"\xff\xff\xff", b"\x00\x00\x00"


def chunk(kind: bytes, data: bytes) -> bytes:
    """A part of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(rows: list[bytes], width: int, colour: int = 2, pieces: int = 1) -> bytes:
    """A picture of rows that are told already."""
    packed = zlib.compress(b"".join(rows))
    size = -(-len(packed) // pieces)
    data = [packed[at : at + size] for at in range(0, len(packed), size)]
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, colour, 0, 0, 0))
    return SIGNATURE + head + b"".join(chunk(b"IDAT", each) for each in data) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("rows", "blank"),
    [
        pytest.param([b"\x00" + WHITE * 4] * 3, True, id="as it is"),
        pytest.param([b"\x01" + WHITE + bytes(9)] * 3, True, id="by the pixel before"),
        pytest.param([b"\x01" + WHITE + bytes(9), *[b"\x02" + bytes(12)] * 2], True, id="by the row above"),
        pytest.param([b"\x04" + WHITE + bytes(9), *[b"\x04" + bytes(12)] * 2], True, id="by the neighbours"),
        pytest.param([b"\x00" + BLACK * 4] * 3, True, id="black"),
        pytest.param([b"\x00" + WHITE * 4, b"\x00" + WHITE * 3 + BLACK], False, id="a dot"),
        pytest.param([b"\x00" + WHITE * 4, b"\x00" + BLACK * 4], False, id="two rows"),
        pytest.param([b"\x01" + WHITE + bytes(8) + b"\x01"], False, id="a step"),
        pytest.param([b"\x00" + WHITE * 4, b"\x02" + bytes(11) + b"\x01"], False, id="a step down"),
        pytest.param([b"\x00" + WHITE * 4, b"\x01" + BLACK + bytes(9)], False, id="a stripe"),
        pytest.param([b"\x00" + WHITE * 4, b"\x04" + WHITE + bytes(9)], False, id="twice the colour"),
    ],
)
def test_a_picture_of_one_colour_is_blank(rows: list[bytes], blank: bool) -> None:  # ruff: ignore[boolean-type-hint-positional-argument] - parametrized
    """However its rows are told, and into however many pieces they were cut."""
    assert is_blank(png(rows, 4)) is blank
    assert is_blank(png(rows, 4, pieces=3)) is blank
    assert size_of(png(rows, 4)) == (4, len(rows))


def test_what_is_no_picture_shows_nothing() -> None:
    """And a kind of picture that no browser writes is taken for one with something on it."""
    assert is_blank(b"")
    assert not is_blank(png([b"\x00\x00"], 1, colour=3))
