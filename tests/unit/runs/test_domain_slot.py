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
    """A slot of a domain that is held."""
    session_id = uuid4()
    visit = Visit(
        Fence(session_id, "one", 1),
        SessionOrder(f"https://{DOMAIN}/", DOMAIN),
        Journal(str(session_id), DOMAIN),
    )
    return DomainSlot(visit, at_once, leave_at=0, window=window)


def filled(count: int, **how: int) -> DomainSlot:
    """A slot with so many tasks, of which it had asked for more."""
    slot = a_lane(**how)
    slot.put(map(leased, range(count)), asked=count + 1)
    return slot


def taken(slot: DomainSlot) -> list[int]:
    """All that may go out now."""
    found = []
    while task := slot.take():
        found.append(task.lease.id)
    return found


def test_no_more_goes_out_than_the_site_takes_and_one_that_lies_ready() -> None:
    """The downloader has its next request when the site has answered; an answer makes room for one."""
    slot = filled(5)
    assert taken(slot) == [0, 1]
    assert not slot.may_hand_out
    slot.at_site.discard(0)
    assert taken(slot) == [2]
    assert taken(filled(9, at_once=3)) == [0, 1, 2, 3]


@deferred_f_from_coro_f
async def test_a_pause_comes_between_an_answer_and_the_next_request() -> None:
    """A source's jitter; nothing lies ready in the downloader, which would not wait for it."""
    slot = filled(3)
    slot.jitter_seconds = 0.05
    woken = asyncio.Event()
    assert taken(slot) == [0]
    slot.answered(0, woken.set)
    assert taken(slot) == []
    await asyncio.wait_for(woken.wait(), 30)
    assert taken(slot) == [1]


def test_leases_are_asked_for_when_half_of_the_window_is_free() -> None:
    """Few transactions, and never a dry downloader."""
    slot = a_lane(window=8)
    assert slot.wanted() == 8
    slot.put(map(leased, range(8)), asked=9)
    taken(slot)
    for number in range(3):
        slot.ended(number)
        assert slot.wanted() == 0
    slot.ended(3)
    assert slot.wanted() == 4


def test_the_window_grows_while_it_is_too_small() -> None:
    """It begins small, for what is leased here nobody else can take; it has a bound."""
    slot = a_lane()
    begun = slot.window
    assert begun == 4
    for _ in range(10):
        slot.put(map(leased, range(slot.window)), asked=slot.window)
        taken(slot)
        for task_id in list(slot.open):
            slot.ended(task_id)
        slot.give_up()
    assert slot.window == LARGEST_WINDOW


def test_the_window_stays_where_tasks_still_lie_ready_or_fewer_came() -> None:
    """Then the site is what takes its time, or the domain has no more."""
    slot = a_lane()
    slot.put(map(leased, range(2)), asked=4)
    slot.put(map(leased, range(2, 4)), asked=2)
    assert slot.window == 4


def test_a_dry_lane_asks_again_when_there_is_news() -> None:
    """Until then it would only trouble the database."""
    slot = a_lane()
    slot.put([], asked=4)
    assert slot.wanted() == 0
    slot.changed.clear()
    slot.moistened()
    assert slot.wanted() == 4
    assert slot.changed.is_set()


def test_what_is_no_longer_ours_is_not_handed_out() -> None:
    """What is on its way already comes to its own end, when the book refuses it."""
    slot = filled(4)
    taken(slot)
    slot.drop([1, 2, 99])
    assert slot.open.keys() == {0, 1, 3}
    slot.at_site.clear()
    assert taken(slot) == [3]


def test_what_was_not_begun_is_given_up() -> None:
    """And only that."""
    slot = filled(4)
    taken(slot)
    assert [task.lease.id for task in slot.give_up()] == [2, 3]
    assert slot.open.keys() == {0, 1}


def test_a_lane_that_leaves_hands_nothing_out() -> None:
    """However much it has."""
    slot = filled(4)
    slot.leave()
    assert not slot.may_hand_out
    assert taken(slot) == []
    assert slot.changed.is_set()
