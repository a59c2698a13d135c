"""Acquisitions: how often they ask, how long they wait, what they log, and what they leave behind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, evolve, field

from crawler.access.acquisition import (
    BACKOFF,
    DELAY,
    IN_LINE,
    OUTAGE,
    QUEUE,
    Acquisitions,
    DomainAcquisition,
    DomainLockTimeoutError,
    Entered,
    Wait,
    Waiter,
)
from crawler.access.gate import Busy, GateTimes, GateUnavailableError, Held, Release
from crawler.access.process import is_own, new_token, this_process
from crawler.capture.failures import Cause
from crawler.config import load_settings
from crawler.leases.renewer import Renewer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.access.gate import DomainState

AWAY = GateUnavailableError("Redis at redis:6379 does not answer")
TIMES = GateTimes(lock_ttl_ms=300_000, min_delay_ms=2000, throttle_ttl_ms=60_000, max_delay_ms=300_000)
DOMAIN = "example.com"
SESSION = "5c1e"
STRANGER = Busy(DOMAIN, "worker-17:0ff5:1794990531", 250_000)
NEIGHBOUR = Busy(DOMAIN, "vitrine:other-host:17:b00t-1:0ff5:n0nce", 250_000)
WAITING_NEIGHBOUR = evolve(NEIGHBOUR, wait_ms=700, wait_reason="Retry-After")
HELD = Held(DOMAIN, SESSION, "vitrine:mine")
HELD_WITH_DELAY = Held(DOMAIN, SESSION, "vitrine:mine", 1500)
WHO = {"session_id": SESSION, "domain": DOMAIN}


@define
class FakeGate:
    """Its answers are taken one by one, the last one again and again; an error is raised."""

    acquires: Sequence[Held | Busy | GateUnavailableError] = ()
    extends: Sequence[bool | GateUnavailableError] = (True,)
    releases: Sequence[Release | GateUnavailableError] = (Release.RELEASED,)
    calls: list[str] = field(factory=list)
    tokens: list[str] = field(factory=list)
    shared: bool = True
    times: GateTimes = TIMES

    def acquire(self, domain: str, session_id: str, token: str = "", *, waits: bool = True) -> Held | Busy:
        """The next answer, or a lock; without a wait for who does not wait."""
        self.tokens.append(token)
        self.calls.append("acquire")
        if not self.acquires:
            return Held(domain, session_id, f"vitrine:{session_id}")
        answer, self.acquires = self.acquires[0], self.acquires[1:] or self.acquires
        if isinstance(answer, GateUnavailableError):
            raise answer
        return answer if waits or isinstance(answer, Busy) else evolve(answer, wait_ms=0)

    def extend(self, held: Held) -> bool:
        """The next answer."""
        self.calls.append("extend")
        answer, self.extends = self.extends[0], self.extends[1:] or self.extends
        if isinstance(answer, GateUnavailableError):
            raise answer
        return answer

    def release(self, held: Held) -> Release:
        """The next answer."""
        self.calls.append("release")
        answer, self.releases = self.releases[0], self.releases[1:] or self.releases
        if isinstance(answer, GateUnavailableError):
            raise answer
        return answer

    def ask_delay(self, domain: str, seconds: float, reason: str) -> None:
        """Forget it."""

    def states(self) -> Sequence[DomainState]:
        """None."""
        return []

    def state(self, domain: str) -> DomainState:
        """Nobody asks for it."""
        raise NotImplementedError

    def break_lock(self, domain: str, value: str) -> bool:
        """Nothing to break."""
        return False

    def close(self) -> None:
        """Nothing to close."""


class StillRenewer(Renewer[DomainAcquisition]):
    """Remembers what it was to keep, and does nothing about it."""

    def __init__(self, renewer: Renewer[DomainAcquisition]) -> None:
        super().__init__("still", list, vars(renewer)["_on_lost"], lasts=300)
        self.kept: dict[DomainAcquisition, tuple[float | None, float]] = {}

    def keep(
        self, things: Iterable[DomainAcquisition], *, since: float | None = None, ends_at: float = math.inf
    ) -> None:
        """Remember them."""
        self.kept.update((thing, (since, ends_at)) for thing in things)

    def forget(self, things: Iterable[DomainAcquisition]) -> None:
        """Remember them no more."""
        for thing in things:
            self.kept.pop(thing, None)

    def lose(self, thing: DomainAcquisition, why: Cause) -> None:
        """Find that it is lost."""
        del self.kept[thing]
        vars(self)["_on_lost"](thing, why)


@define
class Scene:
    """The acquisitions of a process, whose clock moves when the test says so, and all that was told there."""

    settings: dict[str, Any] = field(factory=dict)
    gate: FakeGate = field(factory=FakeGate)
    now: float = 100.0
    told: list[tuple[str, str, dict[str, Any]]] = field(factory=list)
    types: list[str] = field(factory=list)  # of the events that were told
    lost: list[Cause] = field(factory=list)
    renewer: StillRenewer = field(init=False)
    acquisitions: Acquisitions = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.acquisitions = Acquisitions(
            self.gate, load_settings(self.settings), chance=lambda: 0.5, monotonic=lambda: self.now
        )
        self.renewer = self.acquisitions.renewer = StillRenewer(self.acquisitions.renewer)

    def acquisition(self, **options: Any) -> DomainAcquisition:
        """One session's way in."""
        return DomainAcquisition(
            self.acquisitions,
            Waiter(
                **{"session_id": SESSION, "domain": DOMAIN, **options},
                log=self,
                on_lost=lambda _held, why: self.lost.append(why),
            ),
        )

    def info(self, event_type: str, message: str, **details: Any) -> None:
        """Hear of an event."""
        self.types.append(event_type)
        self.told.append((message, "info", details))

    def warn(self, event_type: str, message: str, **details: Any) -> None:
        """Hear of one that is less good."""
        self.types.append(event_type)
        self.told.append((message, "warn", details))

    def error(self, event_type: str, message: str, **details: Any) -> None:
        """Hear of an end."""
        self.types.append(event_type)
        self.told.append((message, "error", details))

    def waits(self, acquisition: DomainAcquisition) -> list[Wait]:
        """Drive the acquisition to its end, waiting exactly as it says."""
        waits: list[Wait] = []
        while isinstance(step := acquisition.advance(), Wait):
            waits.append(step)
            self.now += step.milliseconds / 1000
        return waits

    def events(self) -> list[str]:
        """The names of what was told, in order."""
        return [event for event, _, _ in self.told]


