"""A visit that waits for what nobody is at comes to its end; one that is worked on does not."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from scrapy import signals
from scrapy.core.scheduler import BaseScheduler

from crawler.capture.failures import Cause
from crawler.extensions import watch
from crawler.extensions.watch import LEAVES_AFTER, LOST_AFTER, Watch
from crawler.spiders.visiting import VisitingSpider
from tests.unit.components import Parts, a_request, a_visit, awaited, crawl_parts
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from scrapy import Request


@pytest.fixture
def parts() -> Parts:
    """A crawl whose engine has nothing to do."""
    made = crawl_parts()
    made.crawler.engine._slot = SimpleNamespace(closing=None, inprogress=set(), scheduler=Scheduler())
    return made


class Scheduler(BaseScheduler):
    """What has not gone out yet."""

    def __init__(self) -> None:
        self.waiting: list[Request] = []

    def has_pending_requests(self) -> bool:
        """Whether there is any."""
        return bool(self.waiting)

    def enqueue_request(self, request: Request) -> bool:
        """Take a request."""
        self.waiting.append(request)
        return True

    def next_request(self) -> Request | None:
        """Hand one out."""
        return self.waiting.pop() if self.waiting else None


def look(parts: Parts, times: int) -> Watch:
    """Look so often."""
    made = parts.make(Watch)
    for _ in range(times):
        made.look()
    return made


def test_a_visit_whose_request_is_nowhere_ends_as_lost(parts: Parts) -> None:
    """Not at the first look: what passes from hand to hand is nowhere for a moment."""
    parts.crawler.spidercls = VisitingSpider
    visit = parts.visits.add(a_visit())
    visit.work.add()
    watching = look(parts, LOST_AFTER - 1)
    assert parts.visits.stopped == []
    watching.look()
    watching.look()
    assert parts.visits.stopped == [(visit.id, Cause.LOST)]


@pytest.mark.parametrize("where", ["scheduler", "engine", "between"])
def test_a_visit_that_is_worked_on_goes_on(parts: Parts, where: str) -> None:
    """Its request waits to go out, is at the site, or is being read; or something of it is now and then."""
    visit, slot = parts.visits.add(a_visit()), parts.crawler.engine._slot
    visit.work.add()
    request = a_request(visit=visit)
    if where == "scheduler":
        slot.scheduler.waiting.append(request)
    elif where == "engine":
        slot.inprogress.add(request)
    watching = parts.make(Watch)
    for number in range(3 * LOST_AFTER):
        if where == "between" and number % LOST_AFTER == LOST_AFTER - 1:
            slot.inprogress.add(request)
        watching.look()
        if where == "between":
            slot.inprogress.clear()
    assert parts.visits.stopped == []


def test_the_visit_of_a_spider_that_knows_of_none_ends_well_when_it_is_quiet(parts: Parts) -> None:
    """Nothing is lost there: its pages are stored, and its domain is let go of before the crawl is over."""
    visit, woken = parts.visits.add(a_visit()), []
    visit.wake = lambda: woken.append(visit.stopped)
    look(parts, LEAVES_AFTER - 1)
    assert woken == []
    look(parts, LEAVES_AFTER)
    assert woken == [None]
    assert parts.visits.stopped == []


def test_a_runs_visits_are_the_runs_business(parts: Parts) -> None:
    """It holds a domain while its tasks wait for their next try."""
    visit: Any = a_visit()
    visit.order = evolve(visit.order, run_id=7)
    parts.visits.add(visit).work.add()
    look(parts, 2 * LEAVES_AFTER)
    assert parts.visits.stopped == []


def test_a_crawl_that_closes_ends_its_visits_itself(parts: Parts) -> None:
    """What it interrupts is not lost."""
    parts.visits.add(a_visit()).work.add()
    parts.crawler.engine._slot.closing = object()
    look(parts, 2 * LOST_AFTER)
    assert parts.visits.stopped == []


def test_it_looks_for_as_long_as_the_crawl_lasts(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the engine's start to the spider's end."""
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0)

    async def crawl() -> None:
        made, send = parts.make(Watch), parts.crawler.signals
        looks, seen = iter(range(3)), asyncio.Event()

        def look() -> None:
            if next(looks, None) is None:
                seen.set()

        monkeypatch.setattr(made, "look", look)
        send.send_catch_log(signals.engine_started)
        await asyncio.wait_for(seen.wait(), PATIENCE_SECONDS)
        await made.spider_closed()
        seen.clear()
        await asyncio.sleep(0)
        assert not seen.is_set()

    awaited(crawl())
