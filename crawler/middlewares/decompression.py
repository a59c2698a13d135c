"""Answers are unpacked once, and one that breaks off is told from a whole one: Scrapy would not say so."""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any

import brotli
from isal import isal_zlib
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest

from crawler.crawl.answers import OverpackedError
from crawler.warc.messages import MOST_CODINGS, MOST_STREAMS, NOT_GZIP

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_GZIPS = {b"gzip", b"x-gzip"}
_GZIP, _ZLIB, _RAW = 31, 15, -15  # as zlib names them
_CHUNK = 256 * 1024
_FIRST_STEP = 1024  # of a stream: what is read beyond its end is copied
USUAL_BYTES = 4 * 1024 * 1024  # unpacked at once; what is larger takes Scrapy's way, piece by piece
MAX_BYTES = 64 * 1024 * 1024  # unpacked; twice what a page may have, which is refused anyway
TRUNCATED = "truncated"


class DecompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's, but for a usual body in one piece; a gzip file of one member takes an eighth of the time.

    An answer whose packed stream breaks off is marked as Scrapy marks those that miss bytes.
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

    def _handle_encoding(
        self, body: bytes, content_encoding: list[bytes], max_size: int
    ) -> tuple[bytes, list[bytes]]:
        """Called for each answer; each coding takes a pass over all of it."""
        if len(self._split_encodings(content_encoding)[0]) > MOST_CODINGS:
            raise OverpackedError(f"the answer is packed more than {MOST_CODINGS} times")
        return super()._handle_encoding(body, content_encoding, max_size)

    def _decode(self, body: bytes, encoding: bytes, max_size: int) -> bytes:  # type: ignore[override]
        """Called for each coding of an answer; whatever is odd is Scrapy's to judge."""
        content = _at_once(body, encoding, max_size)
        if content is None:
            self._is_cut |= bool(body) and not is_whole(body, encoding)
            try:
                content = super()._decode(body, encoding, max_size)
            except EOFError:  # as of a gzip file that ends in its header
                content = b""
        return content


def _at_once(data: bytes, coding: bytes, max_size: int) -> bytes | None:
    """What a whole body of one stream holds; None for anything else, or for more than is to be had."""
    limit = min(max_size or USUAL_BYTES, USUAL_BYTES)
    try:
        content, is_all = _unpacked(data, coding, limit + 1)
    except (NOT_GZIP, brotli.error, zstd.ZstdError):
        return None
    return content if is_all and len(content) <= limit else None


def _unpacked(data: bytes, coding: bytes, most: int) -> tuple[bytes, bool]:
    """The first bytes of a stream, and whether it ends with them and the data with it."""
    if coding in _GZIPS:
        member = isal_zlib.decompressobj(_GZIP)
        return member.decompress(data, most), member.eof and not member.unused_data
    if coding == b"br":
        stream = brotli.Decompressor()
        return stream.process(data, output_buffer_limit=most), stream.is_finished()
    if coding == b"zstd":
        frame = zstd.ZstdDecompressor()
        return frame.decompress(data, most), frame.eof and not frame.unused_data
    return b"", False


def is_whole(data: bytes, coding: bytes) -> bool:
    """Whether packed bytes reach their own end; True where nobody can tell."""
    if coding in _GZIPS:
        return not data.startswith(GZIP_MAGIC) or _ends(data, _GZIP)
    if coding == b"br":
        return _brotli_ends(data)
    if coding == b"zstd":
        return not data.startswith(ZSTD_MAGIC) or _frames_end(data)
    return coding != b"deflate" or _ends(data, _ZLIB) or _ends(data, _RAW)


def _brotli_ends(data: bytes) -> bool:
    """Whether there is all of it; what is no brotli has no mark that says so."""
    stream, left = brotli.Decompressor(), MAX_BYTES
    try:
        piece = stream.process(data, output_buffer_limit=_CHUNK)
        while piece and left > 0 and not stream.is_finished():
            left -= len(piece)
            piece = stream.process(b"", output_buffer_limit=_CHUNK)
    except brotli.error:
        return True
    return left <= 0 or stream.is_finished()


def _frames_end(data: bytes) -> bool:
    """Whether each frame in the data comes to its end."""
    left, at, streams = MAX_BYTES, 0, 0
    while data.startswith(ZSTD_MAGIC, at):
        frame, step, streams = zstd.ZstdDecompressor(), _FIRST_STEP, _one_more(streams)
        while not frame.eof:
            piece = data[at : at + step] if frame.needs_input else b""
            if frame.needs_input and not piece:
                return False
            at, step = at + len(piece), min(2 * step, _CHUNK)
            try:
                left -= len(frame.decompress(piece, _CHUNK))
            except zstd.ZstdError:
                return True  # damaged, which whoever unpacks it finds as well
            if left <= 0:
                return True
        at -= len(frame.unused_data)
    return True


def _ends(data: bytes, form: int) -> bool:
    """Whether each stream in the data comes to its end; what follows the last one is not looked at."""
    left, at, streams = MAX_BYTES, 0, 0
    while at < len(data):
        stream, streams = zlib.decompressobj(form), _one_more(streams)
        try:
            at, left = _behind(stream, data, at, left)
            if left > 0 and not stream.eof:
                stream.flush()
        except zlib.error:
            return False
        if left <= 0:
            return True
        if not stream.eof:
            return False
        if not data.startswith(GZIP_MAGIC, at):
            return True
    return True


def _behind(stream: zlib._Decompress, data: bytes, at: int, left: int) -> tuple[int, int]:
    """Where a stream ends, and how much more may be unpacked behind it."""
    step = _FIRST_STEP
    while at < len(data) and not stream.eof and left > 0:
        piece = data[at : at + step]
        at, step = at + len(piece), min(2 * step, _CHUNK)
        while piece and left > 0:
            left -= len(stream.decompress(piece, _CHUNK))
            piece = _left_over(stream)
    return at - len(stream.unused_data), left


def _left_over(stream: zlib._Decompress) -> bytes:
    """What it has not taken yet; at its end it calls what stands behind it so, too."""
    return b"" if stream.eof else stream.unconsumed_tail


def _one_more(streams: int) -> int:
    if streams == MOST_STREAMS:
        raise OverpackedError(f"the answer is packed as more than {MOST_STREAMS} streams")
    return streams + 1
