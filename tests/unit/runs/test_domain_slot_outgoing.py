"""What may be begun next: a little of each domain, and a suspect only by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field

from crawler.runs.domain_slot import Outgoing
from tests.unit.runs.queues import leased

if TYPE_CHECKING:
    from crawler.runs.tasks import LeasedTask

ONE, TWO = "one.example", "two.example"


@define
class Slot:
    """A domain, and what of it lies ready and is out."""

    waits: list[LeasedTask] = field(factory=list)
    gone: list[LeasedTask] = field(factory=list)
    is_leaving: bool = False

    @property
    def line(self) -> Slot:
        """Itself."""
        return self

    def next_ready(self, most: int) -> list[LeasedTask]:
        """What may be begun."""
        return self.waits[:most]

    def out(self) -> list[LeasedTask]:
        """What is begun."""
        return self.gone


@define
class Worker:
    """Whose slots they are."""

    slots: dict[str, Slot]
    at_once: int = 1

    @property
    def run(self) -> Worker:
        """Itself, without pauses."""
        return self

    jitter_seconds: float = 0


def suspect(number: int, domain: str) -> LeasedTask:
    """A task under which a worker died."""
    task = leased(number, domain)
    return evolve(task, lease=evolve(task.lease, deaths=1))


def next_of(**slots: Slot) -> list[int]:
    """The ids of what may be begun."""
    worker: Any = Worker(slots)
    return [task.lease.id for task in Outgoing(worker).next()]


def test_all_domains_are_served_at_once() -> None:
    """What each has room for, in one write; one that leaves has none."""
    gone = Slot([leased(3, TWO)], is_leaving=True)
    assert next_of(gone=gone) == []
    assert next_of(one=Slot([leased(1, ONE)], [leased(9, ONE)]), two=Slot([leased(2, TWO)])) == [1, 2]


def test_a_suspect_waits_until_nothing_is_out() -> None:
    """And nothing else is begun before it, or it might wait for ever."""
    suspects = Slot([leased(1, ONE), suspect(2, ONE)])
    others = Slot([leased(3, TWO), suspect(4, TWO)], [leased(5, TWO)])
    assert next_of(one=suspects, two=others) == []
    others.gone.clear()
    assert next_of(one=suspects, two=others) == [2]


def test_nothing_comes_beside_a_suspect() -> None:
    """Until it has ended it is the only one that could bring this process down."""
    assert next_of(one=Slot([leased(1, ONE)]), two=Slot([], [suspect(2, TWO)])) == []
    assert next_of(one=Slot([leased(1, ONE)]), two=Slot()) == [1]
