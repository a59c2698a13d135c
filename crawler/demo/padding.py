"""Pages as large as a benchmark wants them, with markup of the kind that makes real pages large."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MARK = "</main>"
_BLOCKS_PER_STATE = 8


def padded(html: str, page_bytes: int, words: Mapping[str, Any], key: str) -> str:
    """`html` with reviews and page state before the end of its main part, about `page_bytes` long."""
    missing = page_bytes - len(html.encode())
    if missing <= 0:
        return html
    blocks = []
    for block in _blocks(words, crc32(key.encode())):
        missing -= len(block.encode())
        if missing < 0:
            break
        blocks.append(block)
    filling = f'<section class="reviews"><h2>{words["reviews"]}</h2>\n{"".join(blocks)}</section>\n'
    before, mark, after = html.rpartition(_MARK)
    return f"{before}{filling}{mark}{after}"


def _blocks(words: Mapping[str, Any], seed: int) -> Iterator[str]:
    """Reviews without end, and after every eighth the state that a script would keep."""
    for number in range(1, 1_000_000):
        seed = (seed * 1_103_515_245 + 12_345) & 0x7FFFFFFF
        yield _state(number, seed) if number % _BLOCKS_PER_STATE == 0 else _review(words, number, seed)


def _review(words: Mapping[str, Any], number: int, seed: int) -> str:
    name = words["people"][seed // 3 % len(words["people"])]
    lines = [words["praise"][(seed // 11 + step * 3) % len(words["praise"])] for step in range(2 + seed % 3)]
    return (
        f'<div class="review" id="r{number}" data-n="{seed:08x}"><b>{escape(name)}</b> '
        f'<time datetime="20{10 + seed % 15}-{1 + seed % 12:02}-{1 + seed % 28:02}">{10 + seed % 15}</time>'
        f"<p>{escape(' '.join(lines))}</p></div>\n"
    )


def _state(number: int, seed: int) -> str:
    rows = [
        {"i": seed ^ (step * 2_654_435_761 & 0xFFFFFF), "s": step % 3 == 0, "w": 40 + step}
        for step in range(12)
    ]
    state = {"slot": number, "rows": rows}
    return f'<script type="application/json" id="state-{number}">{json.dumps(state)}</script>\n'
