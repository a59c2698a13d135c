"""The gate on Redis: its keys beside the documented system's, its retries, its failures."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from attrs import evolve
from redis import Redis, retry

from crawler.access.gate import NEVER, Busy, GateTimes, GateUnavailableError, Held, Release
from crawler.access.redis_gate import RedisGate
from tests.embedded.redis import own_redis
from tests.integration.gate.flaky_proxy import Fault, FlakyProxy, flaky_proxy

if TYPE_CHECKING:
    from collections.abc import Generator

DOMAIN = "example.com"
SESSION = str(uuid4())
TIMES = GateTimes(lock_ttl_ms=300_000, min_delay_ms=2000, throttle_ttl_ms=60_000, max_delay_ms=300_000)
LOCK, THROTTLE, DELAY = (f"{kind}:domain:{DOMAIN}" for kind in ("lock", "throttle", "delay"))


@pytest.fixture
def gate(redis_database: str) -> Generator[RedisGate]:
    """A gate with the default times on an empty Redis."""
    opened = RedisGate(redis_database, TIMES)
    yield opened
    opened.close()


@pytest.fixture
def proxy(redis_database: str) -> Generator[FlakyProxy]:
    """A proxy before that Redis."""
    with flaky_proxy(redis_database) as opened:
        yield opened


@pytest.fixture
def spoiled_gate(proxy: FlakyProxy) -> Generator[RedisGate]:
    """A gate that reaches Redis through the proxy."""
    opened = RedisGate(proxy.url, TIMES)
    yield opened
    opened.close()


def redis_now_ms(client: Redis) -> int:
    """Redis's own clock."""
    seconds, micros = client.time()
    return int(seconds) * 1000 + int(micros) // 1000


def taken(gate: RedisGate) -> Held:
    """The lock, which must be free."""
    answer = gate.acquire(DOMAIN, SESSION)
    assert isinstance(answer, Held)
    return answer


def test_keys_while_held_and_after(gate: RedisGate, redis_client: Redis) -> None:
    """The documented keys with the documented lives; the throttle is Redis's time (SPEC A6)."""
    held = taken(gate)
    assert redis_client.get(LOCK) == held.token
    assert 290_000 < redis_client.pttl(LOCK) <= 300_000
    before = redis_now_ms(redis_client)
    gate.release(held)
    value = redis_client.get(THROTTLE)
    assert isinstance(value, str)
    assert before <= int(value) <= redis_now_ms(redis_client) + 1
    assert 50_000 < redis_client.pttl(THROTTLE) <= 60_001  # a script sees the clock of its beginning
    assert not redis_client.exists(LOCK)


def test_throttle_outlives_its_delay(redis_database: str, redis_client: Redis) -> None:
    """A delay that is longer than DOMAIN_THROTTLE_TTL_SECONDS is remembered for its whole length."""
    gate = RedisGate(redis_database, evolve(TIMES, throttle_ttl_ms=1000, min_delay_ms=90_000))
    held = taken(gate)
    before = redis_now_ms(redis_client)
    gate.release(held)
    left = redis_client.pttl(THROTTLE)
    assert left + redis_now_ms(redis_client) - before > 90_000
    gate.close()


def test_delay_key_is_reason_and_expiry(gate: RedisGate, redis_client: Redis) -> None:
    """An operator reads the reason from the value, and the rest of the delay from the expiry."""
    gate.ask_delay(DOMAIN, 90, "retry_after")
    assert redis_client.get(DELAY) == "retry_after"
    assert 80_000 < redis_client.pttl(DELAY) <= 90_000


def test_documented_systems_lock_is_respected(gate: RedisGate, redis_client: Redis) -> None:
    """A lock set by `SET NX EX` keeps us out, is never freed by us, and ends with its own time."""
    redis_client.set(LOCK, "worker-17:0ff5:1794990531", nx=True, ex=300)
    answer = gate.acquire(DOMAIN, SESSION)
    assert isinstance(answer, Busy)
    assert answer.value == "worker-17:0ff5:1794990531"
    assert 290_000 < answer.expires_in_ms <= 300_000
    assert not gate.extend(Held(DOMAIN, SESSION, "vitrine:late"))
    assert gate.release(Held(DOMAIN, SESSION, "vitrine:late")) is Release.FOREIGN
    assert redis_client.get(LOCK) == "worker-17:0ff5:1794990531"


