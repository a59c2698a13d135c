"""Photos: pictures that anybody can read, the same each time."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.demo.photos import MOTIFS, png_photo, svg_photo
from tests.unit.demo.asking import ask

if TYPE_CHECKING:
    from crawler.demo import DemoServer


def test_photos_are_pictures(demo: DemoServer) -> None:
    """SVG from three sides, and PNG."""
    svg = ask(demo.url("german", "/photo/morgenkanne-2.svg"))
    png = ask(demo.url("german", "/photo/morgenkanne.png"))
    assert (svg.headers["Content-Type"], svg.body[:4]) == ("image/svg+xml", b"<svg")
    assert (png.headers["Content-Type"], png.body[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
    assert ask(demo.url("german", "/photo/morgenkanne-9.svg")).status == 404


@pytest.mark.parametrize("motif", sorted(MOTIFS))
def test_a_drawing_has_no_gap_left_in_it(motif: str) -> None:
    """Each colour is filled in; from another side it is another picture, and the same one each time."""
    sides = [svg_photo("a-slug", motif, view) for view in (1, 2, 3)]
    assert len(set(sides)) == 3
    assert sides[0] == svg_photo("a-slug", motif, 1) != svg_photo("another", motif, 1)
    assert b"{" not in sides[0]
    assert LexborHTMLParser(sides[0]).css_first("svg > g") is not None


@pytest.mark.parametrize("side", [1, 32, 64])
def test_a_png_holds_what_it_says(side: int) -> None:
    """A square of that many rows and columns, with every checksum right."""
    data = png_photo("a-slug", side)
    assert struct.unpack_from(">II", data, 16) == (side, side)
    at, pixels = 8, b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length) == (zlib.crc32(kind + body),)
        pixels += body if kind == b"IDAT" else b""
        at += 12 + length
    assert len(zlib.decompress(pixels)) == side * (1 + 3 * side)
