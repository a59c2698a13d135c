"""What goes over the wire is written; what does not is none of the recorder's business."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import AsyncMock, Mock, call
from uuid import UUID

import pytest
from scrapy.http import Response

from crawler.config import load_settings
from crawler.crawl.answers import LargeAnswerError, NoStoreError, PartialAnswerError, SlowAnswerError
from crawler.crawl.context import RECORD, SESSION
from crawler.evidence.blobs import DiskFullError
from crawler.middlewares.recorder import MOST_WAITING_BYTES, RecorderMiddleware
from crawler.warc.messages import Exchange
from tests.unit.components import a_request, awaited, crawl_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request

    from crawler.evidence.warc_shelf import Order

PACK = str(UUID(int=1))


class Shelf:
    """Takes what is written, or refuses it."""

    def __init__(self) -> None:
        self.written: list[Exchange] = []
        self.times = 0  # that it was asked
        self.error = DiskFullError("no room")  # of what says that it is refused
        self.slow: Future[Any] | None = None

    def append(self, orders: Sequence[Order]) -> Future[Any]:
        """As the real one."""
        self.times += 1
        self.written += [exchange for exchange, _ in orders if isinstance(exchange, Exchange)]
        if self.slow is not None:
            return self.slow
        done: Future[Any] = Future()
        done.set_result([self.error if b"refused" in each.body else "a place" for each, _ in orders])
        return done


@pytest.fixture
def shelf() -> Shelf:
    """Takes everything."""
    return Shelf()


@pytest.fixture
def recorder(shelf: Shelf) -> RecorderMiddleware:
    """The middleware of a crawl that is recorded."""
    parts = crawl_parts(WARC_DIR="warcs")
    parts.context.settings = load_settings({"warc_dir": "warcs"})
    parts.context.is_recorded = lambda _session: True
    parts.context.fail_run = Mock(return_value=False)
    recorder = parts.make(RecorderMiddleware)
    visits: Any = SimpleNamespace(open=AsyncMock(return_value=SimpleNamespace(shelf=shelf)), tell=Mock())
    recorder.visits = visits
    return recorder


def answered(recorder: RecorderMiddleware, request: Request, **how: Any) -> Response:
    """A request that goes out, and what comes back."""

    async def way() -> Response:
        await recorder.process_request(request)
        recorder.answer_began(request)
        return await recorder.process_response(request, Response(request.url, request=request, **how))

    return awaited(way())


def test_an_answer_is_written_as_it_came(recorder: RecorderMiddleware, shelf: Shelf) -> None:
    """With its headers, but for the password of a proxy; who keeps the page learns where the record is."""
    request = a_request()
    request.headers["X-Ours"], request.headers["Proxy-Authorization"] = "1", "Basic secret"
    answered(
        recorder, request, status=404, body=b"packed", protocol="HTTP/1.0",
        headers={"Set-Cookie": ["a=1", "b=2"], "Content-Encoding": "br"}, flags=["dataloss"],
    )  # fmt: skip
    [exchange] = shelf.written
    assert (exchange.url, exchange.status, exchange.reason) == (request.url, 404, b"Not Found")
    assert (exchange.protocol, exchange.body, exchange.truncated) == (b"HTTP/1.0", b"packed", "disconnect")
    assert exchange.headers == (
        (b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2"), (b"Content-Encoding", b"br"),
    )  # fmt: skip
    assert (b"X-Ours", b"1") in exchange.request_headers
    assert b"Proxy-Authorization" not in dict(exchange.request_headers)
    assert request.meta[RECORD] == "a place"


def test_what_was_not_let_out_is_not_written(recorder: RecorderMiddleware, shelf: Shelf) -> None:
    """A saved or cached page; and where another answer lay says nothing of it."""
    request = a_request()
    request.meta[RECORD] = "of the redirect before"
    awaited(recorder.process_response(request, Response(request.url, request=request)))
    assert shelf.written == []
    assert RECORD not in request.meta


def test_a_slow_disk_holds_requests_up(recorder: RecorderMiddleware, shelf: Shelf) -> None:
    """Memory is not filled with what waits to be written."""

    async def way() -> bool:
        shelf.slow = Future()
        first, second = a_request(), a_request()
        await recorder.process_request(first)
        writing = asyncio.ensure_future(
            recorder.process_response(first, Response(first.url, body=bytes(MOST_WAITING_BYTES)))
        )
        await asyncio.sleep(0)
        going = asyncio.ensure_future(recorder.process_request(second))
        done, _ = await asyncio.wait([going], timeout=0.05)
        was_held = not done
        shelf.slow.set_result(["a place"])
        await writing
        await going
        return was_held

    assert awaited(way())


@pytest.mark.parametrize("is_run", [False, True])
def test_a_crawl_that_cannot_be_recorded_ends(recorder: RecorderMiddleware, *, is_run: bool) -> None:
    """With the reason; a run fails, gives back what is under way, and closes its spider itself."""
    close, fail_run = AsyncMock(), Mock(return_value=is_run)
    engine: Any = SimpleNamespace(close_spider_async=close)
    recorder.crawler.engine = engine
    recorder.context.fail_run = fail_run  # type: ignore[method-assign]

    async def way() -> None:
        request = a_request()
        await recorder.process_request(request)
        with pytest.raises(DiskFullError if is_run else NoStoreError):
            await recorder.process_response(request, Response(request.url, body=b"refused"))
        await asyncio.sleep(0)

    awaited(way())
    fail_run.assert_called_once_with("no room")
    assert close.await_args_list == ([] if is_run else [call(reason="disk_full")])


def test_answers_of_one_moment_are_written_together(recorder: RecorderMiddleware, shelf: Shelf) -> None:
    """One that is refused, or that nobody waits for any more, costs the others nothing."""

    async def answer(body: bytes) -> object:
        request = a_request()
        await recorder.process_request(request)
        await recorder.process_response(request, Response(request.url, body=body))
        return request.meta[RECORD]

    async def way() -> list[object]:
        answers = [asyncio.ensure_future(answer(body)) for body in (b"1", b"refused", b"left", b"2")]
        await asyncio.sleep(0)
        answers[2].cancel()
        return await asyncio.gather(*answers, return_exceptions=True)

    recorder.context.fail_run = Mock(return_value=True)  # type: ignore[method-assign]
    one, refused, left, two = awaited(way())
    assert (one, two) == ("a place", "a place")
    assert isinstance(refused, DiskFullError)
    assert isinstance(left, asyncio.CancelledError)
    assert shelf.times == 1
    assert [each.body for each in shelf.written] == [b"1", b"refused", b"left", b"2"]


def test_what_comes_after_the_end_is_an_error(recorder: RecorderMiddleware, shelf: Shelf) -> None:
    """The shelf takes nothing any more; nobody waits for ever."""
    shelf.append = Mock(side_effect=RuntimeError("closed"))  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="closed"):
        answered(recorder, a_request())


def test_an_answer_that_breaks_off_is_written(recorder: RecorderMiddleware, shelf: Shelf) -> None:
    """As far as it came; other errors have nothing to write."""

    async def way(error: Exception) -> None:
        request = a_request()
        await recorder.process_request(request)
        assert await recorder.process_exception(request, error) is None  # type: ignore[func-returns-value]

    def part(flag: str) -> Response:
        return Response(a_request().url, body=b"<html><bo", flags=[flag])

    awaited(way(PartialAnswerError(part("dataloss"), "lost")))
    awaited(way(SlowAnswerError(part("too_slow"), "slow")))
    awaited(way(LargeAnswerError(part("too_large"), "large")))
    awaited(way(TimeoutError()))
    assert [each.truncated for each in shelf.written] == ["disconnect", "time", "length"]
    assert {each.body for each in shelf.written} == {b"<html><bo"}


def test_of_several_sessions_those_are_recorded_that_want_it() -> None:
    """Each in its own file, whatever the crawl that runs it was asked for; a retry is asked as the first."""
    shelf, parts = Shelf(), crawl_parts()
    parts.context.records_sessions = True
    parts.context.has_own_warc = parts.context.is_recorded = lambda session: session == PACK
    recorder = parts.make(RecorderMiddleware)
    stores = SimpleNamespace(shelf=None, open_spool=lambda: shelf)
    recorder.visits = SimpleNamespace(open=AsyncMock(return_value=stores))  # type: ignore[assignment]
    for session in (PACK, str(UUID(int=2)), ""):
        answered(recorder, a_request(meta={SESSION: session}))
    assert len(shelf.written) == 1
