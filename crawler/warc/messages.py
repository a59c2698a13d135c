"""HTTP messages as records hold them: heads written and read, bodies decoded within a limit. Pure."""

from __future__ import annotations

import itertools
import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, Self, cast
from urllib.parse import urlsplit, urlunsplit

import brotli
from attrs import field, frozen
from isal import isal_zlib

from crawler.errors import CrawlerError
from crawler.urls import is_secret_name

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from datetime import datetime

Headers = tuple[tuple[bytes, bytes], ...]

NOT_GZIP = cast("type[Exception]", isal_zlib.IsalError)  # its own stub takes it for an instance
PIECE_BYTES = 1024 * 1024  # at most so much of a body is held at once
MAX_DECODED_BYTES = 256 * 1024 * 1024
MOST_CODINGS = 4  # a server that packs its answers more often means harm
MOST_STREAMS = 10_000  # one behind the other in a body; each costs time, even if nothing is in it
_COOKIES = frozenset({b"cookie", b"cookie2"})
_KNOWN_NAMES = _KNOWN_LINES = 1024
_SHORT_BYTES = 128
# They speak of the connection: what is stored was put together again already.
_OF_THE_CONNECTION = frozenset({b"transfer-encoding"})
_BREAKS_LINES = re.compile(rb"[\r\n\x00]+")
_NOT_IN_NAMES = re.compile(rb"[^!#$%&'*+\-.^_`|~0-9A-Za-z]")
_NOT_IN_URLS = re.compile(r"[^!#-;=?-\[\]_a-z~]")
# From its first line's end on: what may stand before that or not would cost twenty times as long to look for.
HEAD_END = re.compile(rb"\n\r?\n")
FOLD = re.compile(rb"\r?\n[ \t]+")  # a header's value may go on in the next line, behind a blank
_STATUS = re.compile(rb"(HTTP/[0-9.]+) +([0-9]{3})(?: +([^\r\n]*))?")
_CHUNK = re.compile(rb"(?:\r?\n)? *([0-9A-Fa-f]{1,16}) *(?:;[^\r\n]*)?\r?\n")
_MAX_CHUNK_LINE = 4096


class UndecodableError(CrawlerError):
    """A body is not what its headers say."""

    code = "undecodable"


class TooLargeError(UndecodableError):
    """A body unpacks to more than is allowed."""

    code = "too_large"


@frozen
class Exchange:
    """What was asked and what was answered, as it went over the wire, but for its division into chunks."""

    url: str
    captured_at: datetime  # when the answer began
    method: bytes
    request_headers: Headers
    protocol: bytes
    status: int
    reason: bytes
    headers: Headers
    body: bytes = field(repr=False)
    request_body: bytes = field(default=b"", repr=False)
    ip_address: str | None = None
    truncated: str | None = None  # why the body is not whole, in the format's words


@frozen
class Resource:
    """What was made of an answer, and never went over a wire: a picture of a page, say."""

    kind: str  # what its name begins with: a URN
    url: str  # of the answer
    made_at: datetime
    content_type: str
    body: bytes = field(repr=False)


@lru_cache(16)  # asked for more than once of each exchange
def fetched_url(url: str) -> str:
    """A URL as a record names it: what was asked for, so without fragment, and never with a password."""
    parts = urlsplit(_NOT_IN_URLS.sub(_escaped, url))
    _, _, host = parts.netloc.rpartition("@")
    return urlunsplit((parts.scheme, host, parts.path or "/", parts.query, ""))


def request_head(exchange: Exchange) -> bytes:
    """A request's head, without what we prove ourselves with."""
    parts = urlsplit(fetched_url(exchange.url))
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    headers = tuple(pair for pair in exchange.request_headers if not is_secret(pair[0]))
    if not any(name.lower() == b"host" for name, _ in headers):
        headers = ((b"Host", parts.netloc.encode()), *headers)
    if exchange.request_body and not any(name.lower() == b"content-length" for name, _ in headers):
        # Twisted sends it without Scrapy's knowledge; indexes of others read no body without it.
        headers = (*headers, (b"Content-Length", b"%d" % len(exchange.request_body)))
    first = b"%s %s HTTP/1.1" % (_NOT_IN_NAMES.sub(b"", exchange.method), target.encode())
    return _head(first, headers)


@lru_cache(_KNOWN_NAMES)
def is_secret(name: bytes) -> bool:
    """Whether a client proves itself with it: no use to who reads an archive, and much to who steals one."""
    return name.lower() in _COOKIES or is_secret_name(as_words(name).strip())


