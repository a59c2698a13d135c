"""Evidence for spiders that do not collect it themselves."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import TextResponse

from crawler.capture.failures import Cause, Summary
from crawler.evidence.blobs import DiskFullError
from crawler.middlewares.capture import CaptureMiddleware
from crawler.pdp import reading_of
from crawler.reading.readers import ReadingFailedError
from crawler.sessions.outcome import Outcome, Status, outcome_of
from crawler.sessions.rows import StaleSessionError
from tests.unit.components import a_request, a_visit, an_answer, awaited, crawl_parts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.http import Response

    from crawler.pdp import PageQuestion, Reading
    from tests.unit.components import Parts

PAGE = b"<html><head><title>Jug</title></head><body><h1>Jug</h1><p>of stone</p></body></html>"


class Readers:
    """Reads here, or not at all."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def read(self, question: PageQuestion) -> Reading:
        """As the reading processes do."""
        if self.error:
            raise self.error
        return reading_of(question)


def output_of(parts: Parts, answer: Response) -> list[Any]:
    """What comes out behind a callback that asks the page something and yields one item."""
    middleware = parts.make(CaptureMiddleware)

    async def callback() -> AsyncIterator[str]:
        await asyncio.sleep(0)
        if isinstance(answer, TextResponse):
            answer.css("a")
        yield "an item"

    async def collect() -> list[Any]:
        middleware.process_spider_input(answer)
        return [each async for each in middleware.process_spider_output(answer, callback())]

    return awaited(collect())


def output(
    parts: Parts, status: int = 200, body: bytes = PAGE, flags: Sequence[str] = (), **headers: str
) -> list[Any]:
    """What comes out behind a callback that yields one item."""
    visit = next(iter(parts.visits.known.values()), None)
    answer = an_answer(a_request(visit=visit), body, status, **headers).replace(flags=flags)
    return output_of(parts, answer)


@pytest.fixture
def parts() -> Parts:
    """A crawl of a spider that knows no sessions, in one."""
    parts = crawl_parts(CAPTURE_PAGES=True)
    parts.context.readers = Readers()
    page = SimpleNamespace(id="p1", status="ok")
    parts.visits.keeping = lambda capture: SimpleNamespace(page=page, files=(), capture=capture)
    parts.visits.add(a_visit(crawl_policy_version="v1.3"))
    return parts


def test_the_page_is_kept_and_no_item(parts: Parts) -> None:
    """Judged by the policy of its session; the spider's pipelines and feeds do not see it."""
    assert output(parts, Content_Type="text/html") == ["an item"]
    [capture] = parts.visits.stored
    assert (capture.page_type, capture.body, capture.content_type) == ("page", PAGE, "text/html")
    assert capture.session_id in parts.visits.running
    assert capture.verdict is not None
    assert capture.verdict.policy == "v1.3"


def test_what_is_no_page_is_not_kept(parts: Parts) -> None:
    """An empty body, a picture, what cannot be read, what a cache or an ended session gave."""
    assert output(parts, body=b"") == ["an item"]
    assert output(parts, body=b"\x89PNG\r\n\x1a\n" + bytes(64), Content_Type="image/png") == ["an item"]
    parts.context.readers = Readers(ReadingFailedError("no"))
    assert output(parts) == ["an item"]
    parts.context.readers = Readers()
    assert output(parts, flags=["cached"]) == ["an item"]
    parts.visits.running.clear()
    assert output(parts) == ["an item"]
    assert parts.visits.stored == []


def test_an_error_page_that_a_callback_handles_is_kept(parts: Parts) -> None:
    """It shows no product; one that is not there is what was asked for, any other has its cause."""
    assert output(parts, 404) == output(parts, 500) == ["an item"]
    gone, broken = parts.visits.stored
    assert (gone.http_status, gone.cause, gone.verdict, gone.facts) == (404, None, None, None)
    assert (broken.http_status, broken.cause, broken.body) == (500, Cause.HTTP_ERROR, PAGE)


def test_a_store_that_refuses_a_page_ends_the_crawl(parts: Parts) -> None:
    """It is told once, and no callback is blamed for it."""
    closed: list[str] = []

    async def close_spider_async(reason: str) -> None:
        closed.append(reason)
        await asyncio.sleep(0)

    def keeping(_: Any) -> None:
        raise DiskFullError("no space left")

    parts.crawler.engine.close_spider_async = close_spider_async
    parts.visits.keeping = keeping
    told: list[tuple[str, Any]] = []
    parts.visits.listeners.append(lambda event, **fields: told.append((event, fields["exit_code"])))
    assert output(parts) == output(parts) == ["an item"]
    assert (closed, told) == (["disk_full"], [("refused", 1)])


def test_a_page_that_is_not_stored_costs_no_item(parts: Parts) -> None:
    """The session is somebody else's by now."""

    def keeping(_: Any) -> None:
        raise StaleSessionError

    parts.visits.keeping = keeping
    assert output(parts) == ["an item"]
    assert parts.visits.stopped == []


@pytest.mark.parametrize("keeps", [True, False])
def test_what_became_no_page_is_noted(parts: Parts, *, keeps: bool) -> None:
    """An error, a bot's block, a callback that failed; an answer that is not kept is one all the same."""
    parts.crawler = crawl_parts(CAPTURE_PAGES=keeps).crawler
    [visit] = parts.visits.running.values()
    visit.expect()
    assert output(parts, 403) == ["an item"]
    assert outcome_of(visit.results) == Outcome(Status.FAILED, Summary.BLOCKED, Cause.BLOCKED)
    visit.kept = {key: result for key, result in visit.kept.items() if isinstance(key, Cause)}
    assert output(parts, body=b"<p>Attention required</p>", Content_Type="text/html") == ["an item"]
    answer = an_answer(a_request(visit=visit))
    parts.make(CaptureMiddleware).process_spider_exception(answer, ValueError("theirs"))
    assert visit.kept.keys() == {Cause.BLOCKED, Cause.BOT_BLOCK, Cause.CRASHED}
    assert outcome_of(visit.results).status == Status.FAILED
    assert output(parts, body=b'{"a": 1}', Content_Type="application/json") == ["an item"]
    assert outcome_of(visit.results).status == Status.PARTIAL
