"""The fleet's queue: moved and never popped, taken over from the dead, refused within bounds."""

from __future__ import annotations

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from crawler.fleet.queue import REFUSED_KEPT, FleetQueue, FleetUnavailableError
from tests.integration.gate.flaky_proxy import Fault, flaky_proxy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import redis

    Join = Callable[..., FleetQueue]

KEY = "pdp:start_urls"
LONG_MS = 60_000


@pytest.fixture
def join(redis_database: str) -> Generator[Join]:
    """Has workers join the fleet."""
    joined: list[FleetQueue] = []

    def open_queue(worker: str, silent_ms: int = LONG_MS) -> FleetQueue:
        joined.append(FleetQueue(redis_database, KEY, worker, silent_ms=silent_ms))
        return joined[-1]

    yield open_queue
    for opened in joined:
        opened.close()


def test_entries_are_moved_in_the_order_of_the_list(join: Join, redis_client: redis.Redis) -> None:
    """As scrapy-redis takes them: from the left; no more than there is room for."""
    redis_client.rpush(KEY, "a", "b", "c")
    worker = join("one")
    taken = worker.fill(2)
    assert [entry.data for entry in taken] == [b"a", b"b"]
    assert redis_client.lrange(KEY, 0, -1) == ["c"]
    assert redis_client.llen(f"{KEY}:taken:one") == 2


def test_an_answer_that_got_lost_takes_nothing_twice(join: Join, redis_client: redis.Redis) -> None:
    """Asked again, a worker gets what it has taken already, and room is room for all of it."""
    redis_client.rpush(KEY, "a", "a", "c")
    worker = join("one")
    taken = worker.fill(2)
    assert worker.fill(2) == taken
    assert len({entry.id for entry in taken}) == 2  # equal entries are two
    worker.done(taken)
    assert [entry.data for entry in worker.fill(2)] == [b"c"]


def test_an_id_is_never_given_twice_even_if_redis_forgets(join: Join, redis_client: redis.Redis) -> None:
    """An id that came again would have its entry dropped as done."""
    ids = []
    for _ in range(3):
        redis_client.flushdb()
        redis_client.rpush(KEY, "a")
        ids += [entry.id for entry in join("one").fill(1)]
    assert len(set(ids)) == 3


@pytest.mark.parametrize("kind", ["set", "zset"])
def test_sets_are_lists_too(join: Join, redis_client: redis.Redis, kind: str) -> None:
    """Feeders that use REDIS_START_URLS_AS_SET or _AS_ZSET need not change; the highest score comes first."""
    if kind == "set":
        redis_client.sadd(KEY, "a", "b")
    else:
        redis_client.zadd(KEY, {"b": 1, "a": 2})
    worker = join("one")
    assert worker.waiting() == 2
    taken = [entry.data for entry in worker.fill(9)]
    assert taken == [b"a", b"b"] if kind == "zset" else set(taken) == {b"a", b"b"}


def test_bytes_stay_as_they_are(join: Join, redis_client: redis.Redis) -> None:
    """An entry that is no text must not bring a worker down, nor an empty one."""
    for data in (b"\xff\x00\n x", b""):
        redis_client.rpush(KEY, data)
    assert [entry.data for entry in join("one").fill(9)] == [b"\xff\x00\n x", b""]


def test_a_dead_worker_s_list_is_taken_over(join: Join, redis_client: redis.Redis) -> None:
    """By exactly one other, with the ids that its entries had."""
    redis_client.rpush(KEY, "a", "b")
    dead = join("dead", silent_ms=50)
    left = dead.fill(2)
    time.sleep(0.06)
    others = [join(f"other-{number}") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(FleetQueue.beat, others))
    assert sorted(map(len, taken)) == [0, 0, 0, 1]
    [heir] = [other for other, over in zip(others, taken, strict=True) if over]
    assert heir.fill(9) == left
    assert redis_client.zscore(f"{KEY}:workers", "dead") is None
    assert dead.fill(9) == []


def test_a_worker_that_lives_keeps_its_list(join: Join, redis_client: redis.Redis) -> None:
    """However long its entries lie there; and nobody takes over from itself."""
    redis_client.rpush(KEY, "a")
    living = join("living", silent_ms=50)
    living.fill(1)
    time.sleep(0.06)
    assert living.beat() == {}
    living = join("living")
    assert living.beat() == {}
    assert join("other").beat() == {}
    assert [entry.data for entry in living.fill(1)] == [b"a"]


def test_who_leaves_in_order_leaves_nothing_behind(join: Join, redis_client: redis.Redis) -> None:
    """What it has taken and not done is another's at once."""
    redis_client.rpush(KEY, "a")
    leaving, other = join("leaving"), join("other")
    leaving.fill(1)
    leaving.leave()
    assert other.beat() == {"leaving": 1}
    assert [entry.data for entry in other.fill(1)] == [b"a"]
    other.done(other.fill(1))
    other.leave()
    assert redis_client.keys() == [f"{KEY}:count"]


def test_a_refused_entry_is_kept_without_its_password(join: Join, redis_client: redis.Redis) -> None:
    """With the reason, so that whoever feeds the fleet finds it."""
    redis_client.rpush(KEY, "https://me:canary@shop.example/")
    worker = join("one")
    [entry] = worker.fill(1)
    worker.refuse(entry, "https://me:canary@shop.example/ has a user name in it")
    [kept] = redis_client.lrange(f"{KEY}:refused", 0, -1)
    assert json.loads(kept)["entry"] == "https://me:***@shop.example/"
    assert "canary" not in kept
    assert worker.fill(1) == []
    worker.refuse(entry, "once more")
    assert redis_client.llen(f"{KEY}:refused") == 1


def test_refused_entries_are_bounded(join: Join, redis_client: redis.Redis) -> None:
    """The newest stay; a feeder gone wild does not fill Redis."""
    redis_client.rpush(KEY, *range(REFUSED_KEPT + 5))
    worker = join("one")
    for entry in worker.fill(REFUSED_KEPT + 5):
        worker.refuse(entry, "no URL")
    assert redis_client.llen(f"{KEY}:refused") == REFUSED_KEPT
    assert json.loads(str(redis_client.lindex(f"{KEY}:refused", 0)))["entry"] == str(REFUSED_KEPT + 4)


def test_a_bad_network_loses_nothing_and_doubles_nothing(
    redis_database: str, redis_client: redis.Redis
) -> None:
    """Requests and answers get lost, and calls are sent again: each entry comes once, under one id."""
    redis_client.rpush(KEY, *range(24))
    faults = [Fault.ANSWER_LOST, Fault.REQUEST_LOST, Fault.ANSWER_CUT, None, None]
    dice, seen = random.Random(3), dict[str, bytes]()
    with flaky_proxy(redis_database) as proxy:
        worker = FleetQueue(proxy.url, KEY, "one", silent_ms=LONG_MS)
        while len(seen) < 24:
            proxy.faults = [fault for fault in dice.choices(faults, k=3) if fault]
            with suppress(FleetUnavailableError):
                entries = worker.fill(4)
                seen.update({entry.id: entry.data for entry in entries})
                worker.done(entries)
        proxy.faults = []
        worker.done(worker.fill(4))
        assert worker.waiting() == 0
        worker.close()
    assert sorted(int(data) for data in seen.values()) == list(range(24))