def test_free_domain_is_entered_at_once() -> None:
    """One call to the gate, one event."""
    scene = Scene(gate=FakeGate(acquires=[HELD]))
    assert scene.acquisition().advance() == Entered(HELD)
    host, _, _, pid, _ = this_process().split("|")
    worker = f"{host}:{pid}"
    assert scene.told == [("lock.acquire.success", "info", {**WHO, "worker_id": worker, "attempt": 1})]
    assert scene.gate.calls == ["acquire"]
    assert [each.held for each in scene.renewer.kept] == [HELD]


def test_delay_is_waited_out_under_the_lock() -> None:
    """The throttle speaks first, then the lock, as documented; the lock is looked at again after the wait."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY]))
    acquisition = scene.acquisition()
    assert scene.waits(acquisition) == [Wait(1500, DELAY)]
    assert acquisition.advance() == Entered(HELD_WITH_DELAY)
    assert scene.told[0] == ("throttle.wait", "info", {**WHO, "wait_ms": 1500, "reason": "min_delay"})
    assert scene.events() == ["throttle.wait", "lock.acquire.success"]
    assert scene.gate.calls == ["acquire", "extend"]


def test_coming_back_early_waits_on() -> None:
    """A caller whose sleep was cut short is told what is left; leaving then gives the lock back."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY]))
    acquisition = scene.acquisition()
    acquisition.advance()
    scene.now += 1.0
    assert acquisition.advance() == Wait(500, DELAY)
    assert scene.gate.calls == ["acquire"]
    acquisition.leave()
    assert scene.gate.calls == ["acquire", "release"]


