"""Redis away, Redis restarted, a wire that breaks: at each step of a session, and between any two."""

from __future__ import annotations

import time
from queue import Queue
from secrets import SystemRandom
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field
from redis import Redis

from crawler.access.acquisition import DomainAcquisition, DomainLockTimeoutError, Entered, Wait, Waiter
from crawler.access.gate import Busy, Held, Release
from crawler.access.redis_gate import LOCK_KEY_PREFIX
from crawler.capture.failures import Cause
from crawler.config import load_settings
from tests.embedded.redis import own_redis
from tests.integration.gate.flaky_proxy import Fault, FlakyProxy, flaky_proxy
from tests.integration.gate.history import run_workers, until
from tests.integration.gate.stores import times

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from crawler.access.gate import Gate
    from tests.embedded.redis import OwnRedis
    from tests.integration.gate.stores import OpenStores

DOMAIN = "shop.example"
TTL_MS = 2400


@define
class Session:
    """A session through a gate of its own, with everything that it told and lost."""

    stores: OpenStores
    url: str
    min_delay_ms: int = 0
    told: list[tuple[str, dict[str, Any]]] = field(factory=list)
    lost: Queue[Cause] = field(factory=Queue)
    acquisition: DomainAcquisition = field(init=False)

    def __attrs_post_init__(self) -> None:
        gate = self.stores.gate(self.url, times(TTL_MS, self.min_delay_ms))
        settings = load_settings({"domain_lock_backoff_base_ms": 100})
        acquisitions = self.stores.acquisitions(gate, settings, chance=lambda: 0.0)
        self.acquisition = DomainAcquisition(acquisitions, Waiter("5c1e", DOMAIN, self, self.hear_of_loss))

    def go_in(self) -> Held:
        """Wait as the acquisition says, until the domain is ours."""
        while isinstance(step := self.acquisition.advance(), Wait):
            time.sleep(step.milliseconds / 1000)
        assert isinstance(step, Entered)
        return step.held

    def events(self) -> list[str]:
        """The names of what was told."""
        return [event for event, _ in self.told]

    def info(self, event_type: str, message: str, **details: Any) -> None:
        """Hear of an event."""
        self.told.append((message, details))

    warn = error = info

    def hear_of_loss(self, held: Held, why: Cause) -> None:
        """Hear that the domain is lost."""
        self.lost.put(why)


@pytest.fixture(scope="module")
def server() -> Generator[OwnRedis]:
    """A Redis that is never restarted."""
    with own_redis() as started:
        yield started


@pytest.fixture
def proxy(server: OwnRedis, stores: OpenStores) -> Generator[FlakyProxy]:
    """A wire to that Redis, which has no keys."""
    with Redis.from_url(server.url) as client:
        client.flushdb()
    with flaky_proxy(server.url) as opened:
        yield opened


