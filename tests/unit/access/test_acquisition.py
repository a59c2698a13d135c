"""The way in: which events it tells, how often it asks, how long it waits, and what it leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from crawler.access.acquisition import (
    BACKOFF,
    DELAY,
    IN_LINE,
    QUEUE,
    DomainLockTimeoutError,
    Entered,
    Entrance,
    Entry,
    Visitor,
    Wait,
)
from crawler.access.gate import Busy, Held, Release
from crawler.access.keeper import Keeper, Lost
from crawler.access.process import is_own, new_token, this_process
from crawler.config import load_settings
from tests.unit.access.fake_gate import AWAY, FakeGate

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.access.gate import GateUnavailableError

DOMAIN = "example.com"
SESSION = "5c1e"
STRANGER = Busy(DOMAIN, "worker-17:0ff5:1794990531", 250_000)
NEIGHBOUR = Busy(DOMAIN, "vitrine:other-host:17:b00t-1:0ff5:n0nce", 250_000)
HELD = Held(DOMAIN, SESSION, "vitrine:mine")
HELD_WITH_DELAY = Held(DOMAIN, SESSION, "vitrine:mine", 1500)
WHO = {"session_id": SESSION, "domain": DOMAIN}


class StillKeeper(Keeper):
    """Remembers what it was to keep, and does nothing about it."""

    def __init__(self, gate: FakeGate) -> None:
        super().__init__(gate, 300, 1200)
        self.kept: dict[Held, Callable[[Held, Lost], None]] = {}

    def keep(self, held: Held, on_lost: Callable[[Held, Lost], None], **_: object) -> None:
        """Remember it."""
        self.kept[held] = on_lost

    def forget(self, held: Held) -> None:
        """Remember it no more."""
        self.kept.pop(held, None)


@define
class Scene:
    """An entrance whose clock moves when the test says so, and all that was told there."""

    settings: dict[str, Any] = field(factory=dict)
    gate: FakeGate = field(factory=FakeGate)
    now: float = 100.0
    told: list[tuple[str, str, dict[str, Any]]] = field(factory=list)
    lost: list[Lost] = field(factory=list)
    keeper: StillKeeper = field(init=False)
    entrance: Entrance = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.keeper = StillKeeper(self.gate)
        self.entrance = Entrance(
            self.gate,
            self.keeper,
            load_settings(self.settings),
            random=lambda: 0.5,
            monotonic=lambda: self.now,
        )

    def entry(self, **options: Any) -> Entry:
        """One session's way in."""
        return self.entrance.entry(
            Visitor(
                **{"session_id": SESSION, "domain": DOMAIN, **options},
                emit=lambda event, level, **fields: self.told.append((event, level, fields)),
                on_lost=lambda _held, why: self.lost.append(why),
            )
        )

    def waits(self, entry: Entry) -> list[Wait]:
        """Drive the entry to its end, waiting exactly as it says."""
        waits: list[Wait] = []
        while isinstance(step := entry.advance(), Wait):
            waits.append(step)
            self.now += step.milliseconds / 1000
        return waits

    def events(self) -> list[str]:
        """The names of what was told, in order."""
        return [event for event, _, _ in self.told]


def test_free_domain_is_entered_at_once() -> None:
    """One call to the gate, one event."""
    scene = Scene(gate=FakeGate(acquires=[HELD]))
    assert scene.entry().advance() == Entered(HELD)
    worker = f"{this_process().host}:{this_process().pid}"
    assert scene.told == [("lock.acquire.success", "info", {**WHO, "worker_id": worker, "attempt": 1})]
    assert scene.gate.calls == ["acquire"]
    assert list(scene.keeper.kept) == [HELD]