def test_three_attempts_then_the_documented_error() -> None:
    """Waits of 1 and 2 seconds with jitter, none after the last attempt (SPEC A10-A12)."""
    scene = Scene(gate=FakeGate(acquires=[STRANGER]))
    acquisition = scene.acquisition()
    with pytest.raises(DomainLockTimeoutError, match=r"\ADomain lock timeout\Z") as refused:
        scene.waits(acquisition)
    assert refused.value.exit_code == 5
    assert refused.value.cause is Cause.DOMAIN_HELD
    assert scene.gate.calls == ["acquire"] * 3
    assert scene.types[-1] == "timeout"
    who_holds = {"reason": "locked", "holder": STRANGER.value, "expires_in_ms": 250_000}
    assert scene.told == [
        ("lock.acquire.retry", "warn", {**WHO, "attempt": 1, "max_retries": 3, "wait_ms": 1250, **who_holds}),
        ("lock.acquire.retry", "warn", {**WHO, "attempt": 2, "max_retries": 3, "wait_ms": 2250, **who_holds}),
        (
            "lock.acquire.timeout",
            "error",
            {**WHO, "max_retries_exceeded": True, "attempts": 3, **who_holds},
        ),
    ]


def test_absent_gate_lets_nobody_in() -> None:
    """Without an answer no session starts unlocked; the cause says why."""
    scene = Scene(gate=FakeGate(acquires=[AWAY]))
    with pytest.raises(DomainLockTimeoutError) as refused:
        scene.waits(scene.acquisition())
    assert refused.value.cause == "redis_unavailable"
    assert scene.events() == ["lock.acquire.retry", "lock.acquire.retry", "lock.acquire.timeout"]


def test_an_outage_costs_no_attempt() -> None:
    """A gate that answered before is asked again twice a second, and lets in as soon as it answers."""
    scene = Scene(gate=FakeGate(acquires=[HELD, *[AWAY] * 9, HELD]))
    scene.waits(scene.acquisition())
    second = scene.acquisition(domain="other.example")
    assert scene.waits(second) == [Wait(500, OUTAGE)] * 9
    assert scene.events() == ["lock.acquire.success", "lock.gate.wait", "lock.acquire.success"]
    assert scene.told[-1][2]["attempt"] == 1


def test_an_outage_longer_than_a_lock_lives_ends_as_ever() -> None:
    """Nobody can say whose the domain is by then."""
    scene = Scene({"domain_lock_ttl_seconds": 3}, gate=FakeGate(acquires=[HELD, AWAY]))
    scene.gate.times = evolve(TIMES, lock_ttl_ms=3000)
    scene.waits(scene.acquisition())
    with pytest.raises(DomainLockTimeoutError) as refused:
        scene.waits(scene.acquisition(domain="other.example"))
    assert refused.value.cause == "redis_unavailable"
    retries = ["lock.acquire.retry", "lock.acquire.retry", "lock.acquire.timeout"]
    assert scene.events() == ["lock.acquire.success", "lock.gate.wait", *retries]


def test_attempts_share_a_token() -> None:
    """An attempt whose answer got lost may have taken the lock; the next one then finds it its own."""
    scene = Scene(gate=FakeGate(acquires=[AWAY, STRANGER, HELD]))
    scene.waits(scene.acquisition())
    assert len(set(scene.gate.tokens)) == 1
    assert is_own(scene.gate.tokens[0])


def test_lock_that_may_be_ours_is_given_back() -> None:
    """A session that is stopped after an attempt without an answer leaves no unknown lock behind."""
    scene = Scene(gate=FakeGate(acquires=[AWAY]))
    acquisition = scene.acquisition()
    acquisition.advance()
    acquisition.leave()
    acquisition.leave()
    assert scene.gate.calls == ["acquire", "release"]
    assert scene.events() == ["lock.acquire.retry"]


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
    assert scene.waits(scene.acquisition(mode=mode)) == []
    assert scene.told[0] == ("throttle.skip", "info", {**WHO, "reason": reason})
    assert scene.events() == ["throttle.skip", "lock.acquire.success"]


def test_disabled_locks_ask_no_gate() -> None:
    """DISABLE_LOCKS takes, waits for and releases nothing (SPEC A17, A39)."""
    scene = Scene({"disable_locks": True})
    acquisition = scene.acquisition(mode="debug")
    step = acquisition.advance()
    assert isinstance(step, Entered)
    assert not step.held.token
    acquisition.leave()
    assert scene.told == [("throttle.skip", "info", {**WHO, "reason": "testing"})]
    assert scene.gate.calls == []