class TestRedisAway:
    """At the start, in between, and at the end of a session."""

    def test_at_the_start(self, proxy: FlakyProxy, stores: OpenStores) -> None:
        """No session starts unlocked: it fails in the documented words, with the true cause."""
        proxy.down = True
        session = Session(stores, proxy.url)
        with pytest.raises(DomainLockTimeoutError, match=r"\ADomain lock timeout\Z") as refused:
            session.go_in()
        assert refused.value.cause == "redis_unavailable"
        assert session.events() == ["lock.acquire.retry", "lock.acquire.retry", "lock.acquire.timeout"]

    def test_for_the_first_attempt(self, proxy: FlakyProxy, stores: OpenStores) -> None:
        """Both tries of the first attempt fail, the second attempt comes in."""
        proxy.faults = [Fault.REQUEST_LOST, Fault.REQUEST_LOST]
        session = Session(stores, proxy.url)
        session.go_in()
        assert session.events() == ["lock.acquire.retry", "lock.acquire.success"]
        assert session.told[-1][1]["attempt"] == 2

    @pytest.mark.parametrize("fault", [Fault.ANSWER_LOST, Fault.ANSWER_CUT])
    def test_when_the_lock_was_just_taken(self, proxy: FlakyProxy, stores: OpenStores, fault: Fault) -> None:
        """Both answers of an attempt get lost: the next attempt finds the lock its own."""
        proxy.faults = [fault, fault]
        session = Session(stores, proxy.url)
        held = session.go_in()
        assert session.events() == ["lock.acquire.retry", "lock.acquire.success"]
        assert stores.gate(proxy.url, times(TTL_MS)).state(DOMAIN).value == held.token

    def test_during_the_delay(self, proxy: FlakyProxy, stores: OpenStores) -> None:
        """A blip in the wait under the lock costs nothing."""
        first = Session(stores, proxy.url, min_delay_ms=300)
        first.go_in()
        first.acquisition.leave()
        second = Session(stores, proxy.url, min_delay_ms=300)
        assert isinstance(second.acquisition.advance(), Wait)
        proxy.faults = [Fault.ANSWER_LOST, Fault.ANSWER_CUT]
        second.go_in()
        assert second.lost.empty()

    def test_shorter_than_a_lock_lives(self, proxy: FlakyProxy, stores: OpenStores) -> None:
        """It goes on being asked for, and the session notices nothing."""
        session = Session(stores, proxy.url)
        session.go_in()
        proxy.down = True
        time.sleep(TTL_MS * 0.5 / 1000)
        proxy.down = False
        time.sleep(TTL_MS * 1.5 / 1000)
        assert session.lost.empty()
        session.acquisition.leave()
        assert session.events()[-1] == "lock.release.success"

    def test_longer_than_a_lock_lives(self, proxy: FlakyProxy, stores: OpenStores) -> None:
        """The session is told once, when nobody can say any more that the domain is its own."""
        session = Session(stores, proxy.url)
        session.go_in()
        proxy.down = True
        assert session.lost.get(timeout=60) is Cause.LOCK_LOST
        time.sleep(TTL_MS / 1000)
        assert session.lost.empty()

    def test_at_the_end(self, proxy: FlakyProxy, stores: OpenStores) -> None:
        """A failed release is told and never raised; the lock ends with its time."""
        session = Session(stores, proxy.url)
        session.go_in()
        proxy.down = True
        session.acquisition.leave()
        event, fields = session.told[-1]
        assert event == "lock.release.failed"
        assert fields["reason"] == "redis_unavailable"
        proxy.down = False
        time.sleep(TTL_MS * 1.1 / 1000)
        Session(stores, proxy.url).go_in()

    def test_silent_at_the_end(self, proxy: FlakyProxy, stores: OpenStores) -> None:
        """A Redis that accepts and never answers holds the end of a session up for seconds, not for ever."""
        session = Session(stores, proxy.url)
        session.go_in()
        proxy.faults = [Fault.SILENCE] * 100
        began = time.monotonic()
        session.acquisition.leave()
        assert time.monotonic() - began < 60
        assert session.events()[-1] == "lock.release.failed"


class TestRedisRestarted:
    """In the middle of a hold."""

    def test_with_its_data(self, stores: OpenStores) -> None:
        """It crashes and comes back with what it had: the session goes on."""
        with own_redis(persistent=True) as server:
            session = Session(stores, server.url)
            held = session.go_in()
            server.kill()
            server.start()
            time.sleep(TTL_MS * 1.5 / 1000)
            assert session.lost.empty()
            assert stores.gate(server.url, times(TTL_MS)).state(DOMAIN).value == held.token
            session.acquisition.leave()
            assert session.events()[-1] == "lock.release.success"

    def test_without_its_data(self, stores: OpenStores) -> None:
        """It forgot the lock: the session is told at the next renewal, and leaves its successor alone."""
        with own_redis() as server:
            session = Session(stores, server.url)
            session.go_in()
            server.kill()
            server.start()
            assert session.lost.get(timeout=60) is Cause.LOCK_LOST
            successor = Session(stores, server.url)
            held = successor.go_in()
            session.acquisition.leave()
            assert session.events()[-1] == "lock.release.stale"
            assert stores.gate(server.url, times(TTL_MS)).state(DOMAIN).value == held.token


