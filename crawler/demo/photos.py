"""Product photos, drawn in code: a shape for each kind of thing, colours from the product's slug."""

from __future__ import annotations

import struct
import zlib

_WALLS = ("#efe6d8", "#e3e9e4", "#e6e4ee", "#f1e3dc", "#e2e9ee", "#ece9dc")
_GLAZES = ("#1f4e46", "#7a2e4d", "#a3471d", "#2f4b6e", "#5b6b1e", "#6b4226", "#9c2a1f", "#4d4a7c", "#b58a2b")
_TURNS = (0, -7, 9)

_SHAPES = {
    "glass": (
        '<path d="M178 130h124l-16 150q-4 34-46 34t-46-34z" fill="{c}" fill-opacity=".55"/>'
        '<path d="M184 190h112l-10 88q-4 30-46 30t-46-30z" fill="{d}" fill-opacity=".5"/>'
        '<rect x="232" y="312" width="16" height="60" fill="{c}" fill-opacity=".6"/>'
        '<ellipse cx="240" cy="376" rx="58" ry="9" fill="{c}" fill-opacity=".7"/>'
    ),
    "cabinet": (
        '<rect x="140" y="100" width="200" height="270" rx="4" fill="{c}"/>'
        '<rect x="152" y="114" width="84" height="150" fill="{w}" fill-opacity=".8"/>'
        '<rect x="244" y="114" width="84" height="150" fill="{w}" fill-opacity=".8"/>'
        '<path d="M152 164h84M152 214h84M244 164h84M244 214h84" stroke="{c}" stroke-width="5"/>'
        '<path d="M152 282h176v34h-176zM152 324h176v34h-176z" fill="{d}"/>'
        '<circle cx="240" cy="299" r="5" fill="{w}"/><circle cx="240" cy="341" r="5" fill="{w}"/>'
    ),
    "cup": (
        '<path d="M150 190h160v70q0 90-80 90t-80-90z" fill="{c}"/>'
        '<path d="M310 214q58-8 54 42t-66 48" fill="none" stroke="{c}" stroke-width="16"/>'
        '<ellipse cx="230" cy="190" rx="80" ry="15" fill="{d}"/>'
        '<path d="M205 150q-14-20 0-40t0-40M250 150q-14-20 0-40t0-40" fill="none" stroke="{d}" '
        'stroke-width="5"/>'
    ),
    "book": (
        '<path d="M130 120h190q20 0 20 20v220h-190q-20 0-20-20z" fill="{c}"/>'
        '<path d="M150 340h190v20h-190q-12 0-12-10t12-10z" fill="{w}"/>'
        '<path d="M176 170h118M176 196h84" stroke="{d}" stroke-width="8"/>'
        '<path d="M300 120v90l-14-14-14 14v-90z" fill="{d}"/>'
    ),
    "lamp": (
        '<path d="M180 110h120l46 120h-212z" fill="{c}"/>'
        '<path d="M134 230h212l24 110h-260z" fill="{d}" fill-opacity=".18"/>'
        '<rect x="233" y="230" width="14" height="130" fill="{d}"/>'
        '<ellipse cx="240" cy="368" rx="64" ry="12" fill="{d}"/>'
    ),
    "cloth": (
        '<path d="M120 150q60-24 120 0t120 0v190q-60 24-120 0t-120 0z" fill="{c}"/>'
        '<path d="M120 190q60-24 120 0t120 0M120 300q60-24 120 0t120 0" fill="none" stroke="{w}" '
        'stroke-width="9"/>'
        '<path d="M120 340v26M150 333v26M180 332v26M300 353v26M330 352v26M360 343v26" stroke="{d}" '
        'stroke-width="4"/>'
    ),
    "jar": (
        '<rect x="160" y="170" width="160" height="200" rx="22" fill="{c}" fill-opacity=".75"/>'
        '<rect x="172" y="128" width="136" height="38" rx="8" fill="{d}"/>'
        '<rect x="184" y="228" width="112" height="80" rx="4" fill="{w}"/>'
        '<path d="M202 256h76M202 280h50" stroke="{c}" stroke-width="6"/>'
    ),
    "board": (
        '<rect x="170" y="170" width="140" height="200" rx="34" fill="{c}"/>'
        '<rect x="224" y="96" width="32" height="92" rx="16" fill="{c}"/>'
        '<circle cx="240" cy="116" r="8" fill="{w}"/>'
        '<path d="M196 214q46 22 88 0M196 266q46 24 88 0M196 318q46 22 88 0" fill="none" stroke="{d}" '
        'stroke-width="4"/>'
    ),
}


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