@pytest.mark.parametrize("holder", [STRANGER, WAITING_NEIGHBOUR], ids=["stranger", "waiting"])
def test_who_asks_once_hears_at_once_and_leaves_nothing(holder: Busy) -> None:
    """No attempt more, no wait in any queue, no event, no place in line."""
    scene = Scene({"domain_queue_wait_seconds": 60}, gate=FakeGate(acquires=[holder, HELD]))
    with pytest.raises(DomainLockTimeoutError) as refused:
        scene.acquisition(once=True).advance()
    assert (refused.value.cause, scene.told, scene.gate.calls) == (Cause.DOMAIN_HELD, [], ["acquire"])
    assert scene.acquisition(once=True).advance() == Entered(HELD)


def test_who_asks_once_does_not_stand_in_line() -> None:
    """A session of this process that is in the domain, or came first, is reason enough; no gate is asked."""
    scene = Scene(gate=FakeGate(acquires=[HELD]))
    first = scene.acquisition()
    first.advance()
    with pytest.raises(DomainLockTimeoutError) as refused:
        scene.acquisition(session_id="second", once=True).advance()
    assert (refused.value.cause, scene.gate.calls) == (Cause.DOMAIN_HELD, ["acquire"])
    first.leave()
    assert isinstance(scene.acquisition(once=True).advance(), Entered)


def test_who_asks_once_hears_that_the_gate_is_away() -> None:
    """As what it is; a lock that was taken all the same is given back."""
    scene = Scene(gate=FakeGate(acquires=[AWAY]))
    acquisition = scene.acquisition(once=True)
    with pytest.raises(type(AWAY)):
        acquisition.advance()
    acquisition.leave()
    assert (scene.told, scene.gate.calls) == ([], ["acquire", "release"])


def test_who_asks_once_waits_the_delay_out() -> None:
    """Under the lock; a lock that gets lost meanwhile is not fought for."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY], extends=[True, False]))
    acquisition = scene.acquisition(once=True)
    assert scene.waits(acquisition) == [Wait(1500, DELAY)]
    assert scene.events() == ["throttle.wait", "lock.acquire.success"]
    acquisition.leave()
    second = scene.acquisition(once=True)
    with pytest.raises(DomainLockTimeoutError) as refused:
        scene.waits(second)
    assert refused.value.cause == "lock_lost"


def test_without_locks_who_asks_once_gets_a_domain_once() -> None:
    """Two visits of one run must not share a domain; others are not kept out (SPEC A17)."""
    scene = Scene({"disable_locks": True})
    first = scene.acquisition(once=True)
    assert isinstance(first.advance(), Entered)
    assert isinstance(scene.acquisition().advance(), Entered)
    with pytest.raises(DomainLockTimeoutError):
        scene.acquisition(once=True).advance()
    first.leave()
    assert isinstance(scene.acquisition(once=True).advance(), Entered)
    assert scene.events() == ["throttle.skip"] * 3


def test_queue_wait_costs_no_attempt() -> None:
    """A Vitrine session elsewhere is waited for, up to DOMAIN_QUEUE_WAIT_SECONDS, before attempts count."""
    scene = Scene({"domain_queue_wait_seconds": 60}, gate=FakeGate(acquires=[NEIGHBOUR] * 50 + [HELD]))
    waits = scene.waits(scene.acquisition())
    assert {wait.why for wait in waits} == {QUEUE}
    assert len(waits) == 50
    assert scene.events() == ["lock.queue.wait", "lock.acquire.success"]
    assert scene.told[0][2] == {**WHO, "wait_ms": 60_000, "holder": NEIGHBOUR.value}


@pytest.mark.parametrize("stranger", [STRANGER, evolve(STRANGER, wait_ms=700)])
def test_stranger_is_not_queued_for(stranger: Busy) -> None:
    """A holder of another system may not renew, and keeps other times: it is met with attempts alone."""
    scene = Scene({"domain_queue_wait_seconds": 60}, gate=FakeGate(acquires=[stranger, HELD]))
    assert scene.waits(scene.acquisition()) == [Wait(1250, BACKOFF)]


def test_queue_wait_ends_in_attempts() -> None:
    """When the wait is over the documented attempts follow."""
    scene = Scene({"domain_queue_wait_seconds": 5}, gate=FakeGate(acquires=[NEIGHBOUR]))
    with pytest.raises(DomainLockTimeoutError):
        scene.waits(scene.acquisition())
    assert 5 <= scene.now - 100 - (1.25 + 2.25) <= 5.5
    assert scene.events()[1:] == ["lock.acquire.retry", "lock.acquire.retry", "lock.acquire.timeout"]


def test_sessions_of_a_process_stand_in_line() -> None:
    """The second one waits without asking the gate, and comes in when the first has left."""
    scene = Scene()
    first, second = scene.acquisition(session_id="1"), scene.acquisition(session_id="2")
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
    assert {wait.why for wait in scene.waits(scene.acquisition())} == {IN_LINE}


def test_further_host_never_stands_in_line() -> None:
    """Two sessions that each want the other's domain do not wait for ever: attempts decide."""
    own = Busy(DOMAIN, new_token("0ff5"), 1000)
    scene = Scene({"domain_queue_wait_seconds": 60}, gate=FakeGate(acquires=[HELD, own]))
    first = scene.acquisition(session_id="1", domain="other.example")
    assert isinstance(first.advance(), Entered)
    with pytest.raises(DomainLockTimeoutError):
        scene.waits(scene.acquisition(session_id="1", beside=first))


