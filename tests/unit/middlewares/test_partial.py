"""Answers that do not come to their ends keep what came of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError
from scrapy.utils.test import get_crawler
from twisted.internet.defer import fail
from twisted.web.http_headers import Headers

from crawler.crawl.answers import LargeAnswerError, SlowAnswerError, cause_of_error
from crawler.middlewares import partial
from crawler.middlewares.partial import PartialHandler
from tests.unit.components import a_request, awaited

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from twisted.internet.defer import Deferred

PART = b"<html><bo"


class Answer:
    """As Twisted has one: its head, and whoever reads its body."""

    def __init__(self) -> None:
        self.code, self.version, self.length = 200, (b"HTTP", 1, 1), 390
        self.headers = Headers({"X-A": ["b"]})
        self._bodyProtocol: Any = None

    def deliverBody(self, protocol: Any) -> None:  # ruff: ignore[invalid-function-name] - Twisted's
        """Some of it comes at once."""
        self._bodyProtocol = protocol
        peer = SimpleNamespace(host="127.0.0.1")
        protocol.transport = SimpleNamespace(_producer=SimpleNamespace(getPeer=lambda: peer))
        protocol.connectionMade()
        protocol.dataReceived(PART)


def ending(error: Exception, *, begun: bool) -> Callable[..., Any]:
    """A download that ends so, before its answer has begun or in the midst of it."""

    def download(agent: Any, request: Request) -> Deferred[None]:
        if begun:
            agent._cb_bodyready(Answer(), request)
        return fail(error)

    return download


@pytest.mark.parametrize(
    ("error", "kind", "cause", "body"),
    [
        (DownloadTimeoutError("too slow"), SlowAnswerError, "timeout", PART),
        (DownloadCancelledError("too large"), LargeAnswerError, "too_large", b""),
    ],
)
def test_what_came_is_with_the_error(
    monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[Exception], cause: str, body: bytes
) -> None:
    """Which means what it meant; of an answer that grew too large only the head is left."""
    monkeypatch.setattr(partial._Agent, "download_request", ending(error, begun=True))
    with pytest.raises(kind) as raised:
        awaited(PartialHandler(get_crawler()).download_request(a_request()))
    response: Any = raised.value.response  # type: ignore[attr-defined]
    assert (response.status, response.body, response.headers[b"X-A"]) == (200, body, b"b")
    assert (cause_of_error(raised.value), str(raised.value)) == (cause, str(error))


@pytest.mark.parametrize("error", [DownloadTimeoutError("too slow"), DownloadCancelledError("by somebody")])
def test_an_answer_that_never_began_is_none(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """The error is passed on as it is."""
    monkeypatch.setattr(partial._Agent, "download_request", ending(error, begun=False))
    with pytest.raises(type(error)) as raised:
        awaited(PartialHandler(get_crawler()).download_request(a_request()))
    assert raised.value is error
