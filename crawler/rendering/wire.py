"""What a browser asks a proxy: request heads read, and written as the next one is to see them."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote, urlsplit

from attrs import define, frozen

if TYPE_CHECKING:
    import asyncio

MAX_HEAD_BYTES = 512 * 1024
MAX_SIZE_LINE_BYTES = 4096
UNREADABLE = 1 << 62  # the size of a chunk whose size cannot be read: such a body never ends
END = b"\r\n\r\n"
HTTP_PORT, HTTPS_PORT = 80, 443
WORDS = 3  # of a request line
FIRST_FINAL = 200  # status; those below announce another answer
# What holds between two neighbours only.
_HOP = (b"connection:", b"keep-alive:", b"proxy-connection:", b"proxy-authorization:", b"proxy-authenticate:")


_LENGTH = re.compile(rb"(?mi)^content-length:[ \t]*(\d{1,18})[ \t]*\r?$")
_CHUNKED = re.compile(rb"(?mi)^transfer-encoding:.*\bchunked[ \t]*\r?$")
_HEX = re.compile(rb"[0-9a-fA-F]{1,16}")
_BODILESS = re.compile(rb"HTTP/1\.\d (?:204|304)\b")


class BadHeadError(Exception):
    """That is no request of a browser to its proxy."""


@frozen
class Upstream:
    """The operator's own proxy."""

    host: str
    port: int
    authorization: bytes = b""  # the header that it wants to see

    @classmethod
    def of(cls, url: str) -> Self | None:
        """Read `PROXY_URL`; None where it is empty."""
        if not url:
            return None
        parts = urlsplit(url)
        said = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()
        basic = b"Proxy-Authorization: Basic " + b64encode(said) if parts.username else b""
        return cls(parts.hostname or "", parts.port or HTTP_PORT, basic)


@frozen
class Head:
    """One request's head, as a proxy gets it."""

    method: str
    host: str
    port: int
    path: str  # of a request that is not for a tunnel
    lines: tuple[bytes, ...]  # its headers, without those that are for us alone

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a head: `CONNECT host:port`, or a request for a whole http URL."""
        first, *lines = data.removesuffix(END).split(b"\r\n")
        words = first.decode("latin-1").split(" ")
        if len(words) != WORDS or not words[2].startswith("HTTP/1."):
            raise BadHeadError(first[:80])
        method, target, _ = words
        kept = tuple(line for line in lines if not line.lower().startswith(_HOP))
        try:
            parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
            port = parts.port or (HTTPS_PORT if method == "CONNECT" else HTTP_PORT)
        except ValueError as error:
            raise BadHeadError(first[:80]) from error
        if not parts.hostname or parts.username or parts.scheme not in {"", "http"}:
            raise BadHeadError(first[:80])
        if not parts.scheme and method != "CONNECT":
            raise BadHeadError(first[:80])
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(method, parts.hostname, port, path, kept)

    @property
    def is_tunnel(self) -> bool:
        """Whether a connection is wanted, and nothing is said of what will go through it."""
        return self.method == "CONNECT"

    @property
    def url(self) -> str:
        """What is asked for, in the browser's spelling."""
        port = "" if self.port == HTTP_PORT else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}{port}{self.path}"

    @property
    def authority(self) -> str:
        """Host and port, as a URL has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def as_sent(self, upstream: Upstream | None) -> bytes:
        """The head for the site itself, or for the operator's proxy; the connection ends with the answer."""
        if self.is_tunnel:
            lines = [f"CONNECT {self.authority} HTTP/1.1".encode("latin-1"), *self._host_line()]
        else:
            target = self.path if upstream is None else f"http://{self.authority}{self.path}"
            lines = [f"{self.method} {target} HTTP/1.1".encode("latin-1"), *self.lines]
            lines.append(b"Connection: close")
        if upstream is not None and upstream.authorization:
            lines.append(upstream.authorization)
        return b"\r\n".join(lines) + END

    def _host_line(self) -> list[bytes]:
        return [f"Host: {self.authority}".encode("latin-1")]


@define
class Chunks:
    """Where a body is that is sent in chunks."""

    is_done: bool = False
    _left: int = 0  # bytes of the chunk that is coming
    _line: bytes = b""
    _is_last: bool = False

    def add(self, data: bytes) -> None:
        """A piece of it has come, sizes and all."""
        at = 0
        while at < len(data) and not self.is_done:
            if self._left:
                taken = min(self._left, len(data) - at)
                self._left, at = self._left - taken, at + taken
                continue
            end = data.find(b"\n", at) + 1
            self._line = (self._line + data[at : end or len(data)])[:MAX_SIZE_LINE_BYTES]
            at = end or len(data)
            if end:
                line, self._line = self._line.strip(), b""
                self._read(line)

    def _read(self, line: bytes) -> None:
        """Read a size, or what follows a chunk: the end of its line, at last trailers and an empty one."""
        if self._is_last:
            self.is_done = not line
        elif line:
            size = line.partition(b";")[0].strip()
            self._left = int(size, 16) if _HEX.fullmatch(size) else UNREADABLE
            self._is_last = not self._left


@define
class Body:
    """How much of an answer's body has come, by what its head says of it."""

    length: int | None = None  # None: it ends with the connection
    chunks: Chunks | None = None
    received: int = 0

    @classmethod
    def of(cls, method: str, head: bytes) -> Self:
        """Of the answer that has such a head."""
        if method == "HEAD" or _BODILESS.match(head):
            return cls(length=0)
        if _CHUNKED.search(head):
            return cls(chunks=Chunks())
        said = _LENGTH.search(head)
        return cls(length=int(said[1]) if said else None)

    def add(self, data: bytes) -> None:
        """A piece of it has come."""
        self.received += len(data)
        if self.chunks is not None:
            self.chunks.add(data)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing once the connection has ended in order."""
        if self.chunks is not None:
            return self.chunks.is_done
        return self.length is None or self.received >= self.length


async def read_head(reader: asyncio.StreamReader) -> Head:
    """The next request."""
    return Head.parse(await reader.readuntil(END))


async def read_answer_head(reader: asyncio.StreamReader) -> bytes:
    """An answer's head, with the word that the connection ends after it; announcements are left out."""
    while True:
        data = await _until_end(reader)
        first, *lines = data.removesuffix(END).split(b"\r\n")
        status = first.split(b" ")[1:2]
        if not status or not status[0].isdigit() or int(status[0]) >= FIRST_FINAL:
            kept = [line for line in lines if not line.lower().startswith(_HOP)]
            return b"\r\n".join([first, *kept, b"Connection: close"]) + END


async def _until_end(reader: asyncio.StreamReader) -> bytes:
    """A head of any honest size, line by line; a longer one is none."""
    head = bytearray()
    while not head.endswith(END):
        line = await reader.readuntil(b"\n")
        head += line if line.endswith(b"\r\n") else line[:-1] + b"\r\n"
        if len(head) > MAX_HEAD_BYTES:
            raise OSError("a head without end")
        if head == b"\r\n":  # an empty line before an answer
            head.clear()
    return bytes(head)
