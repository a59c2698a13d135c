"""How a session ends: the status that follows from its pages, and the first reason to stop."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from crawler.capture.failures import Cause, Summary
from crawler.sessions.outcome import Outcome, PageResult, Status, outcome_of
from crawler.sessions.visit import Outstanding
from tests.unit.components import a_visit, awaited

BLOCKED = Cause.BLOCKED
HOME, PDP = PageResult("homepage"), PageResult("pdp")
NO_HOME, NO_PDP, LATE_PDP = (
    PageResult("homepage", BLOCKED), PageResult("pdp", BLOCKED), PageResult("pdp", Cause.TIMEOUT),
)  # fmt: skip


@pytest.mark.parametrize(
    ("pages", "missing", "expected"),
    [
        ([HOME, PDP], None, Outcome(Status.COMPLETED)),
        ([HOME], Cause.NO_CANDIDATES, Outcome(Status.PARTIAL, Summary.PDP_NOT_FOUND, Cause.NO_CANDIDATES)),
        ([HOME, NO_PDP], Cause.BLOCKED, Outcome(Status.PARTIAL, Summary.PDP_NOT_FOUND, Cause.BLOCKED)),
        ([NO_HOME, PDP], None, Outcome(Status.PARTIAL, Summary.SOME_FAILED, Cause.BLOCKED)),
        ([NO_HOME], Cause.NO_CANDIDATES, Outcome(Status.FAILED, Summary.BLOCKED, Cause.BLOCKED)),
        ([NO_HOME, NO_PDP], BLOCKED, Outcome(Status.FAILED, Summary.BLOCKED, BLOCKED)),
        ([NO_HOME, LATE_PDP], BLOCKED, Outcome(Status.FAILED, Summary.ALL_FAILED, BLOCKED)),
        ([NO_HOME, HOME], Cause.NO_CANDIDATES, Outcome(Status.FAILED, Summary.ALL_FAILED, BLOCKED)),
        ([], None, Outcome(Status.COMPLETED)),
        ([], Cause.NO_CANDIDATES, Outcome(Status.FAILED, Summary.ALL_FAILED, Cause.NO_CANDIDATES)),
    ],
)
def test_the_status_follows_from_the_pages(
    pages: list[PageResult], missing: Cause | None, expected: Outcome
) -> None:
    """A cause that all failed pages share is the session's summary."""
    assert outcome_of(pages, missing) == expected


def test_sessions_of_other_spiders_are_summed_up_by_pages() -> None:
    """Their summary speaks of pages, not of viewports."""
    ok, late = PageResult("page"), PageResult("page", Cause.TIMEOUT)
    blocked = PageResult("page", BLOCKED)
    some, every = (outcome_of(pages, has_viewports=False) for pages in ([ok, late], [blocked, late]))
    assert (some.status, some.summary) == (Status.PARTIAL, "Some pages failed")
    assert (every.status, every.summary) == (Status.FAILED, "All pages failed")


@pytest.mark.parametrize(
    ("causes", "is_stored", "status", "cause"),
    [
        ([], False, Status.FAILED, Cause.LOST),
        ([], True, Status.COMPLETED, None),
        ([Cause.BLOCKED, Cause.BLOCKED], False, Status.FAILED, Cause.BLOCKED),
        ([Cause.ROBOTS_REFUSED], False, Status.FAILED, Cause.ROBOTS_REFUSED),
        ([None, Cause.TIMEOUT], False, Status.PARTIAL, Cause.TIMEOUT),
        ([Cause.ROBOTS_REFUSED, None], False, Status.COMPLETED, None),
    ],
)
def test_the_visit_of_another_spider_ends_as_its_requests_did(
    causes: list[Cause | None], status: Status, cause: Cause | None, *, is_stored: bool
) -> None:
    """Such a spider reports nothing: a visit of which nothing came has failed."""
    visit = a_visit()
    visit.expect()
    if is_stored:
        visit.kept[uuid4()] = PageResult("page")
    for each in causes:
        visit.came(each, "https://shop.example/p/1")
    ended = outcome_of(visit.results)
    assert (ended.status, ended.cause) == (status, cause)


def test_the_first_reason_to_stop_stays() -> None:
    """What comes after it is a consequence."""
    visit = a_visit()
    assert visit.stop(Cause.LOCK_LOST)
    assert not visit.stop(Cause.CRASHED, Summary.LOCK_TIMEOUT)
    assert visit.stopped == Outcome(Status.FAILED, Summary.CRAWL_FAILED, Cause.LOCK_LOST)


def test_a_visit_waits_for_its_last_page() -> None:
    """Not for its first; another one that is asked for is waited for again."""

    async def work() -> None:
        outstanding = Outstanding()
        outstanding.add()
        outstanding.add()
        waiting = asyncio.ensure_future(outstanding.over.wait())
        for is_over in (False, True):
            outstanding.remove()
            await asyncio.sleep(0)
            assert waiting.done() is is_over
        outstanding.add()
        assert not outstanding.over.is_set()

    awaited(work())
