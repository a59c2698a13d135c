"""A domain of a run in one process: how far ahead it leases, and what may go out."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from scrapy.utils.defer import deferred_f_from_coro_f

from crawler.runs.domain_slot import LARGEST_WINDOW, DomainSlot
from crawler.sessions.journal import Journal
from crawler.sessions.rows import Fence, SessionOrder
from crawler.sessions.visit import Visit
from tests.unit.runs.queues import DOMAIN, leased


def a_lane(at_once: int = 1, window: int = 0) -> DomainSlot:
    """A lane of a domain that is held."""
    session_id = uuid4()
    visit = Visit(
        Fence(session_id, "one", 1),
        SessionOrder(f"https://{DOMAIN}/", DOMAIN),
        Journal(str(session_id), DOMAIN),
    )
    return DomainSlot(visit, at_once, leave_at=0, window=window)


def filled(count: int, **how: int) -> DomainSlot:
    """A lane with so many tasks, of which it had asked for more."""
    lane = a_lane(**how)
    lane.put(map(leased, range(count)), asked=count + 1)
    return lane


def taken(lane: DomainSlot) -> list[int]:
    """All that may go out now."""
    found = []
    while task := lane.take():
        found.append(task.lease.id)
    return found


def test_no_more_goes_out_than_the_site_takes_and_one_that_lies_ready() -> None:
    """The downloader has its next request when the site has answered; an answer makes room for one."""
    lane = filled(5)
    assert taken(lane) == [0, 1]
    assert not lane.may_hand_out
    lane.at_site.discard(0)
    assert taken(lane) == [2]
    assert taken(filled(9, at_once=3)) == [0, 1, 2, 3]


@deferred_f_from_coro_f
async def test_a_pause_comes_between_an_answer_and_the_next_request() -> None:
    """A source's jitter; nothing lies ready in the downloader, which would not wait for it."""
    lane = filled(3)
    lane.jitter_seconds = 0.05
    woken = asyncio.Event()
    assert taken(lane) == [0]
    lane.answered(0, woken.set)
    assert taken(lane) == []
    await asyncio.wait_for(woken.wait(), 30)
    assert taken(lane) == [1]


def test_leases_are_asked_for_when_half_of_the_window_is_free() -> None:
    """Few transactions, and never a dry downloader."""
    lane = a_lane(window=8)
    assert lane.wanted() == 8
    lane.put(map(leased, range(8)), asked=9)
    taken(lane)
    for number in range(3):
        lane.ended(number)
        assert lane.wanted() == 0
    lane.ended(3)
    assert lane.wanted() == 4


def test_the_window_grows_while_it_is_too_small() -> None:
    """It begins small, for what is leased here nobody else can take; it has a bound."""
    lane = a_lane()
    begun = lane.window
    assert begun == 4
    for _ in range(10):
        lane.put(map(leased, range(lane.window)), asked=lane.window)
        taken(lane)
        for task_id in list(lane.open):
            lane.ended(task_id)
        lane.give_up()
    assert lane.window == LARGEST_WINDOW


def test_the_window_stays_where_tasks_still_lie_ready_or_fewer_came() -> None:
    """Then the site is what takes its time, or the domain has no more."""
    lane = a_lane()
    lane.put(map(leased, range(2)), asked=4)
    lane.put(map(leased, range(2, 4)), asked=2)
    assert lane.window == 4


def test_a_dry_lane_asks_again_when_there_is_news() -> None:
    """Until then it would only trouble the database."""
    lane = a_lane()
    lane.put([], asked=4)
    assert lane.wanted() == 0
    lane.changed.clear()
    lane.moistened()
    assert lane.wanted() == 4
    assert lane.changed.is_set()


def test_what_is_no_longer_ours_is_not_handed_out() -> None:
    """What is on its way already comes to its own end, when the book refuses it."""
    lane = filled(4)
    taken(lane)
    lane.drop([1, 2, 99])
    assert lane.open.keys() == {0, 1, 3}
    lane.at_site.clear()
    assert taken(lane) == [3]


def test_what_was_not_begun_is_given_up() -> None:
    """And only that."""
    lane = filled(4)
    taken(lane)
    assert [task.lease.id for task in lane.give_up()] == [2, 3]
    assert lane.open.keys() == {0, 1}


def test_a_lane_that_leaves_hands_nothing_out() -> None:
    """However much it has."""
    lane = filled(4)
    lane.leave()
    assert not lane.may_hand_out
    assert taken(lane) == []
    assert lane.changed.is_set()
