"""Acquisitions: how often they ask, how long they wait, what they log, and what they leave behind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

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
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        answer: Held | Busy = self._next("acquires")
        return answer if waits or isinstance(answer, Busy) else evolve(answer, wait_ms=0)

    def extend(self, held: Held) -> bool:
        """The next answer."""
        self.calls.append("extend")
        return bool(self._next("extends"))

    def release(self, held: Held) -> Release:
        """The next answer."""
        self.calls.append("release")
        answer: Release = self._next("releases")
        return answer

    def close(self) -> None:
        """Nothing to close."""

    def _next(self, answers: str) -> Any:
        left = getattr(self, answers)
        setattr(self, answers, left[1:] or left)
        if isinstance(left[0], GateUnavailableError):
            raise left[0]
        return left[0]


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
            cast("Any", self.gate),
            load_settings(self.settings),
            chance=lambda: 0.5,
            monotonic=lambda: self.now,
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
        self._hear("info", event_type, message, details)

    def warn(self, event_type: str, message: str, **details: Any) -> None:
        """Hear of one that is less good."""
        self._hear("warn", event_type, message, details)

    def error(self, event_type: str, message: str, **details: Any) -> None:
        """Hear of an end."""
        self._hear("error", event_type, message, details)

    def _hear(self, level: str, event_type: str, message: str, details: dict[str, Any]) -> None:
        self.types.append(event_type)
        self.told.append((message, level, details))

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


OWN = Busy(DOMAIN, new_token("0ff5"), 1000)
ENTER, RETRY, TIMEOUT = "lock.acquire.success", "lock.acquire.retry", "lock.acquire.timeout"
IN_QUEUE, PAUSE = "lock.queue.wait", "throttle.wait"
PATIENT, SHORT = {"domain_queue_wait_seconds": 60}, {"domain_queue_wait_seconds": 1}
FIRST, SECOND, THIRD = (Wait(each, BACKOFF) for each in (1250, 2250, 4250))


@pytest.mark.parametrize(
    ("settings", "answers", "waits", "events"),
    [
        pytest.param({}, [HELD], [], [ENTER], id="a free domain"),
        pytest.param({}, [HELD_WITH_DELAY], [Wait(1500, DELAY)], [PAUSE, ENTER], id="a delay under the lock"),
        pytest.param({}, [AWAY, HELD], [FIRST], [RETRY, ENTER], id="a gate that comes back"),
        pytest.param(
            {"domain_lock_max_retries": 4}, [STRANGER] * 3 + [HELD], [FIRST, SECOND, THIRD],
            [RETRY] * 3 + [ENTER], id="more attempts are allowed",
        ),
        pytest.param(
            PATIENT, [NEIGHBOUR] * 9 + [HELD], [Wait(300, QUEUE)] * 9, [IN_QUEUE, ENTER], id="a queue"
        ),
        pytest.param(
            SHORT, [NEIGHBOUR] * 5 + [HELD], [Wait(300, QUEUE)] * 4 + [FIRST], [IN_QUEUE, RETRY, ENTER],
            id="a queue for too long",
        ),
        pytest.param(PATIENT, [STRANGER, HELD], [FIRST], [RETRY, ENTER], id="no queue behind a stranger"),
        pytest.param(
            {}, [evolve(STRANGER, wait_ms=700), HELD], [FIRST], [RETRY, ENTER],
            id="a stranger's wait is its own",
        ),
        pytest.param(
            {}, [WAITING_NEIGHBOUR, evolve(WAITING_NEIGHBOUR, wait_ms=400), NEIGHBOUR, HELD],
            [Wait(300, QUEUE)] * 2 + [FIRST], [PAUSE, RETRY, ENTER], id="a holder that only waits",
        ),
        pytest.param(
            {}, [evolve(WAITING_NEIGHBOUR, wait_ms=7), HELD], [Wait(7, QUEUE)], [PAUSE, ENTER],
            id="a wait that is almost over",
        ),
        pytest.param(
            {}, [OWN] * 2 + [HELD], [Wait(200, IN_LINE)] * 2, [ENTER], id="a session of this process"
        ),
    ],
)  # fmt: skip
def test_the_way_into_a_domain(
    settings: dict[str, Any], answers: list[Any], waits: list[Wait], events: list[str]
) -> None:
    """How long a session waits, by what the gate answers, and what is logged of it."""
    scene = Scene(settings, gate=FakeGate(acquires=answers))
    acquisition = scene.acquisition()
    assert scene.waits(acquisition) == waits
    assert scene.events() == events
    assert [each.held and each.held.token for each in scene.renewer.kept] == [HELD.token]
    assert len(set(scene.gate.tokens)) == 1
    assert is_own(scene.gate.tokens[0])


def test_events_say_who_waits_for_what() -> None:
    """A delay with its reason, a lock with its worker."""
    scene = Scene(gate=FakeGate(acquires=[HELD_WITH_DELAY]))
    scene.waits(scene.acquisition())
    host, _, _, pid, _ = this_process().split("|")
    assert scene.told == [
        ("throttle.wait", "info", {**WHO, "wait_ms": 1500, "reason": "min_delay"}),
        ("lock.acquire.success", "info", {**WHO, "worker_id": f"{host}:{pid}", "attempt": 1}),
    ]
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


def test_lock_that_may_be_ours_is_given_back() -> None:
    """A session that is stopped after an attempt without an answer leaves no unknown lock behind."""
    scene = Scene(gate=FakeGate(acquires=[AWAY]))
    acquisition = scene.acquisition()
    acquisition.advance()
    acquisition.leave()
    acquisition.leave()
    assert scene.gate.calls == ["acquire", "release"]
    assert scene.events() == ["lock.acquire.retry"]


def test_lock_that_may_be_ours_is_given_back_as_soon_as_the_gate_answers() -> None:
    """Leaving raises nothing while it is away."""
    scene = Scene(gate=FakeGate(acquires=[AWAY], releases=[AWAY, AWAY, Release.RELEASED]))
    scene.gate.times = evolve(TIMES, lock_ttl_ms=3000)
    acquisition = scene.acquisition()
    acquisition.advance()
    acquisition.leave()
    wait_for(lambda: scene.gate.calls == ["acquire", *["release"] * 3])
    scene.acquisitions.close()


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


def test_further_host_never_stands_in_line() -> None:
    """Two sessions that each want the other's domain do not wait for ever: attempts decide."""
    scene = Scene({"domain_queue_wait_seconds": 60}, gate=FakeGate(acquires=[HELD, OWN]))
    first = scene.acquisition(session_id="1", domain="other.example")
    assert isinstance(first.advance(), Entered)
    with pytest.raises(DomainLockTimeoutError):
        scene.waits(scene.acquisition(session_id="1", beside=first))


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


