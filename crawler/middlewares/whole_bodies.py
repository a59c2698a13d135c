"""A packed answer that breaks off is told from a whole one: what unpacks it later would not say so."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from crawler.crawl.context import Component

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

GZIP_MAGIC = b"\x1f\x8b"
_GZIP, _ZLIB, _RAW = 31, 15, -15  # as zlib names them
_CHUNK = 256 * 1024
MAX_BYTES = 64 * 1024 * 1024  # unpacked; twice what a page may have, which is refused anyway
TRUNCATED = "truncated"


class WholeBodiesMiddleware(Component):
    """Marks answers whose gzip or deflate stream breaks off, as Scrapy marks those that miss bytes."""

    def process_response(self, request: Request, response: Response) -> Response:  # ruff: ignore[unused-method-argument] - Scrapy's signature
        """Look at an answer that is still packed."""
        coding = (response.headers.get("Content-Encoding") or b"").strip().lower()
        if not response.body or is_whole(response.body, coding) or TRUNCATED in response.flags:
            return response
        return response.replace(flags=[*response.flags, TRUNCATED])


def is_whole(data: bytes, coding: bytes) -> bool:
    """Whether packed bytes reach their own end; True where nobody can tell."""
    if coding in {b"gzip", b"x-gzip"}:
        return not data.startswith(GZIP_MAGIC) or _ends(data, _GZIP)
    return coding != b"deflate" or _ends(data, _ZLIB) or _ends(data, _RAW)


def _ends(data: bytes, form: int) -> bool:
    """Whether each stream in the data comes to its end; what follows the last one is not looked at."""
    left = MAX_BYTES
    while data:
        stream = zlib.decompressobj(form)
        try:
            while data and not stream.eof:
                left -= len(stream.decompress(data, _CHUNK))
                data = stream.unconsumed_tail
                if left <= 0:
                    return True
            stream.flush()
        except zlib.error:
            return False
        if not stream.eof:
            return False
        data = stream.unused_data
        if not data.startswith(GZIP_MAGIC):
            return True
    return True