def test_refused_session_leaves_the_line() -> None:
    """Whoever gave up stands in nobody's way."""
    scene = Scene(gate=FakeGate(acquires=[STRANGER, STRANGER, STRANGER, HELD]))
    first, second = scene.acquisition(session_id="1"), scene.acquisition(session_id="2")
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
    acquisition = scene.acquisition()
    acquisition.advance()
    acquisition.leave()
    assert scene.told[-1] == (event, level, {**WHO, **fields})
    assert scene.renewer.kept == {}


def test_acquisition_that_was_left_is_over() -> None:
    """Nobody gets in by an acquisition that was given up, whatever it was waiting for."""
    acquisition = Scene(gate=FakeGate(acquires=[STRANGER, HELD])).acquisition()
    acquisition.advance()
    acquisition.leave()
    with pytest.raises(RuntimeError, match="needs a new one"):
        acquisition.advance()


@pytest.mark.parametrize("steps", [0, 1])
def test_leaving_before_having_entered(steps: int) -> None:
    """A session that is stopped while it waits takes nothing along and stands in nobody's way."""
    scene = Scene(gate=FakeGate(acquires=[STRANGER, HELD]))
    first = scene.acquisition()
    for _ in range(steps):
        first.advance()
    first.leave()
    scene.gate.acquires = [HELD]
    assert isinstance(scene.acquisition().advance(), Entered)
    assert "release" not in scene.gate.calls


def test_lock_lost_during_the_delay_is_taken_again() -> None:
    """A process that was stopped during its wait does not go in on a lock that somebody else may have."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY, HELD], extends=[False]))
    waits = scene.waits(scene.acquisition())
    assert waits == [Wait(1500, DELAY), Wait(1250, BACKOFF)]
    assert scene.told[2][2]["reason"] == "lock_lost"
    assert len(set(scene.gate.tokens)) == 2
    assert [each.held for each in scene.renewer.kept] == [HELD]
    assert scene.lost == []


def test_loss_that_the_renewer_finds_during_the_delay() -> None:
    """The renewer's word before the first fetch ends no session: the lock is taken again."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY, HELD]))
    acquisition = scene.acquisition()
    acquisition.advance()
    scene.renewer.lose(acquisition, Cause.LOCK_LOST)
    assert [wait.why for wait in scene.waits(acquisition)] == [DELAY, BACKOFF]
    assert scene.lost == []


