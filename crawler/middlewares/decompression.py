"""Answers are unpacked once, and one that breaks off is told from a whole one: Scrapy would not say so."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from isal import isal_zlib
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest

from crawler.warc.messages import NOT_GZIP

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

GZIP_MAGIC = b"\x1f\x8b"
_GZIPS = {b"gzip", b"x-gzip"}
_GZIP, _ZLIB, _RAW = 31, 15, -15  # as zlib names them
_CHUNK = 256 * 1024
USUAL_BYTES = 4 * 1024 * 1024  # unpacked at once; what is larger takes Scrapy's way, piece by piece
MAX_BYTES = 64 * 1024 * 1024  # unpacked; twice what a page may have, which is refused anyway
TRUNCATED = "truncated"


class DecompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's, but for a usual gzip file of one member, which takes an eighth of the time.

    An answer whose gzip or deflate stream breaks off is marked as Scrapy marks those that miss bytes.
    """

    _is_cut = False  # the answer that is just being unpacked

    def process_response(self, request: Request, response: Response, *_: Any) -> Request | Response:
        """Unpack an answer."""
        self._is_cut = False
        try:
            unpacked = super().process_response(request, response)
        except IgnoreRequest as error:
            # Its frames hold what was unpacked so far, and it is kept for a while.
            error.__context__ = None
            raise error.with_traceback(None) from None
        if not self._is_cut or TRUNCATED in unpacked.flags:
            return unpacked
        return unpacked.replace(flags=[*unpacked.flags, TRUNCATED])

    def _decode(self, body: bytes, encoding: bytes, max_size: int) -> bytes:  # type: ignore[override]
        """Called for each coding of an answer; whatever is odd is Scrapy's to judge."""
        content = _one_member(body, max_size) if encoding in _GZIPS else None
        if content is None:
            self._is_cut |= bool(body) and not is_whole(body, encoding)
            content = super()._decode(body, encoding, max_size)
        return content


def _one_member(data: bytes, max_size: int) -> bytes | None:
    """What a whole gzip file of one member holds; None for anything else, or for more than is to be had."""
    limit = min(max_size or USUAL_BYTES, USUAL_BYTES)
    stream = isal_zlib.decompressobj(_GZIP)
    try:
        content: bytes = stream.decompress(data, limit + 1)
    except NOT_GZIP:
        return None
    return content if stream.eof and not stream.unused_data and len(content) <= limit else None


def is_whole(data: bytes, coding: bytes) -> bool:
    """Whether packed bytes reach their own end; True where nobody can tell."""
    if coding in _GZIPS:
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
