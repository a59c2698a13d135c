"""A page as it is now: asked for once, and told as what it says or why it says nothing; nothing is kept."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import CloseSpider
from twisted.internet.error import DNSLookupError
from twisted.python.failure import Failure

from crawler.capture.failures import Cause
from crawler.config import load_settings
from crawler.crawl import context as contexts
from crawler.db.engine import DatabaseUnavailableError
from crawler.errors import NotFoundError, UsageError
from crawler.html.content import NOTHING_IGNORED, content_of
from crawler.reading.readers import ReadingFailedError
from crawler.spiders import live
from crawler.spiders.live import LiveSpider
from tests.unit.components import Visits, a_request, an_answer, awaited, crawl_parts

if TYPE_CHECKING:
    from crawler.html.content import Content, ContentQuestion

PAGE = b"<html><title>Jug</title><main><h1>Jug</h1><p>A jug of clay.</p></main></html>"
WANTED = live._Wanted("https://shop.example/jug", NOTHING_IGNORED)


class OpenVisits(Visits):
    """Those of a crawl that has a store, which nobody asks here."""

    settings = None

    async def open(self) -> Any:
        """It is there."""
        return SimpleNamespace(database=None)


class Readers:
    """Reads in this process, or dies of it."""

    dies = False

    async def content(self, question: ContentQuestion) -> Content:
        """What is to be told of a page."""
        if self.dies:
            raise ReadingFailedError("it died")
        return content_of(question)


@pytest.fixture
def spider(monkeypatch: pytest.MonkeyPatch) -> Any:
    """One that is asked about a snapshot; what it tells is kept in `said`."""
    parts = crawl_parts()
    parts.context.visits = OpenVisits()
    made: Any = LiveSpider(snapshot="7")
    made.crawler, made.said = parts.crawler, []
    parts.context.visits.listeners.append(lambda event, **fields: made.said.append((event, fields)))
    parts.context.readers = Readers()
    monkeypatch.setattr(contexts.CrawlContext, "of", lambda _crawler: parts.context)
    return made


def told(spider: Any) -> dict[str, Any]:
    """The one thing that it tells; when, is told too."""
    [(event, fields)] = spider.said
    assert (event, bool(fields.pop("fetched_at"))) == ("live", True)
    return dict(fields)


def answered(spider: Any, body: bytes = PAGE, status: int = 200, **headers: str) -> dict[str, Any]:
    """What it tells of an answer."""
    awaited(spider.parse(an_answer(a_request(WANTED.url), body, status, **headers), WANTED))
    return told(spider)


@pytest.mark.parametrize(
    "given",
    [{}, {"snapshot": ""}, {"snapshot": "-1"}, {"snapshot": "1e3"}, {"snapshot": "1;drop"}, {"url": "x"},
     {"snapshot": "1", "url": "https://shop.example/"}],
)  # fmt: skip
def test_it_takes_a_number_and_nothing_else(given: dict[str, str]) -> None:
    """An address of somebody's choice is none of an archive's."""
    with pytest.raises(UsageError):
        LiveSpider.prepared(load_settings({}), given)


def test_the_page_of_the_snapshot_is_asked_for(spider: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever status it has comes back; somebody waits."""
    monkeypatch.setattr(live, "run_in_thread", asyncio.to_thread)
    monkeypatch.setattr(live, "_wanted", lambda *_: WANTED)
    [request] = awaited(_all(spider.start()))
    assert request.url == WANTED.url
    assert {404, 503} <= set(request.meta["handle_httpstatus_list"])


@pytest.mark.parametrize("error", [NotFoundError("no snapshot 7"), DatabaseUnavailableError("away")])
def test_a_snapshot_that_cannot_be_had_is_told(
    spider: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """As the error that it is; nothing is asked for."""

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(live, "run_in_thread", asyncio.to_thread)
    monkeypatch.setattr(live, "_wanted", fail)
    with pytest.raises(CloseSpider):
        awaited(_all(spider.start()))
    [(event, fields)] = spider.said
    assert (event, fields["error"]) == ("refused", str(error))


def test_what_a_page_says_is_told(spider: Any) -> None:
    """With where it was found."""
    said = answered(spider)
    assert (said["title"], said["status_code"], said["url"], said["problem"]) == ("Jug", 200, WANTED.url, "")
    assert "A jug of clay." in said["text"]


@pytest.mark.parametrize(
    ("status", "kind", "cause"),
    [(404, "text/html", Cause.HTTP_ERROR), (403, "text/html", Cause.BLOCKED),
     (200, "application/pdf", Cause.NOT_HTML), (200, "IMAGE/PNG", Cause.NOT_HTML)],
)  # fmt: skip
def test_an_answer_that_is_no_page_is_a_cause(spider: Any, status: int, kind: str, cause: Cause) -> None:
    """No text is told of it."""
    said = answered(spider, status=status, Content_Type=kind)
    assert said == {"cause": cause, "url": WANTED.url, "status_code": status}


def test_a_page_that_kills_its_reader_is_one(spider: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which nothing is known but that."""
    monkeypatch.setattr(Readers, "dies", True)
    assert answered(spider)["cause"] is Cause.UNREADABLE


def test_an_answer_that_never_came_is_one(spider: Any) -> None:
    """By what kept it away."""
    spider.failed(Failure(DNSLookupError()))  # type: ignore[no-untyped-call]
    assert told(spider).keys() == {"cause"}


async def _all(requests: Any) -> list[Any]:
    return [each async for each in requests]
