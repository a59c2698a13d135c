"""A domain of a run in one process: how far ahead it leases, and what may go out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import define, evolve, field
from scrapy.utils.defer import deferred_f_from_coro_f

from crawler.runs.domain_slot import LARGEST_WINDOW, DomainSlot, Outgoing, Over, most_out
from crawler.runs.sources import Source
from crawler.runs.store import RunAtWork
from crawler.runs.worker import RunWorker
from crawler.sessions.journal import Journal
from crawler.sessions.rows import Fence, SessionOrder
from crawler.sessions.visit import Visit
from tests.unit.runs.queues import DOMAIN, leased
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    slots: dict[str, DomainSlot] = field(factory=dict)

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


def test_only_tasks_whose_attempt_is_stored_go_out() -> None:
    """A few are begun ahead; of those one may have become another's meanwhile, or have been given back."""
    slot = filled(6)
    assert slot.take() is None
    line = slot.line
    first, second = line.next_ready(2)
    line.begin(first, is_ours=False)
    line.begin(second, is_ours=True)
    line.begin(second, is_ours=True)
    [third] = line.next_ready(2)
    slot.drop(third.lease.id)
    line.begin(third, is_ours=True)
    assert (slot.take(), slot.take()) == (second, None)
    assert line.open.keys() == {1, 3, 4, 5}


def test_leases_are_asked_for_when_half_of_the_window_is_free() -> None:
    """A slot whose last lease brought nothing asks again once its last task has ended."""
    slot = a_slot(window=8)
    assert slot.wanted() == 8
    slot.put(some(*range(8)), asked=9)
    taken(slot)
    for number in range(3):
        slot.ended(number)
        assert slot.wanted() == 0
    slot.ended(3)
    assert slot.wanted() == 4
    slot.put([], asked=4)
    for number in range(4, 8):
        assert slot.wanted() == 0
        slot.ended(number)
    assert slot.wanted() == 8


def test_the_window_grows_while_it_is_too_small() -> None:
    """It begins small, for what is leased here nobody else can take; it has a bound."""
    slot = a_slot()
    slot.put(some(0, 1), asked=4)
    slot.put(some(2, 3), asked=2)
    assert slot.window == 4
    slot.drop(*range(4))
    for _ in range(10):
        slot.put(some(*range(slot.window)), asked=slot.window)
        taken(slot)
        slot.drop(*slot.line.open)
        for task_id in list(slot.line.open):
            slot.ended(task_id)
    assert slot.window == LARGEST_WINDOW


def test_a_task_that_is_no_longer_ours_is_not_handed_out() -> None:
    """What is on its way already comes to its own end, when the store refuses it."""
    slot = filled(4)
    taken(slot)
    slot.drop(1, 2, 99)
    assert slot.line.open.keys() == {0, 1, 3}
    slot.at_site.clear()
    assert taken(slot) == [3]


def test_news_of_an_old_lease_takes_nothing_from_the_new_one() -> None:
    """As in a process that stood still and leased a task again before it heard of its loss."""
    slot = filled(3)
    begin(slot)
    old, again = slot.line.open[0], [evolve(task, lease=evolve(task.lease, epoch=2)) for task in some(0, 1)]
    slot.put(again, asked=9)
    slots_worker: Any = slot.worker
    worker = RunWorker(slots_worker, at_once=1, wake=lambda: None)
    worker.slots, worker.renewer = {DOMAIN: slot}, slots_worker
    worker.ended(old, "lost")
    worker.lose(old.lease)
    assert slot.line.open.keys() == {0, 1, 2}
    worker.lose(again[0].lease)
    assert slot.line.open.keys() == {1, 2}
    assert sorted(taken(slot)) == [1, 2]


def test_a_slot_that_leaves_hands_nothing_out() -> None:
    """However much it has."""
    slot = filled(4)
    slot.leave()
    assert taken(slot) == []


def suspect(number: int) -> LeasedTask:
    """A task under which a worker died."""
    task = leased(number)
    return evolve(task, lease=evolve(task.lease, deaths=1))


def slot_with(waiting: list[LeasedTask], out: Iterable[LeasedTask] = ()) -> DomainSlot:
    """A slot of which some tasks are out and others ready."""
    slot = a_slot()
    for task in out:
        slot.put([task], asked=9)
        slot.line.begin(task, is_ours=True)
    slot.put(waiting, asked=9)
    return slot


def begun_next(*slots: DomainSlot) -> list[int]:
    """The ids of the tasks that may be begun now in a worker with these slots."""
    worker: Any = Worker()
    worker.slots = {str(number): slot for number, slot in enumerate(slots)}
    return [task.lease.id for task in Outgoing(worker).next()]


def test_a_suspect_is_begun_alone() -> None:
    """A task under which a worker died waits until nothing is out, and nothing is begun beside it."""
    one, two = leased(1), leased(2)
    assert begun_next(slot_with([one]), slot_with([two])) == [1, 2]
    waiting = slot_with([one, suspect(3)])
    assert begun_next(waiting, slot_with([suspect(4)], [two])) == []
    assert begun_next(waiting, slot_with([two])) == [3]
    assert begun_next(slot_with([one]), slot_with([], [suspect(3)])) == []
    leaving = slot_with([two])
    leaving.leave()
    assert begun_next(leaving, slot_with([one])) == [1]
