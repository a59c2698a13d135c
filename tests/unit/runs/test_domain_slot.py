"""A domain of a run in one process: how far ahead it leases, and what may go out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import define, evolve, field
from scrapy.utils.defer import deferred_f_from_coro_f

from crawler.runs.domain_slot import LARGEST_WINDOW, STOPPED, DomainSlot, Over, most_out
from crawler.runs.sources import Source
from crawler.runs.store import RunAtWork
from crawler.runs.task_ends import Release
from crawler.runs.worker import RunWorker
from crawler.sessions.journal import Journal
from crawler.sessions.rows import Fence, SessionOrder
from crawler.sessions.visit import Visit
from tests.unit.runs.queues import DOMAIN, leased
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.leases.rows import Lease
    from crawler.runs.tasks import LeasedTask

SOURCE = Source.of_url(f"https://{DOMAIN}/")


def a_run_at_work() -> RunAtWork:
    """A run of one domain, without pauses."""
    return RunAtWork(1, SOURCE, resumed=False, scope=SOURCE.scope, max_attempts=3, jitter_seconds=0)


@define
class Worker:
    """What a slot takes from its worker; it is its own store and renewer."""

    at_once: int = 1
    run: RunAtWork = field(factory=a_run_at_work)
    over: Over | None = None
    woken: asyncio.Event = field(factory=asyncio.Event)
    kept: set[int] = field(factory=set)
    given_back: list[tuple[list[int], Release]] = field(factory=list)
    looked: int = 0

    @property
    def store(self) -> Worker:
        """Itself."""
        return self

    @property
    def outgoing(self) -> Worker:
        """Itself."""
        return self

    def look(self) -> None:
        """There may be something to begin."""
        self.looked += 1

    @property
    def renewer(self) -> Worker:
        """Itself."""
        return self

    def wake(self) -> None:
        """The engine is told."""
        self.woken.set()

    def keep(self, leases: Iterable[Lease]) -> None:
        """These are renewed."""
        self.kept |= {lease.id for lease in leases}

    def forget(self, leases: Iterable[Lease]) -> None:
        """These are not."""
        self.kept -= {lease.id for lease in leases}

    async def written(self, _tasks: list[LeasedTask], write: Callable[..., Any], *given: Any) -> Any:
        """Write at once."""
        return write(*given)

    def give_back(self, tasks: list[LeasedTask], reason: Release) -> None:
        """Remember it."""
        self.given_back.append(([task.lease.id for task in tasks], reason))


def a_slot(at_once: int = 1, window: int = 0) -> DomainSlot:
    """A slot of a domain that is held."""
    key = uuid4()
    order = SessionOrder(f"https://{DOMAIN}/", DOMAIN)
    visit = Visit(Fence(key, "one", 1), order, Journal(str(key), DOMAIN))
    more = {"window": window} if window else {}
    return DomainSlot(Worker(at_once), DOMAIN, visit, **more)  # type: ignore[arg-type]


def some(*numbers: int) -> list[LeasedTask]:
    """Leased tasks."""
    return [leased(number) for number in numbers]


def filled(count: int, **how: int) -> DomainSlot:
    """A slot with so many tasks, of which it had asked for more."""
    slot = a_slot(**how)
    slot.put(some(*range(count)), asked=count + 1)
    return slot


def taken(slot: DomainSlot) -> list[int]:
    """All that may go out now, once it is begun."""
    found: list[int] = []
    while True:
        begin(slot)
        if (task := slot.take()) is None:
            return found
        found.append(task.lease.id)


def begin(slot: DomainSlot) -> None:
    """Have on record what may be begun next."""
    if not slot.is_leaving:
        for task in slot.line.next_ready(most_out(slot.worker)):
            slot.line.begin(task, is_ours=True)


def test_no_more_goes_out_than_the_site_takes_and_one_that_lies_ready() -> None:
    """The downloader has its next request when the site has answered; an answer makes room for one."""
    slot = filled(5)
    assert taken(slot) == [0, 1]
    assert not slot.may_hand_out()
    slot.at_site.discard(0)
    assert taken(slot) == [2]
    assert taken(filled(9, at_once=3)) == [0, 1, 2, 3]


@deferred_f_from_coro_f
async def test_a_pause_comes_between_an_answer_and_the_next_request() -> None:
    """A source's jitter; nothing lies ready in the downloader, which would not wait for it."""
    slot = filled(3)
    slot.worker.run.jitter_seconds = 0.05
    assert taken(slot) == [0]
    woken: asyncio.Event = slot.worker.woken  # type: ignore[attr-defined]
    woken.clear()
    slot.answered(0)
    assert taken(slot) == []
    await asyncio.wait_for(woken.wait(), PATIENCE_SECONDS)
    assert taken(slot) == [1]


def test_what_is_leased_is_renewed_and_may_be_begun() -> None:
    """At once; where nothing came, nobody is told."""
    slot = a_slot()
    worker: Any = slot.worker
    slot.put([], asked=4)
    assert (worker.kept, worker.looked) == (set(), 0)
    slot.put(some(1, 2), asked=4)
    assert (worker.kept, worker.looked) == ({1, 2}, 1)


