"""Reads a sitemap as it streams in, capped in bytes and addresses, packed or not."""

from __future__ import annotations

import html
import re
import zlib
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_URLS = 5_000
MAX_BYTES = 20 * 1024 * 1024
MAX_URL_CHARS = 2_048
_STEP = 64 * 1024
_GZIP = b"\x1f\x8b"
_ENTRY = re.compile(
    rb"<(?:[a-z]{1,20}:)?(sitemap|url)(?=[\s>])|<(?:[a-z]{1,20}:)?loc\s{0,9}>([^<]{1,4096})<", re.IGNORECASE
)


@frozen
class SitemapUrls:
    """What a sitemap names, and whether it was read to its end."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]
    is_complete: bool


def sitemap_urls(
    chunks: Iterable[bytes], *, limit: int = MAX_URLS, max_bytes: int = MAX_BYTES
) -> SitemapUrls:
    """Read pages and child sitemaps in order; stop at `limit` addresses or `max_bytes` of unpacked text."""
    pages: dict[str, None] = {}
    sitemaps: dict[str, None] = {}
    read = 0
    rest = b""
    in_index = False
    for piece in _unpacked(chunks):
        read += len(piece)
        if read > max_bytes:
            return SitemapUrls(tuple(pages), tuple(sitemaps), is_complete=False)
        rest += piece
        end = 0
        for match in _ENTRY.finditer(rest):
            end = match.end()
            if match[1]:
                in_index = match[1].lower() == b"sitemap"
                continue
            (sitemaps if in_index else pages)[_address(match[2])] = None
            if len(pages) + len(sitemaps) >= limit:
                return SitemapUrls(tuple(pages), tuple(sitemaps), is_complete=False)
        rest = rest[max(end, len(rest) - 2 * MAX_URL_CHARS) :]
    return SitemapUrls(tuple(pages), tuple(sitemaps), is_complete=True)


def _address(raw: bytes) -> str:
    text = raw.decode("utf-8", errors="replace").strip()
    return html.unescape(text.removeprefix("<![CDATA[").removesuffix("]]>"))[:MAX_URL_CHARS]


def _unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack gzip piece by piece, so that a small bomb never becomes a large text."""
    unpacker = None
    first = True
    for chunk in chunks:
        if first and chunk:
            first = False
            unpacker = zlib.decompressobj(wbits=31) if chunk.startswith(_GZIP) else None
        if unpacker is None:
            yield from (chunk[at : at + _STEP] for at in range(0, len(chunk), _STEP))
            continue
        try:
            yield from _inflated(unpacker, chunk)
        except zlib.error:
            return


def _inflated(unpacker: zlib._Decompress, chunk: bytes) -> Iterator[bytes]:
    packed = chunk
    while packed and not unpacker.eof:
        yield unpacker.decompress(packed, _STEP)
        packed = unpacker.unconsumed_tail
