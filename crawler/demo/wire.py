"""HTTP/1.1 as bytes: what a client asked, what it is answered, and how the two look on the wire."""

from __future__ import annotations

import gzip
from enum import Enum
from http.client import responses
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from attrs import evolve, field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

HTML = "text/html; charset=utf-8"
# Below this a gzip body would be hardly smaller.
MIN_GZIP_BYTES = 256


class BadRequestError(ValueError):
    """The bytes are not a request."""


class Ending(Enum):
    """What becomes of the body and of the connection."""

    WHOLE = "whole"
    CUT = "cut"  # half of the promised body, then the connection closes
    RESET = "reset"  # not one byte, and the connection is reset
    ENDLESS = "endless"  # the body again and again, up to a large bound


@frozen
class Request:
    """One request, as far as the demo looks at it."""

    method: str
    target: str
    headers: Mapping[str, str]
    version: str

    @property
    def host(self) -> str:
        """The Host header, with its port."""
        return self.headers.get("host", "").lower()

    @property
    def path(self) -> str:
        """The path with its escapes resolved."""
        return unquote(self.target.partition("?")[0])

    @property
    def query(self) -> dict[str, str]:
        """The query's parameters; the last of a name wins."""
        return dict(parse_qsl(self.target.partition("?")[2]))

    @property
    def keep_alive(self) -> bool:
        """Whether the client wants to go on using the connection."""
        wish = self.headers.get("connection", "").lower()
        return wish == "keep-alive" if self.version == "HTTP/1.0" else wish != "close"

    @property
    def takes_gzip(self) -> bool:
        """Whether the client reads gzip."""
        offers = self.headers.get("accept-encoding", "").lower().replace(" ", "").split(",")
        return any(offer.split(";")[0] == "gzip" and not offer.endswith(";q=0") for offer in offers)


@frozen
class Reply:
    """One answer, before it is bytes."""

    body: bytes = b""
    status: int = 200
    content_type: str = HTML
    headers: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    coding: str = field(default="", kw_only=True)  # the content coding that `body` already has
    delay: float = field(default=0.0, kw_only=True)  # seconds between the request and the first byte
    ending: Ending = field(default=Ending.WHOLE, kw_only=True)

    def but(self, **changes: Any) -> Reply:
        """The same answer with some things changed."""
        return evolve(self, **changes)


def parse_request(head: bytes) -> Request:
    """The request whose head, up to the empty line, is `head`."""
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != len(("method", "target", "version")) or not words[2].startswith("HTTP/1."):
        raise BadRequestError(first)
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadRequestError(line)
        headers[name.lower()] = value.strip()
    return Request(words[0], _origin_form(words[1]), headers, words[2])


def _origin_form(target: str) -> str:
    """`target` as a path, also where a proxy's client sent a whole URL."""
    if "://" not in target.partition("?")[0]:
        return target
    path = target.partition("://")[2].partition("/")[2]
    return f"/{path}"


def zipped(reply: Reply) -> Reply:
    """`reply` with its body compressed, or as it was where that gains nothing."""
    if reply.coding or len(reply.body) < MIN_GZIP_BYTES or reply.ending is Ending.ENDLESS:
        return reply
    return reply.but(body=gzip.compress(reply.body, 6, mtime=0), coding="gzip")


def head_bytes(reply: Reply, *, keep_alive: bool) -> bytes:
    """Status line and headers. There is no Date, so that equal answers are equal bytes."""
    lines = [
        f"HTTP/1.1 {reply.status} {responses.get(reply.status, 'Unknown')}",
        "Server: vitrine-demo",
        f"Content-Type: {reply.content_type}",
        "Vary: Accept-Encoding",
        f"Connection: {'keep-alive' if keep_alive else 'close'}",
    ]
    if reply.ending is Ending.ENDLESS:
        lines.append("Transfer-Encoding: chunked")
    else:
        lines.append(f"Content-Length: {len(reply.body)}")
    if reply.coding:
        lines.append(f"Content-Encoding: {reply.coding}")
    lines += [f"{name}: {value}" for name, value in reply.headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
