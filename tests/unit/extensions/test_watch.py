"""A visit that waits for what nobody is at comes to its end; one that is worked on does not."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import signals

from crawler.capture.failures import Cause
from crawler.extensions import watch
from crawler.extensions.watch import LEAVES_AFTER, LOST_AFTER, Watch
from crawler.spiders.visiting import VisitingSpider
from tests.unit.components import Parts, a_request, a_visit, awaited, crawl_parts
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture
def parts() -> Parts:
    """A crawl whose engine has nothing to do; what waits to go out is in `waiting`."""
    made, waiting = crawl_parts(), list[Any]()
    made.crawler.engine._slot = SimpleNamespace(
        closing=None, inprogress=set(), scheduler=SimpleNamespace(has_pending_requests=lambda: bool(waiting))
    )
    made.crawler.waiting = waiting
    return made


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
    parts.crawler.spidercls = VisitingSpider
    visit, slot = parts.visits.add(a_visit()), parts.crawler.engine._slot
    visit.work.add()
    request = a_request(visit=visit)
    if where == "scheduler":
        parts.crawler.waiting.append(request)
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


@pytest.mark.parametrize("why", ["of a run", "closing"])
def test_others_see_to_the_visits_of_runs_and_of_a_crawl_that_closes(parts: Parts, why: str) -> None:
    """A run holds a domain while its tasks wait; what the end of a crawl interrupts is not lost."""
    parts.crawler.spidercls = VisitingSpider
    visit = a_visit(run_id=7) if why == "of a run" else a_visit()
    parts.visits.add(visit).work.add()
    parts.crawler.engine._slot.closing = object() if why == "closing" else None
    look(parts, 2 * LEAVES_AFTER)
    assert parts.visits.stopped == []


def test_it_looks_until_the_crawl_ends(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the engine's start on."""
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0)
    parts.crawler.spidercls = VisitingSpider
    parts.visits.add(a_visit()).work.add()

    async def crawl() -> None:
        made = parts.make(Watch)
        parts.crawler.signals.send_catch_log(signals.engine_started)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not parts.visits.stopped:  # ruff: ignore[async-busy-wait] - the stub has no event
                await asyncio.sleep(0)
        await made.spider_closed()

    awaited(crawl())
