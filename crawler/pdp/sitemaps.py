"""Reads a sitemap as it streams in, capped in bytes and addresses, packed or not."""

from __future__ import annotations

import html
import re
import zlib
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_URLS = 5_000
MAX_BYTES = 20 * 1024 * 1024
MAX_URL_CHARS = 2_048
_STEP = 64 * 1024
_PACKED_STEP = 4 * 1024  # what is read beyond the end of a stream is copied
MOST_STREAMS = 10_000  # one behind the other; each costs time, even if nothing is in it
_GZIP = b"\x1f\x8b"
# Addresses of pictures and films stand in elements of their own name spaces.
_ENTRY = re.compile(
    rb"<(?:[a-z]{1,20}:)?(sitemap|url)(?=[\s>])"
    rb"|<(?!image:|video:|news:)(?:[a-z]{1,20}:)?loc\s{0,9}>([^<]{1,4096})<",
    re.IGNORECASE,
)


class _DamagedError(Exception):
    """The packed stream breaks off, is no gzip behind its first bytes, or one of too many."""


@frozen
class SitemapUrls:
    """What a sitemap names."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]


@define
class _Reading:
    pages: dict[str, None] = Factory(dict)
    sitemaps: dict[str, None] = Factory(dict)
    rest: bytes = b""
    in_index: bool = False

    def take(self, piece: bytes) -> None:
        """Read the entries that end in `piece`; what may be half an entry waits for the next one."""
        self.rest += piece
        end = 0
        for match in _ENTRY.finditer(self.rest):
            end = match.end()
            if match[1]:
                self.in_index = match[1].lower() == b"sitemap"
            else:
                (self.sitemaps if self.in_index else self.pages)[_address(match[2])] = None
        self.rest = self.rest[max(end, len(self.rest) - 2 * MAX_URL_CHARS) :]


def sitemap_urls(
    chunks: Iterable[bytes], *, limit: int = MAX_URLS, max_bytes: int = MAX_BYTES
) -> SitemapUrls:
    """Read pages and child sitemaps in order; stop at `limit` addresses or `max_bytes` of unpacked text."""
    reading, read = _Reading(), 0
    with suppress(_DamagedError):
        for piece in _unpacked(chunks):
            read += len(piece)
            if read > max_bytes:
                break
            reading.take(piece)
            if len(reading.pages) + len(reading.sitemaps) > limit:
                break
    pages = tuple(reading.pages)[:limit]
    return SitemapUrls(pages, tuple(reading.sitemaps)[: limit - len(pages)])


def _address(raw: bytes) -> str:
    text = raw.decode("utf-8", errors="replace").strip()
    return html.unescape(text.removeprefix("<![CDATA[").removesuffix("]]>"))[:MAX_URL_CHARS]


def _unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack gzip piece by piece, so that a small bomb never becomes a large text."""
    stream = iter(chunks)
    head = b""
    while len(head) < len(_GZIP):
        chunk = next(stream, None)
        if chunk is None:
            break
        head += chunk
    packed = chain((head,), stream)
    if head.startswith(_GZIP):
        yield from _inflated(packed)
    else:
        yield from (chunk[at : at + _STEP] for chunk in packed for at in range(0, len(chunk), _STEP))


def _inflated(chunks: Iterable[bytes]) -> Iterator[bytes]:
    unpacker, streams = zlib.decompressobj(wbits=31), 1
    for step in _steps(chunks):
        packed = step
        while packed:
            if unpacker.eof:
                unpacker, streams = zlib.decompressobj(wbits=31), streams + 1
            if streams > MOST_STREAMS:
                raise _DamagedError
            try:
                yield unpacker.decompress(packed, _STEP)
            except zlib.error as error:
                raise _DamagedError from error
            packed = unpacker.unconsumed_tail or unpacker.unused_data
    if not unpacker.eof:
        raise _DamagedError


def _steps(chunks: Iterable[bytes]) -> Iterator[bytes]:
    return (chunk[at : at + _PACKED_STEP] for chunk in chunks for at in range(0, len(chunk), _PACKED_STEP))