def test_delay_is_waited_out_under_the_lock() -> None:
    """The throttle speaks first, then the lock, as documented; the lock is looked at again after the wait."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY]))
    entry = scene.entry()
    assert scene.waits(entry) == [Wait(1500, DELAY)]
    assert entry.advance() == Entered(HELD_WITH_DELAY)
    assert scene.told[0] == ("throttle.wait", "info", {**WHO, "wait_ms": 1500, "reason": "min_delay"})
    assert scene.events() == ["throttle.wait", "lock.acquire.success"]
    assert scene.gate.calls == ["acquire", "extend"]


def test_coming_back_early_waits_on() -> None:
    """A caller whose sleep was cut short is told what is left, and the gate is not asked."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY]))
    entry = scene.entry()
    entry.advance()
    scene.now += 1.0
    assert entry.advance() == Wait(500, DELAY)
    assert scene.gate.calls == ["acquire"]


def test_three_attempts_then_the_documented_error() -> None:
    """Waits of 1 and 2 seconds with jitter, none after the last attempt (SPEC A10-A12)."""
    scene = Scene(gate=FakeGate(acquires=[STRANGER]))
    entry = scene.entry()
    with pytest.raises(DomainLockTimeoutError, match=r"\ADomain lock timeout\Z") as refused:
        scene.waits(entry)
    assert refused.value.exit_code == 5
    assert refused.value.cause == "locked"
    assert scene.gate.calls == ["acquire"] * 3
    who_holds = {"cause": "locked", "holder": STRANGER.value, "expires_in_ms": 250_000}
    assert scene.told == [
        ("lock.acquire.retry", "warn", {**WHO, "attempt": 1, "max_retries": 3, "wait_ms": 1250, **who_holds}),
        ("lock.acquire.retry", "warn", {**WHO, "attempt": 2, "max_retries": 3, "wait_ms": 2250, **who_holds}),
        (
            "lock.acquire.timeout",
            "error",
            {**WHO, "max_retries_exceeded": True, "max_retries": 3, **who_holds},
        ),
    ]


def test_fourth_attempt_waits_four_seconds() -> None:
    """The formula goes on where more attempts are allowed (SPEC A11)."""
    scene = Scene(
        {"domain_lock_max_retries": 4}, gate=FakeGate(acquires=[STRANGER, STRANGER, STRANGER, HELD])
    )
    waits = [wait.milliseconds for wait in scene.waits(scene.entry())]
    assert waits == [1250, 2250, 4250]
    assert scene.told[-1][2]["attempt"] == 4


def test_absent_gate_lets_nobody_in() -> None:
    """Without an answer no session starts unlocked; the cause says why."""
    scene = Scene(gate=FakeGate(acquires=[AWAY]))
    with pytest.raises(DomainLockTimeoutError) as refused:
        scene.waits(scene.entry())
    assert refused.value.cause == "redis_unavailable"
    assert scene.events() == ["lock.acquire.retry", "lock.acquire.retry", "lock.acquire.timeout"]


def test_gate_that_comes_back_lets_in() -> None:
    """An attempt that got no answer is an attempt like any other."""
    scene = Scene(gate=FakeGate(acquires=[AWAY, HELD]))
    assert scene.waits(scene.entry()) == [Wait(1250, BACKOFF)]


def test_attempts_share_a_token() -> None:
    """An attempt whose answer got lost may have taken the lock; the next one then finds it its own."""
    scene = Scene(gate=FakeGate(acquires=[AWAY, STRANGER, HELD]))
    scene.waits(scene.entry())
    assert len(set(scene.gate.tokens)) == 1
    assert is_own(scene.gate.tokens[0])


def test_lock_that_may_be_ours_is_given_back() -> None:
    """A session that is stopped after an attempt without an answer leaves no unknown lock behind."""
    scene = Scene(gate=FakeGate(acquires=[AWAY]))
    entry = scene.entry()
    entry.advance()
    entry.leave()
    entry.leave()
    assert scene.gate.calls == ["acquire", "release"]
    assert scene.events() == ["lock.acquire.retry"]


def test_giving_back_without_an_answer_raises_nothing() -> None:
    """While the gate is away such a lock ends with its time."""
    scene = Scene(gate=FakeGate(acquires=[AWAY], releases=[AWAY]))
    entry = scene.entry()
    with pytest.raises(DomainLockTimeoutError):
        scene.waits(entry)
    entry.leave()
    assert scene.gate.calls[-1] == "release"


