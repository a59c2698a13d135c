"""Refuses what nobody should read: other hosts, too much, secrets in addresses."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.datastructures import Headers

from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope

    from crawler.config import Settings

MAX_QUERY_BYTES = 8_192
MAX_PATH_BYTES = 16_384  # an archived URL is part of a path, and has a query of its own
MAX_BODY_BYTES = 1_048_576
BODY_SECONDS = 30.0
SECRET_NAMES = frozenset(
    {"token", "admin_token", "access_token", "api_key", "apikey", "admin_key", "x-admin-token", "x-admin-key"}
)
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(?::\d{1,5})?")


class HostError(CrawlerError):
    """This is not served under that name."""

    code = "host"
    http_status = 400


class FramingError(CrawlerError):
    """The request says in two ways where its body ends."""

    code = "framing"
    http_status = 400


class TooLongError(CrawlerError):
    """The address is too long."""

    code = "address_too_long"
    http_status = 414


class TooLargeError(CrawlerError):
    """The body is too large."""

    code = "body_too_large"
    http_status = 413


class TooSlowError(CrawlerError):
    """The body does not arrive."""

    code = "body_too_slow"
    http_status = 408


class SecretInUrlError(CrawlerError):
    """A secret does not belong in an address, where logs and histories keep it."""

    code = "secret_in_url"
    http_status = 400


class NullByteError(CrawlerError):
    """An address has no place for a NUL."""

    code = "null_byte"
    http_status = 422


class Guards:
    """What is asked of every request before anything else."""

    def __init__(self, settings: Settings) -> None:
        self._hosts = settings.served_hosts
        tokens = (settings.admin_token, settings.api_secret_key)
        self._tokens = [each.get_secret_value() for each in tokens if each.get_secret_value()]

    async def admit(self, scope: Scope, receive: Receive) -> Receive:
        """Let a request pass, with its body read; else refuse it."""
        headers = Headers(scope=scope)
        _check_framing(headers)
        self._check_host(headers)
        self._check_address(scope)
        return await _body_of(headers, receive)

    def _check_host(self, headers: Headers) -> None:
        """Whoever points a name of their own at this address reads nothing (DNS rebinding)."""
        given = headers.getlist("host")
        found = _HOST.fullmatch(given[0].lower()) if len(given) == 1 else None
        if found is None or found["name"] not in self._hosts:
            raise HostError(hint="PUBLIC_HOSTS names those that are")

    def _check_address(self, scope: Scope) -> None:
        query: bytes = scope["query_string"]
        path: bytes = scope.get("raw_path") or b""
        if len(query) > MAX_QUERY_BYTES or len(path) > MAX_PATH_BYTES:
            raise TooLongError
        if "\x00" in scope["path"] or b"%00" in query:
            raise NullByteError
        if self._has_secret(scope["path"], query.decode("latin-1")):
            raise SecretInUrlError(hint="send it as the header X-Admin-Token, or X-API-Key")

    def _has_secret(self, path: str, query: str) -> bool:
        if path.startswith("/web/"):
            return self._holds_token([path])  # the rest is an archived page's own
        fields = parse_qsl(query, keep_blank_values=True)
        named = any(name.lower() in SECRET_NAMES for name, _ in fields)
        spelt = [path, *(part for field in fields for part in field)]
        return named or self._holds_token(spelt)

    def _holds_token(self, parts: list[str]) -> bool:
        return any(token in part for token in self._tokens for part in parts)


def _check_framing(headers: Headers) -> None:
    """Refuse a request of which a proxy may take another part for the body than this server does."""
    if "content-length" in headers and "transfer-encoding" in headers:
        raise FramingError(hint="send Content-Length or Transfer-Encoding, not both")


async def _body_of(headers: Headers, receive: Receive) -> Receive:
    """The body, read whole, so that nobody further in waits for it or has too much of it."""
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > MAX_BODY_BYTES:
        raise TooLargeError
    if declared in {"", "0"} and "transfer-encoding" not in headers:
        return receive
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await _read(receive)
    except TimeoutError:
        raise TooSlowError from None
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed


async def _read(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise TooLargeError
        if not message.get("more_body", False):
            return bytes(body)
