"""What a visit waits for, and that its first reason to stop is the one that stays."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from crawler.capture.failures import Cause, Summary
from crawler.sessions.outcome import Outcome, PageResult, Status, outcome_of
from crawler.sessions.visit import Outstanding
from tests.unit.components import a_visit, awaited


def test_a_visit_goes_by_its_sessions_id() -> None:
    """The same text as in requests and logs."""
    visit = a_visit()
    assert visit.id == str(visit.fence.session_id) == visit.journal.session_id


def test_the_first_reason_to_stop_stays() -> None:
    """What comes after it is a consequence."""
    visit = a_visit()
    assert visit.stop(Cause.LOCK_LOST)
    assert not visit.stop(Cause.CRASHED, Summary.LOCK_TIMEOUT)
    assert visit.stopped == Outcome(Status.FAILED, Summary.CRAWL_FAILED, Cause.LOCK_LOST)


def test_nobody_is_woken_before_somebody_waits() -> None:
    """A session may be stopped before its spider has heard of it."""
    assert a_visit().wake() is None


async def _until_the_last(outstanding: Outstanding) -> list[str]:
    said = []
    for name in ("one", "two"):
        outstanding.add()
        said.append(f"{name} out")
    waiting = asyncio.ensure_future(outstanding.over.wait())
    for name in ("one", "two"):
        outstanding.remove()
        await asyncio.sleep(0)
        said.append(f"{name} back, {'over' if waiting.done() else 'waiting'}")
    return said


def test_who_waits_goes_on_after_the_last_one() -> None:
    """Not after the first."""
    said = awaited(_until_the_last(Outstanding()))
    assert said == ["one out", "two out", "one back, waiting", "two back, over"]


def test_what_was_over_is_not_when_more_goes_out() -> None:
    """A page's callback asks for the next one."""
    outstanding = Outstanding()
    outstanding.add()
    outstanding.remove()
    assert outstanding.over.is_set()
    outstanding.add()
    assert not outstanding.over.is_set()


@pytest.mark.parametrize(
    ("causes", "status", "cause"),
    [
        ([], Status.FAILED, Cause.LOST),
        ([Cause.BLOCKED, Cause.BLOCKED], Status.FAILED, Cause.BLOCKED),
        ([Cause.ROBOTS_REFUSED], Status.FAILED, Cause.ROBOTS_REFUSED),
        ([None, Cause.TIMEOUT], Status.PARTIAL, Cause.TIMEOUT),
        ([Cause.ROBOTS_REFUSED, None], Status.COMPLETED, None),
        ([None], Status.COMPLETED, None),
    ],
)
def test_what_came_of_others_requests_is_how_their_visit_ends(
    causes: list[Cause | None], status: Status, cause: Cause | None
) -> None:
    """A spider that knows of no visits tells nobody: whatever fails all of them fails its session."""
    visit = a_visit()
    visit.expect()
    for each in causes:
        visit.came(each, "https://shop.example/p/1")
    ended = outcome_of(visit.results)
    assert (ended.status, ended.cause) == (status, cause)


def test_a_page_that_is_stored_is_something() -> None:
    """Of a visit of which nothing else was heard."""
    visit = a_visit()
    visit.expect()
    visit.kept[uuid4()] = PageResult("page")
    assert outcome_of(visit.results).status == Status.COMPLETED