@pytest.mark.parametrize(
    ("settings", "mode", "reason"),
    [
        ({}, "debug", "debug_mode"),
        ({"disable_throttle": True}, "standard", "testing"),
        ({"disable_throttle": True}, "debug", "debug_mode"),
    ],
)
def test_skipped_delay_is_told(settings: dict[str, Any], mode: str, reason: str) -> None:
    """Debug mode and DISABLE_THROTTLE skip the wait, not the lock (SPEC A16, A18, A35)."""
    scene = Scene(settings, gate=FakeGate(acquires=[HELD_WITH_DELAY]))
    assert scene.waits(scene.entry(mode=mode)) == []
    assert scene.told[0] == ("throttle.skip", "info", {**WHO, "reason": reason})
    assert scene.events() == ["throttle.skip", "lock.acquire.success"]


def test_disabled_locks_ask_no_gate() -> None:
    """DISABLE_LOCKS takes, waits for and releases nothing (SPEC A17, A39)."""
    scene = Scene({"disable_locks": True})
    entry = scene.entry(mode="debug")
    step = entry.advance()
    assert isinstance(step, Entered)
    assert not step.held.token
    entry.leave()
    assert scene.told == [("throttle.skip", "info", {**WHO, "reason": "testing"})]
    assert scene.gate.calls == []


@pytest.mark.parametrize("holder", [STRANGER, NEIGHBOUR], ids=["stranger", "neighbour"])
def test_who_asks_once_hears_at_once_and_leaves_nothing(holder: Busy) -> None:
    """No attempt more, no wait in any queue, no event, no place in line."""
    scene = Scene({"domain_queue_wait_seconds": 60}, gate=FakeGate(acquires=[holder, HELD]))
    with pytest.raises(DomainLockTimeoutError) as refused:
        scene.entry(once=True).advance()
    assert (refused.value.cause, scene.told, scene.gate.calls) == ("locked", [], ["acquire"])
    assert scene.entry(once=True).advance() == Entered(HELD)


def test_who_asks_once_does_not_stand_in_line() -> None:
    """A session of this process that is in the domain, or came first, is reason enough; no gate is asked."""
    scene = Scene(gate=FakeGate(acquires=[HELD]))
    first = scene.entry()
    first.advance()
    with pytest.raises(DomainLockTimeoutError) as refused:
        scene.entry(session_id="second", once=True).advance()
    assert (refused.value.cause, scene.gate.calls) == (IN_LINE, ["acquire"])
    first.leave()
    assert isinstance(scene.entry(once=True).advance(), Entered)


def test_who_asks_once_hears_that_the_gate_is_away() -> None:
    """As what it is; a lock that was taken all the same is given back."""
    scene = Scene(gate=FakeGate(acquires=[AWAY]))
    entry = scene.entry(once=True)
    with pytest.raises(type(AWAY)):
        entry.advance()
    entry.leave()
    assert (scene.told, scene.gate.calls) == ([], ["acquire", "release"])