def test_loss_inside_ends_the_visit(caplog: pytest.LogCaptureFixture) -> None:
    """From the first fetch on; the log says which session lost which domain, and why."""
    scene = Scene(gate=FakeGate(acquires=[HELD]))
    acquisition = scene.acquisition()
    acquisition.advance()
    scene.renewer.lose(acquisition, Cause.LOCK_LOST)
    assert scene.lost == [Cause.LOCK_LOST]
    [record] = caplog.records
    assert (record.getMessage(), record.__dict__["fields"]) == ("lock.lost", {**WHO, "reason": "lock_lost"})


def test_further_host_gives_a_session_no_more_time() -> None:
    """All of its locks end with its time, which begins after the first delay."""
    scene = Scene({"session_max_seconds": 60}, gate=FakeGate(acquires=[HELD_WITH_DELAY, HELD]))
    first = scene.acquisition()
    first.advance()
    scene.now += 20
    further = scene.acquisition(domain="cdn.example.com", beside=first)
    further.advance()
    assert scene.renewer.kept == {first: (100.0, 161.5), further: (120.0, 161.5)}


def test_without_locks_a_session_has_its_time_all_the_same() -> None:
    """No gate is asked, and what is never taken is never lost."""
    scene = Scene({"disable_locks": True, "session_max_seconds": 60})
    acquisition = scene.acquisition()
    acquisition.advance()
    assert scene.renewer.kept == {acquisition: (100.0, 160.0)}
    assert scene.gate.calls == []
    scene.renewer.lose(acquisition, Cause.TOO_LONG)
    assert scene.lost == [Cause.TOO_LONG]


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
