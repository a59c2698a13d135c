"""Workers as processes: queueing for one domain, killed, with clocks that are wrong by hours."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from crawler.access.gate import Busy, Held
from tests.integration.gate.stores import times
from tests.integration.gate.worker import DOMAIN
from tests.programs.clock import skewed_by
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.integration.gate.stores import OpenStores

HOUR = 3600
DELAY_SECONDS = 0.05

Worker = subprocess.Popen[str]


@contextmanager
def worker(surroundings: dict[str, str] | None = None, /, **order: Any) -> Generator[Worker]:
    """A worker process; it is gone at the end of the block."""
    command = [sys.executable, "-W", "error", "-m", "tests.integration.gate.worker", json.dumps(order)]
    environment = {**os.environ, **(surroundings or {})}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: Worker) -> dict[str, Any]:
    """The next thing that a worker says."""
    assert process.stdout
    line: dict[str, Any] = json.loads(process.stdout.readline())
    return line


def all_lines(process: Worker) -> list[dict[str, Any]]:
    """All that a worker has still to say; it must end well."""
    assert process.stdout
    lines = [json.loads(line) for line in process.stdout]
    assert process.wait(PATIENCE_SECONDS) == 0
    return lines


def visits(
    shares: dict[int, list[str]], wrong_clock: Path | None = None, **order: Any
) -> list[dict[str, Any]]:
    """What processes said that visit one domain at the same time; each has a wrong clock, and sessions."""
    lines: list[dict[str, Any]] = []
    with ExitStack() as stack, ThreadPoolExecutor(len(shares)) as readers:
        workers = [
            stack.enter_context(
                worker(skewed_by(skew, wrong_clock) if wrong_clock else {}, **order, sessions=share)
            )
            for skew, share in shares.items()
        ]
        for said in readers.map(all_lines, workers):
            lines += said
    return lines


def require_order(lines: list[dict[str, Any]], sessions: int) -> None:
    """One at a time, none before the delay was over, and nobody lost the domain."""
    found = sorted((line["start"], line["end"]) for line in lines if line["event"] == "visited")
    assert len(found) == sessions
    assert min(start - end for (_, end), (start, _) in pairwise(found)) >= DELAY_SECONDS
    assert not {line["event"] for line in lines} & {"lost", "lock.acquire.timeout", "lock.release.stale"}


def order_of(store_url: str, seconds: float) -> dict[str, Any]:
    """A visit's order, with a queue wait."""
    return {
        "task": "visit", "store": store_url, "min_delay_ms": DELAY_SECONDS * 1000, "queue_wait_seconds": 300,
        "seconds": seconds,
    }  # fmt: skip


def test_sessions_of_several_processes_come_one_after_the_other(store_url: str) -> None:
    """With a queue wait all of them come in, none before the delay is over."""
    shares = {number: [f"{number}-{turn}" for turn in range(3)] for number in range(2)}
    lines = visits(shares, **order_of(store_url, 0.2))
    require_order(lines, sessions=6)
    events = {line["event"] for line in lines}
    assert events >= {"throttle.wait", "lock.acquire.success", "lock.release.success"}


SOAK = pytest.mark.soak(minutes=20)


@pytest.mark.parametrize(
    ("backend", "turns"),
    [
        ("postgres_database", 3),
        pytest.param("redis_database", 3, marks=pytest.mark.soak(minutes=1)),
        pytest.param("redis_database", 150, marks=SOAK),
        pytest.param("postgres_database", 150, marks=SOAK),
    ],
)
def test_wrong_clocks_let_nobody_in_early(
    backend: str, request: pytest.FixtureRequest, wrong_clock: Path, turns: int
) -> None:
    """The server's clock decides, whatever its clients believe; these disagree by hours."""
    url = request.getfixturevalue(backend)
    shares = {skew: [f"{skew}-{turn}" for turn in range(turns)] for skew in (-3 * HOUR, 5 * HOUR)}
    lines = visits(shares, wrong_clock, **order_of(url, 0.1))
    require_order(lines, sessions=2 * turns)
    right = time.time() - time.monotonic()
    wrong = {
        round((line["wall"] - line["start"] - right) / HOUR) for line in lines if line["event"] == "begun"
    }
    assert wrong == {-3, 5}


def test_killed_holder_of_a_redis_lock(redis_database: str, stores: OpenStores) -> None:
    """Kill -9 leaves the lock for its time to live, and no longer."""
    gate = stores.gate(redis_database, times(1500))
    with worker(task="hold", store=redis_database, ttl_ms=1500) as process:
        token = next_line(process)["token"]
        time.sleep(1.8)  # it was renewed
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        answer = gate.acquire(DOMAIN, "next")
        assert isinstance(answer, Busy)
        assert answer.value == token
        time.sleep(answer.expires_in_ms / 1000 + 0.05)
        assert isinstance(gate.acquire(DOMAIN, "next"), Held)


@pytest.mark.parametrize("backend", ["sqlite_database", "postgres_database"])
def test_killed_holder_of_a_local_lock(
    backend: str, request: pytest.FixtureRequest, stores: OpenStores
) -> None:
    """On the same machine a dead process's lock is free at once, a stopped one's is not.

    Its successor waits for the least delay from then: between two signs of life nobody can tell when it died.
    """
    url = request.getfixturevalue(backend)
    gate = stores.gate(url, times(300_000, min_delay_ms=20_000))
    with worker(task="hold", store=url, ttl_ms=300_000) as process:
        token = next_line(process)["token"]
        os.kill(process.pid, signal.SIGSTOP)
        answer = gate.acquire(DOMAIN, "next")
        assert isinstance(answer, Busy)
        assert answer.value == token
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        held = gate.acquire(DOMAIN, "next")
        assert isinstance(held, Held)
        assert held.wait_ms == 20_000
        assert gate.extend(held)  # it waits, and so does whoever comes after it
        busy = gate.acquire(DOMAIN, "third")
        assert isinstance(busy, Busy)
        assert busy.value == held.token
        assert busy.wait_ms > 15_000
