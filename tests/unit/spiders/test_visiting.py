"""Sessions side by side, one a domain at a time, each seen through to its end, whatever its pages come to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from attrs import define, field
from scrapy import Request, signals
from twisted.python.failure import Failure

from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.spiders.visiting import VisitingSpider
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

    def __init__(self, visits: Any, urls: Sequence[str] = ()) -> None:
        super().__init__()
        self.visits, self.urls = visits, urls

    async def orders(self) -> Sequence[tuple[UUID, SessionOrder]]:
        """A session for each URL."""
        return [(uuid4(), SessionOrder(url, url.split("/")[2])) for url in self.urls]

    def opening(self, visit: Visit) -> Request:
        """The given page."""
        return a_request(visit.order.url, visit, cb_kwargs={"visit": visit})


@define
class Beginning:
    """Begins visits and ends them, and remembers in which order."""

    errors: dict[str, Exception] = field(factory=dict)  # by URL
    stopped_early: set[str] = field(factory=set)  # URLs
    slots: asyncio.Semaphore = field(factory=lambda: asyncio.Semaphore(16))
    events: list[str] = field(factory=list)
    running: dict[str, Visit] = field(factory=dict)

    async def begin(self, _session_id: UUID, order: SessionOrder) -> Visit:
        """A visit, or what the test says."""
        if error := self.errors.get(order.url):
            raise error
        visit = self.running[order.url] = a_visit(order.domain)
        visit.order = order
        self.events.append(f"begun {order.url}")
        if order.url in self.stopped_early:
            visit.stop(Cause.LOCK_LOST)
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


def crawled(*urls: str, **how: Any) -> list[str]:
    """What happened, in its order; each page is back, and kept, as soon as it was asked for."""

    async def work() -> list[str]:
        beginning = Beginning(**how)
        async for request in Shops(beginning, urls).start():
            beginning.events.append(f"asked {request.url}")
            request.cb_kwargs["visit"].work.remove()
        return beginning.events

    return awaited(work())


A1, A2, B = "https://a.example/1", "https://a.example/2", "https://b.example/"


def test_sessions_of_one_domain_follow_each_other() -> None:
    """The second begins after the first has ended; another domain's waits for neither."""
    events = crawled(A1, A2, B)
    assert [event for event in events if "a.example" in event] == [
        f"begun {A1}", f"asked {A1}", f"ended {A1}", f"begun {A2}", f"asked {A2}", f"ended {A2}",
    ]  # fmt: skip
    assert events.index(f"begun {B}") < events.index(f"ended {A1}")


@pytest.mark.parametrize("error", [StaleSessionError("taken"), RuntimeError("a bug")])
def test_a_session_that_cannot_be_begun_costs_no_other(error: Exception) -> None:
    """The next one of its domain is begun all the same."""
    events = crawled(A1, A2, errors={A1: error})
    assert events == [f"begun {A2}", f"asked {A2}", f"ended {A2}"]


def test_a_session_that_was_stopped_already_asks_for_nothing() -> None:
    """Its domain was lost between the lock and the start."""
    events = crawled(A1, stopped_early={A1})
    assert events == [f"begun {A1}", f"ended {A1}"]


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
    Shops(parts.visits).page_left(page_of(visit), signal)
    assert (visit.work.over.is_set(), parts.visits.stopped) == (True, [(visit.id, Cause.STORE_FAILED)])


def test_a_page_that_got_lost_after_it_was_stored_is_there(parts: Parts, visit: Visit) -> None:
    """What drops it then only keeps it out of feeds."""
    page = page_of(visit)
    visit.kept[page.page_id] = None  # type: ignore[assignment]
    Shops(parts.visits).page_left(page, signals.item_dropped)
    assert parts.visits.stopped == []


def test_an_error_in_a_callback_ends_its_session(parts: Parts, visit: Visit) -> None:
    """And no other; the first reason stays."""
    other, woken = parts.visits.add(a_visit("other.example")), []
    visit.wake = lambda: woken.append(visit.id)
    spider, answer = Shops(parts.visits), an_answer(a_request(HOME, visit))
    for _ in range(2):
        spider.callback_failed(Failure(ValueError("odd")), answer)  # type: ignore[no-untyped-call]
    spider.callback_failed(Failure(ValueError("odd")), None)  # type: ignore[no-untyped-call]
    assert visit.stopped is not None
    assert (visit.stopped.cause, woken, other.stopped) == (Cause.CRASHED, [visit.id], None)


def test_a_request_that_the_scheduler_would_not_have_ends_its_session(parts: Parts, visit: Visit) -> None:
    """Its callback will never hear of it."""
    Shops(parts.visits).request_lost(a_request(HOME, visit))
    assert visit.stopped is not None