def test_only_what_is_on_record_as_begun_goes_out() -> None:
    """A few are begun ahead; of those one may have become another's meanwhile, or have been given back."""
    slot = filled(6)
    assert slot.take() is None
    line = slot.line
    first, second = line.next_ready(2)
    assert line.out() == []
    line.begin(first, is_ours=False)
    line.begin(second, is_ours=True)
    line.begin(second, is_ours=True)
    assert line.out() == [second]
    [third] = line.next_ready(2)
    slot.drop(third.lease.id)
    line.begin(third, is_ours=True)
    assert (slot.take(), slot.take()) == (second, None)
    assert line.open.keys() == {1, 3, 4, 5}


def test_leases_are_asked_for_when_half_of_the_window_is_free() -> None:
    """Few transactions, and never a dry downloader."""
    slot = a_slot(window=8)
    assert slot.wanted() == 8
    slot.put(some(*range(8)), asked=9)
    taken(slot)
    for number in range(3):
        slot.ended(number)
        assert slot.wanted() == 0
    slot.ended(3)
    assert slot.wanted() == 4


def test_who_takes_the_last_but_one_half_has_more_leased() -> None:
    """The slot is told when there is room, not before."""
    slot = a_slot(at_once=4, window=4)
    slot.put(some(0, 1, 2), asked=4)
    begin(slot)
    slot.changed.clear()
    slot.take()
    assert not slot.changed.is_set()
    slot.ended(0)
    slot.changed.clear()
    slot.take()
    assert slot.changed.is_set()


def test_the_window_grows_while_it_is_too_small() -> None:
    """It begins small, for what is leased here nobody else can take; it has a bound."""
    slot = a_slot()
    begun = slot.window
    assert begun == 4
    for _ in range(10):
        slot.put(some(*range(slot.window)), asked=slot.window)
        taken(slot)
        slot.drop(*slot.line.open)
        for task_id in list(slot.line.open):
            slot.ended(task_id)
    assert slot.window == LARGEST_WINDOW


def test_the_window_stays_where_tasks_still_lie_ready_or_fewer_came() -> None:
    """Then the site is what takes its time, or the domain has no more."""
    slot = a_slot()
    slot.put(some(0, 1), asked=4)
    slot.put(some(2, 3), asked=2)
    assert slot.window == 4


def test_a_dry_slot_asks_again_when_its_last_task_has_ended() -> None:
    """Until then it would only trouble the database."""
    slot = a_slot()
    slot.put(some(0, 1), asked=4)
    slot.put([], asked=2)
    slot.ended(0)
    assert slot.wanted() == 0
    slot.changed.clear()
    slot.ended(1)
    assert slot.wanted() == 4
    assert slot.changed.is_set()


def test_what_is_no_longer_ours_is_not_handed_out() -> None:
    """What is on its way already comes to its own end, when the store refuses it."""
    slot = filled(4)
    taken(slot)
    slot.drop(1, 2, 99)
    assert slot.line.open.keys() == {0, 1, 3}
    slot.at_site.clear()
    assert taken(slot) == [3]


def test_what_is_leased_again_before_its_loss_was_heard_is_the_new_lease() -> None:
    """As in a process that stood still: what is told of the old one afterwards takes nothing from the new."""
    slot = filled(3)
    assert slot.take() is None
    begin(slot)
    old, again = slot.line.open[0], [evolve(task, lease=evolve(task.lease, epoch=2)) for task in some(0, 1)]
    slot.put(again, asked=9)
    assert [slot.line.is_newest(task.lease) for task in (old, again[0], leased(2), leased(99))] == [
        False, True, True, True,
    ]  # fmt: skip
    assert sorted(task.lease.id for task in slot.line.untouched()) == [0, 1, 2]
    slots_worker: Any = slot.worker
    worker = RunWorker(slots_worker, at_once=1, wake=lambda: None)
    worker.slots, worker.renewer = {DOMAIN: slot}, slots_worker
    worker.ended(old, "lost")
    worker.lose(old.lease)
    assert slot.line.open.keys() == {0, 1, 2}
    worker.lose(again[0].lease)
    assert slot.line.open.keys() == {1, 2}
    slot.at_site.clear()
    assert sorted(taken(slot)) == [1, 2]


@deferred_f_from_coro_f
async def test_what_was_not_begun_is_given_back() -> None:
    """And only that; it says why (SPEC D88)."""
    for over, reason in ((None, Release.LEFT), (STOPPED, Release.STOPPED)):
        slot = filled(4)
        worker: Any = slot.worker
        worker.over = over
        taken(slot)
        begin(slot)
        await slot._give_back()
        assert worker.given_back == [([2, 3], reason)]
        assert slot.line.open.keys() == worker.kept == {0, 1}
        await slot._give_back()
        assert len(worker.given_back) == 1


@deferred_f_from_coro_f
async def test_what_nobody_is_at_is_lost() -> None:
    """Not what lies ready, nor what is just being written."""
    slot = filled(4)
    taken(slot)
    writing = slot.ending[0] = asyncio.ensure_future(asyncio.sleep(0))
    assert [task.lease.id for task in slot.lost()] == [1]
    await writing
    slot.ended(0)
    assert slot.ending == {}


def test_a_slot_that_leaves_hands_nothing_out() -> None:
    """However much it has."""
    slot = filled(4)
    slot.leave()
    assert not slot.may_hand_out()
    assert taken(slot) == []
    assert slot.changed.is_set()