class PausingRedis:
    """Passes commands on, and stops before or after the n-th one until it is told to go on."""

    def __init__(self, redis: Any, pause_at: int, pause: Callable[[], None]) -> None:
        self._redis = redis
        self._left = pause_at
        self._pause = pause

    def evalsha(self, *args: Any) -> Any:
        """A command, with a possible pause on either side."""
        self._step()
        answer = self._redis.evalsha(*args)
        self._step()
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._redis, name)

    def _step(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._pause()


# acquire, extend and release, and a moment before and after each
@pytest.mark.parametrize("pause_at", range(1, 7))
def test_pause_between_any_two_commands(
    redis_database: str, stores: OpenStores, monkeypatch: pytest.MonkeyPatch, pause_at: int
) -> None:
    """A process that sleeps anywhere in its session, longer than its lock lives, frees no other's lock."""
    gate, other = (stores.gate(redis_database, times(30_000)) for _ in range(2))
    redis = vars(gate)["_redis"]
    taken: list[Held | Busy] = []

    def pause() -> None:
        # So long that the lock's time is over: Redis ends it, as it would, whoever else is slow.
        lock = f"{LOCK_KEY_PREFIX}{DOMAIN}"
        redis.pexpire(lock, 1)
        while redis.exists(lock):
            time.sleep(0.001)
        taken.append(other.acquire(DOMAIN, "other"))

    # Redis knows the scripts, so that each call is one command.
    warm_up(gate)
    monkeypatch.setattr(gate, "_redis", PausingRedis(redis, pause_at, pause))
    mine = gate.acquire(DOMAIN, "sleeper")
    extended = isinstance(mine, Held) and gate.extend(mine)
    released = gate.release(mine) if isinstance(mine, Held) else None

    [others] = taken
    if pause_at == 1:  # before it took the lock: the other one was first
        assert isinstance(mine, Busy)
    elif pause_at == 6:  # after it gave the lock back
        assert (extended, released) == (True, Release.RELEASED)
    else:
        assert released is Release.FOREIGN
        assert extended is (pause_at > 3)
    assert isinstance(others, Held)
    assert other.state(DOMAIN).value == others.token
    assert other.extend(others)


def warm_up(gate: Gate) -> None:
    """Have Redis load the scripts."""
    held = gate.acquire("warm.example", "warm")
    assert isinstance(held, Held)
    gate.extend(held)
    gate.release(held)


def test_hammered_release_never_frees_another_lock(redis_database: str, stores: OpenStores) -> None:
    """Locks of 3 ms, given back early or late: no early one finds that a late one took its lock away."""
    early: list[Release] = []
    late: list[Release] = []
    time_is_left, patience = until(2), until(60)

    def has_seen_enough() -> bool:
        """However slow the machine is, so many are given back early, and some too late."""
        return len(early) >= 50 and bool({Release.EXPIRED, Release.FOREIGN} & set(late))

    def work(number: int) -> None:
        gate = stores.gate(redis_database, times(3))
        while time_is_left() or (patience() and not has_seen_enough()):
            began = time.monotonic()
            held = gate.acquire(DOMAIN, f"{number}")
            if not isinstance(held, Held):
                continue
            time.sleep(SystemRandom().uniform(0, 0.006))
            released = gate.release(held)
            # The lock was taken after `began`, so until 3 ms later nothing but a release can end it.
            (early if time.monotonic() - began < 0.003 else late).append(released)

    run_workers(work, 4)
    assert len(early) >= 50
    assert set(early) == {Release.RELEASED}
    assert {Release.EXPIRED, Release.FOREIGN} & set(late)