def test_our_lock_keeps_the_documented_system_out(gate: RedisGate, redis_client: Redis) -> None:
    """Its `SET NX EX` finds our lock, and the prefix that its release compares is not ours."""
    held = taken(gate)
    assert redis_client.set(LOCK, "worker-17:0ff5:1794990531", nx=True, ex=300) is None
    assert not held.token.startswith("worker-")


def test_lock_of_any_bytes(gate: RedisGate, redis_client: Redis) -> None:
    """What another system wrote need not be text."""
    redis_client.set(LOCK, b"\xff\x00\xfe", ex=300)
    answer = gate.acquire(DOMAIN, SESSION)
    assert isinstance(answer, Busy)
    assert answer.expires_in_ms > 290_000


def test_lock_without_expiry(gate: RedisGate, redis_client: Redis) -> None:
    """Somebody's lock that never ends is shown as such; an operator can break it."""
    redis_client.set(LOCK, "somebody")
    assert gate.acquire(DOMAIN, SESSION) == Busy(DOMAIN, "somebody", NEVER)
    assert gate.state(DOMAIN).expires_in_ms == NEVER
    assert gate.break_lock(DOMAIN, "somebody")
    taken(gate)


@pytest.mark.parametrize(
    ("ago_ms", "least", "most"),
    [(0, 1500, 2000), (1500, 0, 500), (2500, 0, 0), (-30_000, 1500, 2000), (30_000, 0, 0)],
)
def test_documented_systems_throttle_is_respected(
    gate: RedisGate, redis_client: Redis, ago_ms: int, least: int, most: int
) -> None:
    """Its end of a session counts like ours; one from the future is an end just now."""
    redis_client.set(THROTTLE, str(redis_now_ms(redis_client) - ago_ms), ex=60)
    assert least <= taken(gate).wait_ms <= most


@pytest.mark.parametrize("value", ["", "soon", "1e3", "0x10", "-5", "12.5", " 12", "nan", "inf"])
def test_throttle_that_is_no_number_is_absent(gate: RedisGate, redis_client: Redis, value: str) -> None:
    """Nobody waits for a value that says nothing (SPEC A24)."""
    redis_client.set(THROTTLE, value, ex=60)
    assert taken(gate).wait_ms == 0


def test_throttle_of_endless_digits_is_an_end_just_now(gate: RedisGate, redis_client: Redis) -> None:
    """A number too large for any clock lies in the future, and is clamped like it."""
    redis_client.set(THROTTLE, "9" * 400, ex=60)
    assert taken(gate).wait_ms == 2000


def test_documented_system_reads_our_throttle(gate: RedisGate, redis_client: Redis) -> None:
    """What we write is decimal text that `int()` takes, at most a millisecond ahead of Redis's clock."""
    gate.release(taken(gate))
    value = redis_client.get(THROTTLE)
    assert isinstance(value, str)
    assert value.isdecimal()
    assert -1 <= redis_now_ms(redis_client) - int(value) < 2000


def test_scripts_that_redis_forgot(gate: RedisGate, redis_client: Redis) -> None:
    """A Redis that was restarted or flushed its scripts is told them again."""
    for call in (gate.acquire, gate.acquire):
        redis_client.script_flush()
        call(DOMAIN, SESSION)
    redis_client.script_flush()
    assert gate.state(DOMAIN).value


def test_session_takes_two_round_trips() -> None:
    """Counted at a server that nobody else calls: one script to enter, one to leave."""
    with own_redis() as server, Redis(port=server.port, decode_responses=True) as client:
        gate = RedisGate(server.url, TIMES)
        gate.release(taken(gate))
        before = calls_at_server(client)
        gate.release(taken(gate))
        assert calls_at_server(client) - before == {"evalsha": 2, "info": 1}
        gate.close()


