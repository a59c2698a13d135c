"""The keeper renews, notices a loss once, and is stopped by nothing that others do."""

from __future__ import annotations

import threading
import time
from queue import Empty, Queue
from typing import TYPE_CHECKING
from unittest.mock import ANY

import pytest

from crawler.access.gate import Held
from crawler.access.keeper import Keeper, Lost
from tests.unit.access.fake_gate import AWAY, FakeGate

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

TTL = 0.15
HELD = Held("example.com", "5c1e", "vitrine:one")
OTHER = Held("other.example", "0ff5", "vitrine:two")


class Losses:
    """What `on_lost` was told."""

    def __init__(self) -> None:
        self.told: Queue[tuple[Held, Lost]] = Queue()

    def hear(self, held: Held, why: Lost) -> None:
        """Note a loss."""
        self.told.put((held, why))

    def next(self) -> tuple[Held, Lost]:
        """The next loss; the test fails if there is none soon."""
        return self.told.get(timeout=5)

    def none_for(self, seconds: float) -> bool:
        """Whether nothing is lost for that long."""
        try:
            self.told.get(timeout=seconds)
        except Empty:
            return True
        return False


@pytest.fixture
def losses() -> Losses:
    """A listener."""
    return Losses()


@pytest.fixture
def keepers() -> Generator[Callable[..., Keeper]]:
    """Makes keepers and closes them."""
    made: list[Keeper] = []

    def make(gate: FakeGate, *, ttl: float = TTL, session_max: float = 60) -> Keeper:
        made.append(Keeper(gate, ttl, session_max))
        return made[-1]

    yield make
    for keeper in made:
        keeper.close()