def test_who_asks_once_waits_the_delay_out() -> None:
    """Under the lock; a lock that gets lost meanwhile is not fought for."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY], extends=[True, False]))
    entry = scene.entry(once=True)
    assert scene.waits(entry) == [Wait(1500, DELAY)]
    assert scene.events() == ["throttle.wait", "lock.acquire.success"]
    entry.leave()
    second = scene.entry(once=True)
    with pytest.raises(DomainLockTimeoutError) as refused:
        scene.waits(second)
    assert refused.value.cause == "lock_lost"


def test_without_locks_who_asks_once_gets_a_domain_once() -> None:
    """Two visits of one run must not share a domain; others are not kept out (SPEC A17)."""
    scene = Scene({"disable_locks": True})
    first = scene.entry(once=True)
    assert isinstance(first.advance(), Entered)
    assert isinstance(scene.entry().advance(), Entered)
    with pytest.raises(DomainLockTimeoutError):
        scene.entry(once=True).advance()
    first.leave()
    assert isinstance(scene.entry(once=True).advance(), Entered)
    assert scene.events() == ["throttle.skip"] * 3


def test_queue_wait_costs_no_attempt() -> None:
    """A Vitrine session elsewhere is waited for, up to DOMAIN_QUEUE_WAIT_SECONDS, before attempts count."""
    scene = Scene({"domain_queue_wait_seconds": 60}, gate=FakeGate(acquires=[NEIGHBOUR] * 50 + [HELD]))
    waits = scene.waits(scene.entry())
    assert {wait.why for wait in waits} == {QUEUE}
    assert len(waits) == 50
    assert scene.events() == ["lock.queue.wait", "lock.acquire.success"]
    assert scene.told[0][2] == {**WHO, "wait_ms": 60_000, "holder": NEIGHBOUR.value}


def test_queue_wait_ends_in_attempts() -> None:
    """When the wait is over the documented attempts follow."""
    scene = Scene({"domain_queue_wait_seconds": 5}, gate=FakeGate(acquires=[NEIGHBOUR]))
    with pytest.raises(DomainLockTimeoutError):
        scene.waits(scene.entry())
    queued = scene.now - 100 - (1.25 + 2.25)
    assert 5 <= queued <= 5.5
    assert scene.events()[1:] == ["lock.acquire.retry", "lock.acquire.retry", "lock.acquire.timeout"]


def test_stranger_is_not_queued_for() -> None:
    """A holder of another system may not renew, so it is met with attempts alone."""
    scene = Scene({"domain_queue_wait_seconds": 60}, gate=FakeGate(acquires=[STRANGER, HELD]))
    assert scene.waits(scene.entry()) == [Wait(1250, BACKOFF)]


def test_sessions_of_a_process_stand_in_line() -> None:
    """The second one waits without asking the gate, and comes in when the first has left."""
    scene = Scene()
    first, second = scene.entry(session_id="1"), scene.entry(session_id="2")
    assert isinstance(first.advance(), Entered)
    for _ in range(20):
        step = second.advance()
        assert isinstance(step, Wait)
        assert step.why == IN_LINE
        scene.now += 1
    assert scene.gate.calls == ["acquire"]
    first.leave()
    assert isinstance(second.advance(), Entered)
    assert "lock.acquire.retry" not in scene.events()


def test_domain_entered_on_the_way_is_waited_for_too() -> None:
    """A lock that another session of this process took as a further host costs no attempt either."""
    own = Busy(DOMAIN, new_token("0ff5"), 1000)
    scene = Scene(gate=FakeGate(acquires=[own] * 9 + [HELD]))
    assert {wait.why for wait in scene.waits(scene.entry())} == {IN_LINE}


def test_further_host_never_stands_in_line() -> None:
    """Two sessions that each want the other's domain do not wait for ever: attempts decide."""
    own = Busy(DOMAIN, new_token("0ff5"), 1000)
    scene = Scene({"domain_queue_wait_seconds": 60}, gate=FakeGate(acquires=[HELD, own]))
    assert isinstance(scene.entry(session_id="1").advance(), Entered)
    with pytest.raises(DomainLockTimeoutError):
        scene.waits(scene.entry(session_id="2", further=True))


def test_refused_session_leaves_the_line() -> None:
    """Whoever gave up stands in nobody's way."""
    scene = Scene(gate=FakeGate(acquires=[STRANGER, STRANGER, STRANGER, HELD]))
    first, second = scene.entry(session_id="1"), scene.entry(session_id="2")
    with pytest.raises(DomainLockTimeoutError):
        scene.waits(first)
    assert isinstance(second.advance(), Entered)


