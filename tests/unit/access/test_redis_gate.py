"""The gate on Redis: its keys beside the documented system's, its retries, its failures."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from attrs import evolve
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.access.gate import NEVER, Busy, GateTimes, GateUnavailableError, Held, Release
from crawler.access.redis_client import ANSWER_SECONDS, CONNECT_SECONDS, connect, refusal
from crawler.access.redis_gate import RedisGate
from tests.integration.gate.flaky_proxy import Fault, FlakyProxy, flaky_proxy

if TYPE_CHECKING:
    from collections.abc import Generator

    from redis import Redis

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
    assert value.isdecimal()
    assert 50_000 < redis_client.pttl(THROTTLE) <= 60_001  # a script sees the clock of its beginning
    assert not redis_client.exists(LOCK)


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
    [(0, 1500, 2000), (1500, 0, 500), (2500, 0, 0), (-30_000, 1500, 2000)],
)
def test_documented_systems_throttle_is_respected(
    gate: RedisGate, redis_client: Redis, ago_ms: int, least: int, most: int
) -> None:
    """Its end of a session counts like ours; one from the future is an end just now."""
    redis_client.set(THROTTLE, str(redis_now_ms(redis_client) - ago_ms), ex=60)
    assert least <= taken(gate).wait_ms <= most


@pytest.mark.parametrize("value", ["", "soon", "1e3", "-5", "12.5"])
def test_throttle_that_is_no_number_is_absent(gate: RedisGate, redis_client: Redis, value: str) -> None:
    """Nobody waits for a value that says nothing (SPEC A24)."""
    redis_client.set(THROTTLE, value, ex=60)
    assert taken(gate).wait_ms == 0


def test_scripts_that_redis_forgot(gate: RedisGate, redis_client: Redis) -> None:
    """A Redis that was restarted or flushed its scripts is told them again."""
    for call in (gate.acquire, gate.acquire):
        redis_client.script_flush()
        call(DOMAIN, SESSION)
    redis_client.script_flush()
    assert gate.state(DOMAIN).value


@pytest.mark.parametrize("fault", [Fault.REQUEST_LOST, Fault.ANSWER_LOST, Fault.ANSWER_CUT])
class TestOneSpoiledCall:
    """One call goes wrong on the wire; redis-py sends it again, and it counts once."""

    def test_acquire(self, proxy: FlakyProxy, spoiled_gate: RedisGate, gate: RedisGate, fault: Fault) -> None:
        """A lock whose answer got lost is ours, not a stranger's."""
        proxy.faults = [fault]
        held = taken(spoiled_gate)
        assert gate.state(DOMAIN).value == held.token
        assert proxy.faults == []

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
    with pytest.raises(GateUnavailableError, match=r"Redis at 127\.0\.0\.1:\d+ does not answer"):
        gate.acquire(DOMAIN, SESSION)
    assert proxy.faults == []
    gate.close()


def test_refused_connection_names_the_server_and_no_password() -> None:
    """Where nothing listens."""
    gate = RedisGate("redis://user:canary@127.0.0.1:1/0?password=canary", TIMES)
    with pytest.raises(GateUnavailableError) as refused:
        gate.acquire(DOMAIN, SESSION)
    assert refused.value.code == "redis_unavailable"
    assert "127.0.0.1:1" in str(refused.value)
    assert "canary" not in f"{refused.value} {refused.value.hint}"
    gate.close()


def test_refusing_redis_is_unavailable(gate: RedisGate, redis_client: Redis) -> None:
    """A key of another kind in the lock's place is no lock that we could take."""
    redis_client.rpush(LOCK, "a list")
    with pytest.raises(GateUnavailableError, match="WRONGTYPE"):
        gate.acquire(DOMAIN, SESSION)


@pytest.mark.parametrize(
    ("answer", "connects"), [(ANSWER_SECONDS, CONNECT_SECONDS), (0.5, 0.5), (30.0, CONNECT_SECONDS)]
)
def test_every_call_has_a_timeout(answer: float, connects: float) -> None:
    """A connection is had within a second, or sooner where the answer is wanted sooner."""
    with connect("redis://127.0.0.1:1/0", answer_seconds=answer) as client:
        said = client.connection_pool.connection_kwargs
    assert (said["socket_timeout"], said["socket_connect_timeout"]) == (answer, connects)


@pytest.mark.parametrize(
    ("url", "at"),
    [
        ("redis://127.0.0.1/0?password=geheim", "127.0.0.1:6379"),
        ("unix:///run/redis.sock?password=geheim", "/run/redis.sock"),
        ("rediss://:geheim@redis.example:7/0", "redis.example:7"),
    ],
)
def test_a_refusal_says_where_and_shows_no_password(url: str, at: str) -> None:
    """Though the error has it."""
    with connect(url) as client:
        said = refusal(client, RedisConnectionError("no: redis://u:geheim@h"))
        bare = refusal(client, RedisConnectionError(""))
    assert said.startswith(f"Redis at {at} does not answer: no")
    assert "geheim" not in said
    assert bare.endswith("ConnectionError")