def test_renews_three_times_a_ttl(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """A lock that its gate confirms is held for as long as it is wanted."""
    gate = FakeGate()
    keepers(gate).keep(HELD, losses.hear)
    assert losses.none_for(TTL * 4)
    assert 6 <= gate.calls.count("extend") <= 13


def test_lost_lock_is_told_once(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """The first refusal ends it: nothing is renewed or told again."""
    gate = FakeGate(extends=[True, False])
    keepers(gate).keep(HELD, losses.hear)
    assert losses.next() == (HELD, Lost.LOCK)
    calls = len(gate.calls)
    assert losses.none_for(TTL)
    assert len(gate.calls) == calls


def test_forgotten_lock_is_left_alone(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """After a release nobody is told that the lock is gone."""
    gate = FakeGate(extends=[False])
    keeper = keepers(gate)
    keeper.keep(HELD, losses.hear)
    keeper.forget(HELD)
    assert losses.none_for(TTL)
    assert gate.calls == []


def test_lock_forgotten_during_renewal_is_not_lost(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """A renewal that meets the release on its way finds no lock, which is as it should be."""
    asked, go_on = threading.Event(), threading.Event()

    class SlowGate(FakeGate):
        def extend(self, held: Held) -> bool:
            asked.set()
            go_on.wait(5)
            return False

    keeper = keepers(SlowGate())
    keeper.keep(HELD, losses.hear)
    assert asked.wait(5)
    keeper.forget(HELD)
    go_on.set()
    assert losses.none_for(TTL)


def test_short_absence_of_the_gate_is_tolerated(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """Two unanswered calls in the middle of a lock's life cost nothing."""
    gate = FakeGate(extends=[AWAY, AWAY, True])
    keepers(gate, ttl=0.6).keep(HELD, losses.hear)
    assert losses.none_for(1.2)


def test_long_absence_of_the_gate_is_a_loss(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """When the lock's own time has run out and nobody could be asked, it counts as lost."""
    began = time.monotonic()
    keepers(FakeGate(extends=[AWAY])).keep(HELD, losses.hear)
    assert losses.next() == (HELD, Lost.LOCK)
    assert TTL <= time.monotonic() - began < TTL + 2


def test_absent_gate_is_asked_once_a_round(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """A call that ran into its timeout is not repeated for each of many locks."""
    rounds: list[float] = []

    class SlowAbsence(FakeGate):
        def extend(self, held: Held) -> bool:
            rounds.append(time.monotonic())
            time.sleep(0.05)
            raise AWAY

    keeper = keepers(SlowAbsence(), ttl=0.3)
    began = time.monotonic()
    for number in range(20):
        keeper.keep(Held(f"{number}.example", str(number), f"vitrine:{number}"), losses.hear)
    lost = {losses.next()[0].domain for _ in range(20)}
    assert len(lost) == 20
    assert time.monotonic() - began < 2
    assert len(rounds) < 12


def test_session_that_takes_too_long_is_ended(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """SESSION_MAX_SECONDS is another reason than a lost lock."""
    keepers(FakeGate(), session_max=0.1).keep(HELD, losses.hear)
    assert losses.next() == (HELD, Lost.TIME)


def test_delay_is_not_the_sessions_time(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """A session that has to wait long under its lock has its whole time afterwards."""
    keepers(FakeGate(), session_max=0.1).keep(HELD, losses.hear, delay=0.4)
    assert losses.none_for(0.4)
    assert losses.next() == (HELD, Lost.TIME)


def test_further_lock_ends_with_its_session(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """A host that a session enters late gives it no more time."""
    keeper = keepers(FakeGate(), session_max=0.3)
    keeper.keep(HELD, losses.hear)
    time.sleep(0.2)
    further = Held("cdn.example.com", HELD.session_id, "vitrine:three")
    keeper.keep(further, losses.hear)
    assert {losses.next() for _ in range(2)} == {(HELD, Lost.TIME), (further, Lost.TIME)}


def test_late_keeper_asks_at_once(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """A process that was stopped between taking and keeping its lock learns at once that it is gone."""
    keeper = keepers(FakeGate(extends=[False]), ttl=300, session_max=1200)
    keeper.keep(HELD, losses.hear, since=time.monotonic() - 400)
    assert losses.next() == (HELD, Lost.LOCK)


def test_failing_listeners_stop_nothing(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """A listener or a heartbeat that raises costs the other sessions nothing."""

    def refuse(held: Held, why: object = None) -> None:
        raise RuntimeError("no")

    keeper = keepers(FakeGate(extends=[True, True, False]))
    keeper.keep(HELD, refuse, beat=refuse)
    keeper.keep(OTHER, losses.hear, beat=refuse)
    assert losses.next() == (OTHER, Lost.LOCK)


def test_unforeseen_error_stops_nothing(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """A gate that breaks in a new way for one lock goes on keeping the others."""

    class BrokenGate(FakeGate):
        def extend(self, held: Held) -> bool:
            if held == OTHER:
                raise RuntimeError("never seen before")
            return True

    keeper = keepers(BrokenGate())
    keeper.keep(OTHER, losses.hear)
    keeper.keep(HELD, losses.hear)
    assert losses.next() == (OTHER, Lost.LOCK)
    assert losses.none_for(TTL * 2)


def test_heart_beats_at_each_renewal(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """The session's heartbeat is the keeper's, also while the gate is away."""
    beats: Queue[Held] = Queue()
    keeper = keepers(FakeGate(extends=[AWAY, True]))
    keeper.keep(HELD, losses.hear, beat=beats.put)
    assert [beats.get(timeout=5) for _ in range(3)] == [HELD] * 3


def test_slow_heart_costs_no_lock(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """A database that takes longer than a lock's life keeps no lock from being renewed."""
    gate = FakeGate()
    keepers(gate).keep(HELD, losses.hear, beat=lambda _held: time.sleep(TTL * 3))
    assert losses.none_for(TTL * 4)
    assert gate.calls.count("extend") >= 6


def test_without_locks_time_and_heart_are_kept(keepers: Callable[..., Keeper], losses: Losses) -> None:
    """With DISABLE_LOCKS no gate is asked, and the session still ends in time."""
    gate, beats = FakeGate(), Queue[Held]()
    unlocked = Held("example.com", "5c1e", token="")
    keepers(gate, session_max=0.3).keep(unlocked, losses.hear, beat=beats.put)
    assert beats.get(timeout=5) == unlocked
    assert losses.next() == (unlocked, Lost.TIME)
    assert gate.calls == []


def test_closing_from_a_listener_does_not_hang(keepers: Callable[..., Keeper]) -> None:
    """A process may decide to stop when it hears of a loss."""
    keeper = keepers(FakeGate(extends=[False]))
    closed = threading.Event()

    def close(held: Held, why: Lost) -> None:
        keeper.close()
        closed.set()

    keeper.keep(HELD, close)
    assert closed.wait(5)


def test_loss_is_logged(
    keepers: Callable[..., Keeper], losses: Losses, caplog: pytest.LogCaptureFixture
) -> None:
    """An operator reads which session lost which domain, and why."""
    keepers(FakeGate(extends=[AWAY, False])).keep(HELD, losses.hear)
    losses.next()
    fields = {record.getMessage(): record.__dict__["fields"] for record in caplog.records}
    assert fields["lock.lost"] == {"session_id": "5c1e", "domain": "example.com", "reason": "lock_lost"}
    assert fields["lock.extend.failed"] == {
        "session_id": "5c1e",
        "domain": "example.com",
        "reason": "redis_unavailable",
        "error": str(AWAY),
        "expires_in_ms": ANY,
    }