def response_head(exchange: Exchange) -> bytes:
    """A response's head, with every header as often and in the order that it came."""
    protocol = exchange.protocol if exchange.protocol.startswith(b"HTTP/") else b"HTTP/1.1"
    first = b"%s %03d %s" % (protocol, exchange.status, _BREAKS_LINES.sub(b" ", exchange.reason))
    return _head(first, (pair for pair in exchange.headers if pair[0].lower() not in _OF_THE_CONNECTION))


def _head(first: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    lines = (
        (_known_line if len(name) + len(value) <= _SHORT_BYTES else _line)(name, value)
        for name, value in headers
    )
    return b"\r\n".join((first, *lines, b"", b""))


def _line(name: bytes, value: bytes) -> bytes:
    """A header that is one line, whatever was sent."""
    return b"%s: %s" % (_NOT_IN_NAMES.sub(b"-", name) or b"-", _BREAKS_LINES.sub(b" ", value))


_known_line = lru_cache(_KNOWN_LINES)(_line)  # a site's pages have the same ones, again and again


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))


@frozen
class MessageHead:
    """The first line and the headers of a stored message; None for what they do not say."""

    first: bytes
    headers: Headers
    size: int  # bytes of the block before the body

    @classmethod
    def of(cls, block: bytes) -> Self | None:
        """The head at the beginning of a block; None where none ends in it."""
        end = HEAD_END.search(block)
        if end is None:
            return None
        lines = FOLD.sub(b" ", block[: end.start()].removesuffix(b"\r"))
        first, *headers = lines.replace(b"\r\n", b"\n").split(b"\n")
        pairs = (
            (name.strip(), value.strip()) for name, _, value in (line.partition(b":") for line in headers)
        )
        return cls(first, tuple(pair for pair in pairs if pair[0]), end.end())

    @property
    def status(self) -> int | None:
        """The status code, if this is an answer."""
        found = _STATUS.match(self.first)
        return int(found[2]) if found else None

    def get(self, name: bytes) -> str | None:
        """A header's first value; bytes that are no UTF-8 are taken for Latin-1."""
        value = next((value for key, value in self.headers if key.lower() == name), None)
        return None if value is None else as_words(value)

    @property
    def mime_type(self) -> str | None:
        """The content type without its parameters."""
        kind = (self.get(b"content-type") or "").partition(";")[0].strip().lower()
        return kind or None

    @property
    def codings(self) -> list[str]:
        """What the content was packed with, the last first."""
        values = b",".join(value for key, value in self.headers if key.lower() == b"content-encoding")
        names = [name.strip().lower() for name in as_words(values).split(",")]
        return [name for name in reversed(names) if name not in {"", "identity"}]

    @property
    def is_chunked(self) -> bool:
        """Whether it says that its body comes in chunks; what is stored may be put together again."""
        return "chunked" in (self.get(b"transfer-encoding") or "").lower()


def as_words(value: bytes) -> str:
    """Text of a header; whatever a server sends can be shown."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def decoded(head: MessageHead, pieces: Iterable[bytes], limit: int = MAX_DECODED_BYTES) -> Iterator[bytes]:
    """A body without chunks and packing, a piece at a time; `limit` is for all that any step unpacks to.

    What does not begin as its headers say is taken as it is: archives keep decoded bodies under their old
    headers, and the reverse.
    """
    if head.is_chunked:
        pieces = _unchunked(pieces)
    codings = head.codings
    if len(codings) > MOST_CODINGS:
        raise UndecodableError(f"the body is packed {len(codings)} times")
    for coding in codings:
        pieces = _unpacked(coding, pieces, limit)
    return iter(pieces)


def _unchunked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    source = _with_a_beginning(pieces)
    data = next(source, b"")
    if not _CHUNK.match(data):
        yield data
        yield from source
        return
    while True:
        line, data = _chunk_line(data, source)
        left = int(line[1], 16)
        data = data[line.end() :]
        if not left:
            return
        while left:
            data = data or next(source, b"")
            if not data:
                raise UndecodableError("the last chunk is cut short")
            yield data[:left]
            data, left = data[left:], max(0, left - len(data))


def _chunk_line(data: bytes, source: Iterator[bytes]) -> tuple[re.Match[bytes], bytes]:
    """The line with a chunk's length, and the data that begins with it."""
    while (line := _CHUNK.match(data)) is None:
        more = next(source, None)
        if more is None or len(data) > _MAX_CHUNK_LINE:
            raise UndecodableError("a chunk's length is missing")
        data += more
    return line, data


class _Machine(Protocol):
    """Unpacks a piece at a time, never more than `most` bytes of it."""

    is_marked: bool  # what it unpacks can be told by its beginning; else only trying shows

    def feed(self, data: bytes, most: int) -> bytes: ...

    @property
    def is_hungry(self) -> bool: ...


