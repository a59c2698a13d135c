"""Product photos, drawn in code: a shape for each kind of thing, colours from the product's slug."""

from __future__ import annotations

import struct
import tomllib
import zlib
from importlib import resources

_WALLS = ("#efe6d8", "#e3e9e4", "#e6e4ee", "#f1e3dc", "#e2e9ee", "#ece9dc")
_GLAZES = ("#1f4e46", "#7a2e4d", "#a3471d", "#2f4b6e", "#5b6b1e", "#6b4226", "#9c2a1f", "#4d4a7c", "#b58a2b")
_TURNS = (0, -7, 9)

_SHAPES: dict[str, str] = tomllib.loads(
    resources.files("crawler.demo").joinpath("data", "shapes.toml").read_text(encoding="utf-8")
)


def svg_photo(slug: str, motif: str, view: int) -> bytes:
    """The photo of a product from one of three sides."""
    seed = zlib.crc32(slug.encode())
    wall, glaze, second = _colours(seed)
    shape = _SHAPES[motif].format(c=glaze, d=second, w=wall)
    turn = _TURNS[view % len(_TURNS)]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 480" width="480" height="480">'
        f'<rect width="480" height="480" fill="{wall}"/>'
        f'<path d="M0 380h480v100H0z" fill="{glaze}" fill-opacity=".12"/>'
        f'<ellipse cx="240" cy="384" rx="{120 + seed % 30}" ry="12" fill="#000" fill-opacity=".12"/>'
        f'<g transform="rotate({turn} 240 240)">{shape}</g></svg>'
    ).encode()


def _colours(seed: int) -> tuple[str, str, str]:
    """Wall, glaze and a second colour that is not the glaze."""
    first = seed // 7 % len(_GLAZES)
    second = (first + 1 + seed // 61 % (len(_GLAZES) - 1)) % len(_GLAZES)
    return _WALLS[seed % len(_WALLS)], _GLAZES[first], _GLAZES[second]


def png_photo(slug: str, side: int = 64) -> bytes:
    """A small square picture in the product's colours, for those who cannot read SVG."""
    wall, glaze, second = (bytes.fromhex(colour[1:]) for colour in _colours(zlib.crc32(slug.encode())))
    rows = bytearray()
    for y in range(side):
        rows.append(0)
        for x in range(side):
            inside = abs(x - side // 2) < side // 4 and abs(y - side // 2) < side // 3
            rows += (second if y > side // 2 else glaze) if inside else wall
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows, 9))
        + _chunk(b"IEND")
    )


def _chunk(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
