"""Sessions side by side, one a domain at a time, each seen through to its end, whatever its pages come to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from scrapy import Request, signals
from scrapy.exceptions import CloseSpider
from twisted.python.failure import Failure

from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.errors import UsageError
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.spiders.visiting import VisitingSpider, refusal
from tests.unit.components import HOME, a_request, a_visit, an_answer, awaited, crawl_parts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from crawler.sessions.visit import Visit
    from tests.unit.components import Parts

    Queued = tuple[UUID, SessionOrder]


class Shops(VisitingSpider):
    """Asks for one page a visit; its pages come back when the test says so."""

    name = "shops"

    def __init__(self, parts: Parts, queued: Sequence[Queued]) -> None:
        super().__init__()
        self.visits = parts.visits  # type: ignore[assignment]
        self.queued = queued
        self.has_ended_all = False

    async def orders(self) -> Sequence[Queued]:
        """What the test has queued."""
        return self.queued

    def opening(self, visit: Visit) -> Request:
        """The given page."""
        return a_request(visit.order.url, visit, cb_kwargs={"visit": visit})

    async def all_ended(self) -> None:
        """Remember it."""
        self.has_ended_all = True


class Beginning:
    """Begins visits and ends them, and remembers in which order."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.slots = asyncio.Semaphore(16)
        self.events: list[str] = []
        self.errors: dict[str, Exception] = {}  # by domain
        self.stopped_early: set[str] = set()  # domains

    async def begin(self, session_id: UUID, order: SessionOrder) -> Visit | None:
        """A visit, or what the test says."""
        if error := self.errors.get(order.url):
            raise error
        visit = a_visit(order.domain)
        self.events.append(f"begun {order.url}")
        if order.domain in self.stopped_early:
            visit.stop(Cause.LOCK_LOST)
        self.parts.visits.add(visit)
        visit.order = order
        await asyncio.sleep(0)
        return visit

    async def end(self, visit: Visit) -> None:
        """The visit is over."""
        await asyncio.sleep(0)
        self.events.append(f"ended {visit.order.url}")


@pytest.fixture
def parts() -> Parts:
    """A crawl."""
    return crawl_parts()


def queue(*urls: str) -> list[Queued]:
    """Sessions for these URLs."""
    return [(uuid4(), SessionOrder(url, url.split("/")[2])) for url in urls]


async def run(spider: Shops, beginning: Beginning) -> list[str]:
    """The URLs that are asked for; each page is back, and kept, as soon as it was asked for."""
    asked = []
    spider.visits = beginning  # type: ignore[assignment]
    async for request in spider.start():
        asked.append(request.url)
        beginning.events.append(f"asked {request.url}")
        request.cb_kwargs["visit"].work.remove()
    return asked


def crawled(parts: Parts, *urls: str, **how: Any) -> tuple[list[str], Shops]:
    """What happened, in its order."""

    async def work() -> list[str]:
        beginning = Beginning(parts)
        for name, value in how.items():
            setattr(beginning, name, value)
        await run(spider, beginning)
        return beginning.events

    spider = Shops(parts, queue(*urls))
    return awaited(work()), spider


A1, A2, B = "https://a.example/1", "https://a.example/2", "https://b.example/"


def test_sessions_of_one_domain_follow_each_other(parts: Parts) -> None:
    """The second begins after the first has ended; another domain's waits for neither."""
    events, spider = crawled(parts, A1, A2, B)
    assert [event for event in events if "a.example" in event] == [
        f"begun {A1}", f"asked {A1}", f"ended {A1}", f"begun {A2}", f"asked {A2}", f"ended {A2}",
    ]  # fmt: skip
    assert events.index(f"begun {B}") < events.index(f"ended {A1}")
    assert spider.has_ended_all


@pytest.mark.parametrize("error", [StaleSessionError("taken"), RuntimeError("a bug")])
def test_a_session_that_cannot_be_begun_costs_no_other(parts: Parts, error: Exception) -> None:
    """The next one of its domain is begun all the same."""
    events, _ = crawled(parts, A1, A2, errors={A1: error})
    assert events == [f"begun {A2}", f"asked {A2}", f"ended {A2}"]


def test_a_session_that_was_stopped_already_asks_for_nothing(parts: Parts) -> None:
    """Its domain was lost between the lock and the start."""
    events, _ = crawled(parts, A1, stopped_early={"a.example"})
    assert events == [f"begun {A1}", f"ended {A1}"]


def test_a_crawl_that_is_refused_tells_why(parts: Parts) -> None:
    """To whoever listens; what then ends the spider goes by the error's code."""
    told: list[tuple[str, dict[str, Any]]] = []
    parts.visits.listeners.append(lambda event, **fields: told.append((event, fields)))
    error = refusal(parts.visits, UsageError("no such thing", hint="do that"))  # type: ignore[arg-type]
    assert isinstance(error, CloseSpider)
    assert error.reason == UsageError.code
    assert told == [
        ("refused", {"exit_code": 2, "code": UsageError.code, "error": "no such thing", "hint": "do that"})
    ]


# ── what comes of pages and requests ──


@pytest.fixture
def visit(parts: Parts) -> Visit:
    """A visit with one page under way."""
    visit = parts.visits.add(a_visit())
    visit.work.add()
    return visit


def page_of(visit: Visit) -> PageCapture:
    """A page of it."""
    return PageCapture(session_id=visit.id, page_type="homepage", url=HOME)


@pytest.mark.parametrize("signal", [signals.item_dropped, signals.item_error])
def test_a_page_that_got_lost_ends_its_session(parts: Parts, visit: Visit, signal: object) -> None:
    """A pipeline of somebody else's may drop it before ours; evidence must not be missing in silence."""
    Shops(parts, ()).page_left(page_of(visit), signal)
    assert (visit.work.over.is_set(), parts.visits.stopped) == (True, [(visit.id, Cause.STORE_FAILED)])


def test_a_page_that_got_lost_after_it_was_stored_is_there(parts: Parts, visit: Visit) -> None:
    """What drops it then only keeps it out of feeds."""
    page = page_of(visit)
    visit.kept[page.page_id] = None  # type: ignore[assignment]
    Shops(parts, ()).page_left(page, signals.item_dropped)
    assert parts.visits.stopped == []


def test_an_error_in_a_callback_ends_its_session(parts: Parts, visit: Visit) -> None:
    """And no other; the first reason stays."""
    other, woken = parts.visits.add(a_visit("other.example")), []
    visit.wake = lambda: woken.append(visit.id)
    spider, answer = Shops(parts, ()), an_answer(a_request(HOME, visit))
    for _ in range(2):
        spider.callback_failed(Failure(ValueError("odd")), answer)  # type: ignore[no-untyped-call]
    spider.callback_failed(Failure(ValueError("odd")), None)  # type: ignore[no-untyped-call]
    assert visit.stopped is not None
    assert (visit.stopped.cause, woken, other.stopped) == (Cause.CRASHED, [visit.id], None)
