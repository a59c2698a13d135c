"""What every request passes on its way in, and every answer on its way out.

From the outside: an id and the log's line, the headers that keep browsers safe, the last resort for errors,
then the guards, which refuse before anything is read: hosts, sizes, tokens in URLs.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING
from uuid import uuid4

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import Request

from crawler import logs
from crawler.errors import CrawlerError
from crawler.web import errors
from crawler.web.cors import Cors
from crawler.web.guards import FramingError, Guards
from crawler.web.limits import Limits
from crawler.web.proxies import Proxies

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from crawler.config import Settings

log = logs.get_logger(__name__)
API_VERSION = "1"
_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
HSTS = "max-age=31536000"
OPERATORS = ("/admin", "/api/admin", "/audits", "/metrics")  # nothing of theirs stays in a cache
# A route that says something else of these keeps what it says.
SAFE_HEADERS = {
    "X-API-Version": API_VERSION,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Entrance:
    """The way in and out."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._guards = Guards(settings)
        self._limits = Limits(settings.rate_limit_per_minute)
        self._cors = Cors(settings.reading_origins)
        self._proxies = Proxies(settings.trusted_proxies)
        self._policy = _policy(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        through = self._proxies.seen_through(scope)
        own = {"Content-Security-Policy": self._policy, **self._cors.headers_for(through)}
        visit = _Visit(through, receive, send, own)
        with structlog.contextvars.bound_contextvars(request_id=visit.id):
            try:
                await self._guarded(visit)
            finally:
                visit.write_down()

    async def _guarded(self, visit: _Visit) -> None:
        try:
            receive = await self._guards.admit(visit.scope, visit.receive)
            self._limits.admit(visit.client, visit.scope["path"], visit.scope["query_string"])
            app = self._cors.answer(visit.scope) or self._app
            await app(visit.as_get(), receive, visit.send)
        except CrawlerError as refused:
            answer = errors.answer(visit.request, refused)
            if isinstance(refused, FramingError):
                answer.headers["Connection"] = "close"  # what follows may be another request, or none
            await visit.answer_with(answer)
        except Exception as error:  # ruff: ignore[blind-except] - the last resort: one answer, one log entry
            await visit.answer_with(errors.unforeseen(visit.request, error))


class _Visit:
    """One request and its answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, own: dict[str, str]) -> None:
        self.scope, self.receive = scope, receive
        self.request = Request(scope)
        given = self.request.headers.get("x-request-id", "")
        self.id = given if _PLAIN_ID.fullmatch(given) else str(uuid4())
        scope.setdefault("state", {})["request_id"] = self.id
        self._send = send
        self._own = {**SAFE_HEADERS, **own}
        self.client: str = (scope.get("client") or ("?",))[0]
        self._began = time.monotonic()
        self._status = 0

    def as_get(self) -> Scope:
        """A HEAD is a GET whose body the server leaves out."""
        return {**self.scope, "method": "GET"} if self.scope["method"] == "HEAD" else self.scope

    async def send(self, message: Message) -> None:
        """Pass an answer on, with its headers."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            headers["X-Request-Id"] = self.id
            if self.scope["path"].startswith(OPERATORS):
                headers["Cache-Control"] = "no-store"
            for name, value in self._own.items():
                headers.setdefault(name, value)
            if self.scope["scheme"] == "https":
                headers.setdefault("Strict-Transport-Security", HSTS)
        await self._send(message)

    async def answer_with(self, response: ASGIApp) -> None:
        """Answer, unless an answer is under way, which then breaks off."""
        if not self._status:
            await response(self.scope, self.receive, self.send)
            return
        raise ConnectionAbortedError("an answer broke off")

    def write_down(self) -> None:
        """The log's line; a query may hold anything, and stays out of it."""
        log.info(
            "http.request",
            method=self.scope["method"], path=self.scope["path"], status=self._status,
            ms=round((time.monotonic() - self._began) * 1000), client=self.client,
        )  # fmt: skip


def _policy(settings: Settings) -> str:
    """What a page of ours may load: what we serve, and archived pages in a frame."""
    frames = f"'self' {settings.replay_base_url}".strip()
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"frame-src {frames}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