@pytest.mark.parametrize(
    ("answer", "event", "level", "fields"),
    [
        (Release.RELEASED, "lock.release.success", "info", {}),
        (Release.EXPIRED, "lock.release.stale", "warn", {"reason": "expired"}),
        (Release.FOREIGN, "lock.release.stale", "warn", {"reason": "foreign", "lock_value_mismatch": True}),
        (
            AWAY,
            "lock.release.failed",
            "error",
            {"reason": "redis_unavailable", "error": str(AWAY), "expires_in_ms": 300_000},
        ),
    ],
)
def test_leaving_tells_what_became_of_the_lock(
    answer: Release | GateUnavailableError, event: str, level: str, fields: dict[str, Any]
) -> None:
    """One event, and nothing is ever raised: a result is not lost for a failed release (SPEC A28, A38)."""
    scene = Scene(gate=FakeGate(acquires=[HELD], releases=[answer]))
    entry = scene.entry()
    entry.advance()
    entry.leave()
    assert scene.told[-1] == (event, level, {**WHO, **fields})
    assert scene.keeper.kept == {}


def test_leaving_twice_releases_once() -> None:
    """A `finally` may come after an ordinary end."""
    scene = Scene(gate=FakeGate(acquires=[HELD]))
    entry = scene.entry()
    entry.advance()
    entry.leave()
    entry.leave()
    assert scene.gate.calls == ["acquire", "release"]


def test_entry_that_was_left_is_over() -> None:
    """Nobody gets in by an entry that was given up, whatever it was waiting for."""
    entry = Scene(gate=FakeGate(acquires=[STRANGER, HELD])).entry()
    entry.advance()
    entry.leave()
    with pytest.raises(RuntimeError, match="needs a new one"):
        entry.advance()


@pytest.mark.parametrize("steps", [0, 1])
def test_leaving_before_having_entered(steps: int) -> None:
    """A session that is stopped while it waits takes nothing along and stands in nobody's way."""
    scene = Scene(gate=FakeGate(acquires=[STRANGER, HELD]))
    first = scene.entry()
    for _ in range(steps):
        first.advance()
    first.leave()
    scene.gate.acquires = [HELD]
    assert isinstance(scene.entry().advance(), Entered)
    assert "release" not in scene.gate.calls


def test_leaving_during_the_delay_releases() -> None:
    """The lock is ours from the first moment, so it is given back even before the first fetch."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY]))
    entry = scene.entry()
    entry.advance()
    entry.leave()
    assert scene.gate.calls == ["acquire", "release"]


def test_lock_lost_during_the_delay_is_taken_again() -> None:
    """A process that was stopped during its wait does not go in on a lock that somebody else may have."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY, HELD], extends=[False]))
    waits = scene.waits(scene.entry())
    assert waits == [Wait(1500, DELAY), Wait(1250, BACKOFF)]
    assert scene.told[2][2]["cause"] == "lock_lost"
    assert len(set(scene.gate.tokens)) == 2
    assert list(scene.keeper.kept) == [HELD]
    assert scene.lost == []


def test_loss_that_the_keeper_finds_during_the_delay() -> None:
    """The keeper's word before the first fetch ends no session: the lock is taken again."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY, HELD]))
    entry = scene.entry()
    entry.advance()
    scene.keeper.kept.pop(HELD_WITH_DELAY)(HELD_WITH_DELAY, Lost.LOCK)
    assert [wait.why for wait in scene.waits(entry)] == [DELAY, BACKOFF]
    assert scene.lost == []


def test_absence_during_the_delay_is_the_keepers_matter() -> None:
    """The gate that lets in need not answer again at once; the keeper goes on asking."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY], extends=[AWAY]))
    entry = scene.entry()
    scene.waits(entry)
    assert entry.advance() == Entered(HELD_WITH_DELAY)


@pytest.mark.parametrize("why", list(Lost))
def test_loss_inside_reaches_the_session(why: Lost) -> None:
    """From the first fetch on a loss ends the visit."""
    scene = Scene(gate=FakeGate(acquires=[HELD]))
    scene.entry().advance()
    scene.keeper.kept[HELD](HELD, why)
    assert scene.lost == [why]
