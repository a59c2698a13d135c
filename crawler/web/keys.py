"""A token: whether somebody has it, and what stands for it in a browser."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

COOKIE = "vitrine_admin_key"
COOKIE_PATH = "/admin"
LOGIN_LASTS = timedelta(days=1)
BEARER = "bearer"
HEADERS = ("x-admin-token", "x-admin-key")
API_HEADERS = ("x-api-key",)


class Keys:
    """Compares, in the same time whatever is given; the token itself never leaves."""

    def __init__(self, token: str, headers: Sequence[str] = HEADERS) -> None:
        """Take the token, and the headers in which it may come besides `Authorization`."""
        self._token = token.encode()
        self._headers = headers

    @property
    def is_set(self) -> bool:
        """Whether there is a token."""
        return bool(self._token)

    def opens(self, given: str) -> bool:
        """Whether that is the token."""
        return self.is_set and hmac.compare_digest(_digest(given.encode()), _digest(self._token))

    def in_headers(self, headers: Mapping[str, str]) -> bool:
        """Whether a program sends the token along."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = [headers[name] for name in self._headers if name in headers]
        if scheme.lower() == BEARER:
            given.append(bearer.strip())
        return sum(map(self.opens, given)) > 0  # each is compared, whatever the others are

    def login(self, now: datetime) -> str:
        """Return what a browser keeps instead of the token: when it ends and a number of its own, sealed."""
        login = f"{int((now + LOGIN_LASTS).timestamp())}-{secrets.token_hex(8)}"
        return f"{login}.{self._seal('login', login)}"

    def is_login(self, cookie: str, now: datetime) -> bool:
        """Return whether a browser has logged in, and not too long ago."""
        login, _, seal = cookie.partition(".")
        is_sealed = self.is_set and _same(seal, self._seal("login", login))
        return is_sealed and now.timestamp() < int(login.partition("-")[0])

    def form_token(self, cookie: str) -> str:
        """What a form of this login carries, and a form of another site cannot know."""
        return self._seal("form", cookie)

    def is_form_token(self, given: str, cookie: str) -> bool:
        """Whether a form came from a page of this login."""
        return self.is_set and _same(given, self.form_token(cookie))

    def _seal(self, purpose: str, text: str) -> str:
        return hmac.digest(self._token, f"{purpose}:{text}".encode(), "sha256").hex()


def _digest(given: bytes) -> bytes:
    return hashlib.sha256(given).digest()


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())
