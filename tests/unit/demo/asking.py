"""Asks the demo as a plain HTTP client does, and follows nothing."""

from __future__ import annotations

import socket
from contextlib import closing
from http.client import HTTPConnection, HTTPMessage
from urllib.parse import urlsplit

from attrs import frozen

from tests.waiting import PATIENCE_SECONDS

AGENT = "vitrine-tests/1.0"


@frozen
class Answer:
    """What came back."""

    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        """The body as the header says to read it."""
        return self.body.decode(self.headers.get_content_charset() or "utf-8")


def ask(url: str, method: str = "GET", **headers: str) -> Answer:
    """The answer to one request; underscores in header names stand for hyphens."""
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.netloc, timeout=PATIENCE_SECONDS)) as connection:
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        fields = {"User-Agent": AGENT} | {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, headers=fields)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())


def read(url: str) -> str:
    """The text of a page that must be there."""
    answer = ask(url)
    assert answer.status == 200, (url, answer.status)
    return answer.text


def send(url: str, *, raw: bytes) -> bytes:
    """Everything that the server says to `raw` before it hangs up."""
    host = urlsplit(url)
    with socket.create_connection((host.hostname, host.port), timeout=PATIENCE_SECONDS) as link:
        link.sendall(raw)
        return b"".join(iter(lambda: link.recv(65536), b""))
