"""Workers as processes: queueing for one domain, stopped in mid-session, killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from secrets import SystemRandom
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from crawler.access.gate import Busy, Held
from crawler.access.process import holder_of
from tests.integration.gate.history import Interval, gaps, overlaps
from tests.integration.gate.stores import times
from tests.integration.gate.worker import DOMAIN
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Generator

    from crawler.access.gate import Gate
    from crawler.db.engine import Database
    from tests.integration.gate.stores import OpenStores

STOPPED_SECONDS = 5  # at most; less than others wait for a database

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


def test_ten_sessions_of_one_domain_on_four_workers(store_url: str) -> None:
    """With a queue wait all of them come in, one after the other, none before the delay is over."""
    numbers = [f"session-{number}" for number in range(10)]
    order = {"task": "visit", "store": store_url, "min_delay_ms": 50, "queue_wait_seconds": 300}
    with ExitStack() as stack:
        workers = [
            stack.enter_context(worker(**order, seconds=0.3, sessions=numbers[first::4]))
            for first in range(4)
        ]
        lines = [line for process in workers for line in all_lines(process)]
    visits = [line for line in lines if line["event"] == "visited"]
    assert sorted(line["session"] for line in visits) == numbers
    intervals = [Interval(line["start"], line["end"], line["session"]) for line in visits]
    assert overlaps(intervals) == []
    assert min(gaps(intervals)) >= 50
    events = {line["event"] for line in lines}
    assert events >= {"lock.queue.wait", "throttle.wait", "lock.acquire.success", "lock.release.success"}
    assert not events & {"lock.acquire.timeout", "lock.release.stale", "lost"}


def test_without_a_queue_wait_attempts_decide(redis_database: str, stores: OpenStores) -> None:
    """A session that meets a holder for longer than its attempts fails, in the documented steps."""
    gate = stores.gate(redis_database, times(30_000))
    assert isinstance(gate.acquire(DOMAIN, "holder"), Held)
    order = {"task": "visit", "store": redis_database, "min_delay_ms": 0, "queue_wait_seconds": 0}
    with worker(**order, seconds=0, sessions=["refused"]) as process:
        events = [line["event"] for line in all_lines(process)]
    assert events == ["lock.acquire.retry", "lock.acquire.retry", "lock.acquire.timeout"]


@pytest.fixture
def register(request: pytest.FixtureRequest, store_url: str, stores: OpenStores) -> Database:
    """A register that its owner writes to, and a list of what was accepted; on SQLite beside a Redis."""
    url = request.getfixturevalue("sqlite_database") if store_url.startswith("redis") else store_url
    database = stores.database(url)
    serial = "INTEGER PRIMARY KEY" if database.is_sqlite else "SERIAL PRIMARY KEY"
    with database.write() as session:
        session.execute(text("CREATE TABLE register (owner TEXT, epoch INTEGER NOT NULL)"))
        session.execute(text("INSERT INTO register VALUES (NULL, 0)"))
        session.execute(text(f"CREATE TABLE writes (seq {serial}, owner TEXT, epoch INTEGER)"))
    return database


def test_stopped_holder_writes_nothing_stale(store_url: str, stores: OpenStores, register: Database) -> None:
    """Holders are stopped for longer than their locks live; what they write afterwards is refused."""
    torture(store_url, stores, register, rounds=3)


@pytest.mark.soak(minutes=20)
def test_holders_stopped_for_minutes(store_url: str, stores: OpenStores, register: Database) -> None:
    """The same, for as long as patience lasts."""
    torture(store_url, stores, register, rounds=150)


def torture(store_url: str, stores: OpenStores, register: Database, rounds: int) -> None:
    """Three writers, whose holder is stopped again and again; none of its late writes is accepted."""
    ttl_ms = 100 if store_url.startswith("redis") else 200
    gate = stores.gate(store_url, times(ttl_ms))
    order = {
        "task": "write",
        "store": store_url,
        "register": register.url.render_as_string(hide_password=False),
        "ttl_ms": ttl_ms,
        "writes": 30,
    }
    with ExitStack() as stack:
        workers = [stack.enter_context(worker(**order)) for _ in range(3)]
        for process in workers:
            assert next_line(process) == {"event": "ready"}
        for _ in range(rounds):
            time.sleep(SystemRandom().uniform(0.02, 0.1))
            stop_holder(gate, register)
        for process in workers:
            assert process.stdin
            process.stdin.close()
        counts = [all_lines(process)[-1] for process in workers]
    assert sum(count["refused"] for count in counts) >= 1
    assert sum(count["accepted"] for count in counts) >= 30
    assert_nothing_stale(register, accepted=sum(count["accepted"] for count in counts))


def stop_holder(gate: Gate, register: Database) -> None:
    """Stop who holds the domain and writes, until somebody else does."""
    patience = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < patience:
        token = gate.state(DOMAIN).value or ""
        if (holder := holder_of(token)) is None:
            continue
        os.kill(holder.pid, signal.SIGSTOP)
        try:
            # It may just have been coming or going, or have stopped where it keeps everybody from writing.
            until = time.monotonic() + STOPPED_SECONDS
            was_writing = owner_of(register) == token
            while was_writing and time.monotonic() < until:
                if owner_of(register) != token:
                    return
                time.sleep(0.01)
        finally:
            os.kill(holder.pid, signal.SIGCONT)
        time.sleep(0.01)
    pytest.fail(f"nobody was overtaken within {PATIENCE_SECONDS} seconds")


def owner_of(register: Database) -> str | None:
    """Who may write to the register."""
    with register.read() as session:
        owner: str | None = session.execute(text("SELECT owner FROM register")).scalar_one()
        return owner


def assert_nothing_stale(register: Database, accepted: int) -> None:
    """In the order of writing epochs never go back, and each has one owner."""
    with register.read() as session:
        writes = session.execute(text("SELECT owner, epoch FROM writes ORDER BY seq")).all()
    epochs = [epoch for _, epoch in writes]
    assert epochs == sorted(epochs)
    assert len({(owner, epoch) for owner, epoch in writes}) == len(set(epochs))
    assert len(writes) == accepted


def test_killed_holder_of_a_redis_lock(redis_database: str, stores: OpenStores) -> None:
    """Kill -9 leaves the lock for its time to live, and no longer."""
    gate = stores.gate(redis_database, times(3000))
    with worker(task="hold", store=redis_database, ttl_ms=3000) as process:
        token = next_line(process)["token"]
        time.sleep(3.6)  # it was renewed
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
    """On the same machine a dead process's lock is free at once, a stopped one's is not."""
    url = request.getfixturevalue(backend)
    gate = stores.gate(url, times(300_000))
    with worker(task="hold", store=url, ttl_ms=300_000) as process:
        token = next_line(process)["token"]
        os.kill(process.pid, signal.SIGSTOP)
        answer = gate.acquire(DOMAIN, "next")
        assert isinstance(answer, Busy)
        assert answer.value == token
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert gate.states() == []
        held = gate.acquire(DOMAIN, "next")
        assert isinstance(held, Held)
        assert gate.state(DOMAIN).value == held.token


@pytest.mark.parametrize("backend", ["sqlite_database", "postgres_database"])
def test_killed_holder_was_there_until_now(
    backend: str, request: pytest.FixtureRequest, stores: OpenStores
) -> None:
    """Its successor takes over at once, and waits for the least delay from then: nobody comes sooner.

    Between two signs of life nobody can tell when it died: its end is when it is found gone (SPEC A25).
    """
    url = request.getfixturevalue(backend)
    gate = stores.gate(url, times(300_000, min_delay_ms=20_000))
    with worker(task="hold", store=url, ttl_ms=300_000) as process:
        next_line(process)
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        held = gate.acquire(DOMAIN, "next")
        assert isinstance(held, Held)
        assert held.wait_ms == 20_000
        assert gate.extend(held)  # it waits, and so does whoever comes after it
        busy = gate.acquire(DOMAIN, "third")
        assert isinstance(busy, Busy)
        assert busy.wait_ms > 15_000


@pytest.mark.parametrize("backend", ["sqlite_database", "postgres_database"])
def test_successors_of_killed_visitors_never_come_too_soon(
    backend: str, request: pytest.FixtureRequest, stores: OpenStores
) -> None:
    """Six that are killed one after the other, each in the middle of its visit."""
    url = request.getfixturevalue(backend)
    order = {"task": "visit", "store": url, "min_delay_ms": 300, "queue_wait_seconds": 60, "seconds": 60}
    dice, ended, gaps_ms = SystemRandom(), 0.0, []
    for number in range(6):
        with worker(**order, sessions=[f"session-{number}"]) as process:
            while (line := next_line(process))["event"] != "begun":
                pass
            gaps_ms.append((line["start"] - ended) * 1000)
            time.sleep(dice.uniform(0, 0.4))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            ended = time.monotonic()
    assert min(gaps_ms) >= 300