def test_absence_during_the_delay_is_the_renewers_matter() -> None:
    """The gate that lets in need not answer again at once; its renewal goes on."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY], extends=[AWAY]))
    acquisition = scene.acquisition()
    scene.waits(acquisition)
    assert acquisition.advance() == Entered(HELD_WITH_DELAY)


def test_loss_inside_ends_the_visit(caplog: pytest.LogCaptureFixture) -> None:
    """From the first fetch on; the log says which session lost which domain, and why."""
    scene = Scene(gate=FakeGate(acquires=[HELD]))
    acquisition = scene.acquisition()
    acquisition.advance()
    scene.renewer.lose(acquisition, Cause.LOCK_LOST)
    assert scene.lost == [Cause.LOCK_LOST]
    [record] = caplog.records
    assert (record.getMessage(), record.__dict__["fields"]) == ("lock.lost", {**WHO, "reason": "lock_lost"})


def test_lock_is_kept_from_the_moment_it_was_asked_for() -> None:
    """Until the session's time is over, which begins after its delay."""
    scene = Scene({"session_max_seconds": 60}, gate=FakeGate(acquires=[HELD_WITH_DELAY]))
    acquisition = scene.acquisition()
    acquisition.advance()
    assert scene.renewer.kept == {acquisition: (100.0, 100.0 + 1.5 + 60)}


def test_further_host_gives_a_session_no_more_time() -> None:
    """All of a session's locks end with the time of the first."""
    scene = Scene({"session_max_seconds": 60})
    first = scene.acquisition()
    first.advance()
    scene.now += 20
    further = scene.acquisition(domain="cdn.example.com", beside=first)
    further.advance()
    assert scene.renewer.kept == {first: (100.0, 160.0), further: (120.0, 160.0)}


def test_without_locks_a_session_has_its_time_all_the_same() -> None:
    """No gate is asked, and what is never taken is never lost."""
    scene = Scene({"disable_locks": True, "session_max_seconds": 60})
    acquisition = scene.acquisition()
    acquisition.advance()
    assert scene.renewer.kept == {acquisition: (100.0, 160.0)}
    assert scene.gate.calls == []
    scene.renewer.lose(acquisition, Cause.TOO_LONG)
    assert scene.lost == [Cause.TOO_LONG]


def test_holder_that_only_waits_is_no_attempt() -> None:
    """Others wait with it, say so once, and begin their attempts when it has begun (SPEC A20)."""
    gate = FakeGate(acquires=[WAITING_NEIGHBOUR, evolve(WAITING_NEIGHBOUR, wait_ms=400), NEIGHBOUR, HELD])
    scene = Scene(gate=gate)
    waits = scene.waits(scene.acquisition())
    assert waits == [Wait(300, QUEUE), Wait(300, QUEUE), Wait(1250, BACKOFF)]
    assert scene.events() == ["throttle.wait", "lock.acquire.retry", "lock.acquire.success"]
    assert scene.told[0] == ("throttle.wait", "info", {**WHO, "wait_ms": 700, "reason": "Retry-After"})
    assert scene.told[-1][2]["attempt"] == 2
    soon = FakeGate(acquires=[evolve(WAITING_NEIGHBOUR, wait_ms=7), HELD])
    assert Scene(gate=soon).acquisition().advance() == Wait(7, QUEUE)


def test_further_host_waits_with_its_holder_too() -> None:
    """Such a wait has an end, so that nobody waits for ever."""
    scene = Scene(gate=FakeGate(acquires=[HELD, WAITING_NEIGHBOUR, HELD]))
    first = scene.acquisition(domain="other.example")
    first.advance()
    further = scene.acquisition(beside=first)
    assert [wait.why for wait in scene.waits(further)] == [QUEUE]


def test_who_stands_in_line_says_that_the_first_one_waits() -> None:
    """Once, with what is left of the delay."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY]))
    scene.acquisition(session_id="1").advance()
    second = scene.acquisition(session_id="2")
    scene.now += 0.5
    for _ in range(3):
        assert second.advance() == Wait(200, IN_LINE)
        scene.now += 0.2
    theirs = [(event, fields) for event, _, fields in scene.told if fields["session_id"] == "2"]
    assert theirs == [
        ("throttle.wait", {"session_id": "2", "domain": DOMAIN, "wait_ms": 1000, "reason": "min_delay"})
    ]


def test_first_come_first_served() -> None:
    """The next one comes up when all before it have left; a place is given up once."""
    scene = Scene(gate=FakeGate(acquires=[HELD]))
    first, second, third = (scene.acquisition(session_id=str(number)) for number in range(3))
    assert [isinstance(each.advance(), Entered) for each in (first, second, third)] == [True, False, False]
    first.leave()
    first.leave()
    scene.now += 1
    assert isinstance(third.advance(), Wait)
    second.leave()
    scene.now += 1
    assert isinstance(third.advance(), Entered)