def calls_at_server(client: Redis) -> Counter[str]:
    """Commands that clients sent; those that scripts ran inside are not round trips."""
    stats: dict[str, dict[str, int]] = client.info("commandstats")
    inside = {"time", "get", "set", "del", "pttl", "pexpire"}
    calls = {name.removeprefix("cmdstat_"): stat["calls"] for name, stat in stats.items()}
    return Counter({name: count for name, count in calls.items() if name not in inside})


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.SILENCE])
class TestOneSpoiledCall:
    """One call goes wrong on the wire; redis-py sends it again, and it counts once."""

    def test_acquire(self, proxy: FlakyProxy, spoiled_gate: RedisGate, gate: RedisGate, fault: Fault) -> None:
        """A lock whose answer got lost is ours, not a stranger's."""
        proxy.faults = [fault]
        held = taken(spoiled_gate)
        assert gate.state(DOMAIN).value == held.token
        assert proxy.faults == []

    def test_extend(self, proxy: FlakyProxy, spoiled_gate: RedisGate, fault: Fault) -> None:
        """A renewal may happen twice."""
        held = taken(spoiled_gate)
        proxy.faults = [fault]
        assert spoiled_gate.extend(held)

    def test_release(self, proxy: FlakyProxy, spoiled_gate: RedisGate, gate: RedisGate, fault: Fault) -> None:
        """A release whose answer got lost is no stale one."""
        held = taken(spoiled_gate)
        proxy.faults = [fault]
        assert spoiled_gate.release(held) is Release.RELEASED
        assert gate.state(DOMAIN).value is None

    def test_release_that_another_session_followed(
        self, proxy: FlakyProxy, spoiled_gate: RedisGate, gate: RedisGate, fault: Fault
    ) -> None:
        """Sent again after the next session came in, it neither frees that one nor calls itself stale."""
        held = taken(spoiled_gate)
        spoiled_gate.release(held)
        present = taken(gate)
        proxy.faults = [fault]
        assert spoiled_gate.release(held) is Release.RELEASED
        assert gate.state(DOMAIN).value == present.token


def test_silent_redis_is_given_up_on(redis_database: str, proxy: FlakyProxy) -> None:
    """Two unanswered tries, each with a short timeout, and an error that says where."""
    gate = RedisGate(proxy.url, evolve(TIMES, lock_ttl_ms=3000))
    proxy.faults = [Fault.SILENCE] * 2
    began = time.monotonic()
    with pytest.raises(GateUnavailableError, match=r"Redis at 127\.0\.0\.1:\d+ does not answer"):
        gate.acquire(DOMAIN, SESSION)
    assert time.monotonic() - began < 30
    assert proxy.faults == []
    gate.close()


def test_refused_connection_fails_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing listens, a call pauses for milliseconds between its tries, not for seconds."""
    gate = RedisGate("redis://user:canary@127.0.0.1:1/0?password=canary", TIMES)
    pauses: list[float] = []
    monkeypatch.setattr(retry, "sleep", pauses.append)
    with pytest.raises(GateUnavailableError) as refused:
        gate.acquire(DOMAIN, SESSION)
    assert 0 < sum(pauses) < 1
    assert refused.value.code == "redis_unavailable"
    assert "127.0.0.1:1" in str(refused.value)
    assert "canary" not in f"{refused.value} {refused.value.hint}"
    gate.close()


def test_refusing_redis_is_unavailable(gate: RedisGate, redis_client: Redis) -> None:
    """A key of another kind in the lock's place is no lock that we could take."""
    redis_client.rpush(LOCK, "a list")
    with pytest.raises(GateUnavailableError, match="WRONGTYPE"):
        gate.acquire(DOMAIN, SESSION)


def test_redis_that_comes_back_is_used_again(proxy: FlakyProxy, spoiled_gate: RedisGate) -> None:
    """After an outage the same gate goes on; its lock is still there."""
    held = taken(spoiled_gate)
    proxy.down = True
    with pytest.raises(GateUnavailableError):
        spoiled_gate.extend(held)
    proxy.down = False
    assert spoiled_gate.extend(held)