class _Inflater:
    """gzip and deflate; gzip members that follow each other are one body."""

    def __init__(self, window: int) -> None:
        self._window = window
        self.is_marked = window != _RAW_WINDOW
        self._machine = isal_zlib.decompressobj(window)
        self._rest = b""
        self._left = MOST_STREAMS

    def feed(self, data: bytes, most: int) -> bytes:
        data = self._rest + data
        if self._machine.eof:
            if not data.startswith(b"\x1f\x8b"):
                self._rest = b""
                return b""  # padding behind the end
            self._left = _less(self._left)
            self._machine = isal_zlib.decompressobj(self._window)
        piece: bytes = self._machine.decompress(data, most)
        self._rest = self._machine.unused_data if self._machine.eof else self._machine.unconsumed_tail
        return piece

    @property
    def is_hungry(self) -> bool:
        return not self._rest


class _Brotli:
    is_marked = False

    def __init__(self) -> None:
        self._machine = brotli.Decompressor()

    def feed(self, data: bytes, most: int) -> bytes:
        piece: bytes = self._machine.process(data, output_buffer_limit=most)
        return piece

    @property
    def is_hungry(self) -> bool:
        return bool(self._machine.can_accept_more_data())


class _Zstd:
    is_marked = True

    def __init__(self) -> None:
        self._machine = zstd.ZstdDecompressor()
        self._left = MOST_STREAMS

    def feed(self, data: bytes, most: int) -> bytes:
        if self._machine.eof:
            data = self._machine.unused_data + data
            if not data.startswith(_ZSTD_MAGIC):
                return b""
            self._left = _less(self._left)
            self._machine = zstd.ZstdDecompressor()
        return self._machine.decompress(data, most)

    @property
    def is_hungry(self) -> bool:
        return self._machine.needs_input or (self._machine.eof and not self._machine.unused_data)


def _less(left: int) -> int:
    if left <= 1:
        raise UndecodableError(f"the body is packed as more than {MOST_STREAMS} streams")
    return left - 1


_TELLING_BYTES = 24  # with a chunk's length among them, or any packing's mark
_GZIP_MAGIC, _ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_GZIP_WINDOW, _ZLIB_WINDOW, _RAW_WINDOW = 31, 15, -15
_ZLIB_METHOD, _ZLIB_CHECK = 8, 31


def _machine_for(coding: str, begin: bytes) -> _Machine | None:
    """What unpacks a body that begins so; None where it is not packed, whatever its headers say."""
    if coding in {"gzip", "x-gzip"}:
        return _Inflater(_GZIP_WINDOW) if begin.startswith(_GZIP_MAGIC) else None
    if coding == "deflate":
        has_head = begin[0] & 0x0F == _ZLIB_METHOD and int.from_bytes(begin[:2], "big") % _ZLIB_CHECK == 0
        return _Inflater(_ZLIB_WINDOW if has_head else _RAW_WINDOW)
    if coding == "br":
        return _Brotli()
    if coding == "zstd":
        return _Zstd() if begin.startswith(_ZSTD_MAGIC) else None
    raise UndecodableError(f"no way to unpack {coding!r}")


def _unpacked(coding: str, pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    source = _with_a_beginning(pieces)
    begin = next(source, b"")
    machine = _machine_for(coding, begin) if begin else None
    if machine is None:
        yield begin
        yield from source
        return
    unpacked = 0
    for piece in _fed(machine, coding, begin, source):
        unpacked += len(piece)
        if unpacked > limit:
            raise TooLargeError(f"the body unpacks to more than {limit} bytes")
        yield piece


def _with_a_beginning(pieces: Iterable[bytes]) -> Generator[bytes]:
    """The same, the first of them long enough to tell what it begins."""
    begin = b""
    for piece in pieces:
        if len(begin) >= _TELLING_BYTES:
            yield begin
            begin = piece
        else:
            begin += piece
    if begin:
        yield begin


def _fed(machine: _Machine, coding: str, begin: bytes, source: Iterator[bytes]) -> Iterator[bytes]:
    """What a machine makes of a body; the body itself, if only trying shows that it is not packed."""
    is_first = True
    for number, part in enumerate(_parts(begin, source)):
        data = part
        while data or not machine.is_hungry:
            try:
                piece = machine.feed(data, PIECE_BYTES)
            except (NOT_GZIP, brotli.error, zstd.ZstdError, EOFError) as error:
                if is_first and number == 0 and not machine.is_marked:
                    yield begin
                    yield from source
                    return
                raise UndecodableError(f"the body is no {coding}: {error}") from None
            data = b""
            if piece:
                is_first = False
                yield piece


def _parts(begin: bytes, source: Iterator[bytes]) -> Iterator[bytes]:
    for data in itertools.chain((begin,), source):
        for at in range(0, len(data), PIECE_BYTES):
            yield data[at : at + PIECE_BYTES]
