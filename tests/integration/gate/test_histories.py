"""Histories of many workers at one domain: who held it when, and how long nobody did."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from secrets import SystemRandom
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import frozen
from redis import Redis

from crawler.access import acquisition as acquisition_module
from crawler.access.acquisition import DomainAcquisition, Entered, Wait, Waiter
from crawler.access.gate import Busy, Release
from crawler.config import load_settings
from crawler.sessions.journal import Journal
from tests.integration.gate.history import History, Interval, gaps, overlaps, run_workers, until
from tests.integration.gate.stores import times

if TYPE_CHECKING:
    import pytest

    from crawler.access.acquisition import Acquisitions
    from crawler.access.gate import Gate, Held
    from crawler.capture.failures import Cause
    from crawler.leases.renewer import Renewer
    from tests.integration.gate.stores import OpenStores

DOMAIN = "shop.example"
WORKERS = 8
DELAY_MS = 50
SKEW_SECONDS = 30


@frozen
class Pace:
    """How fast a store can be driven."""

    ttl_ms: int
    short_ms: tuple[float, float]  # holds within a lock's life
    long_ms: tuple[float, float]  # holds that need renewal
    least_holds: int
    least_renewed: int
    seconds: float = 5.5


REDIS_PACE = Pace(ttl_ms=30, short_ms=(0.5, 2), long_ms=(32, 45), least_holds=300, least_renewed=50)
DATABASE_PACE = Pace(ttl_ms=300, short_ms=(2, 10), long_ms=(320, 400), least_holds=25, least_renewed=5)


def pace_of(url: str) -> Pace:
    """Redis is asked thousands of times a second, a database is not."""
    return REDIS_PACE if url.startswith("redis") else DATABASE_PACE


def test_no_two_hold_at_once(store_url: str, stores: OpenStores) -> None:
    """Eight workers, three of ten holds longer than a lock lives: while it is renewed nobody gets in."""
    pace = pace_of(store_url)
    history, renewed = History(), History()
    enough = until(pace.seconds * 6)

    def go_on() -> bool:
        return enough() and (
            len(history.intervals) < pace.least_holds or len(renewed.intervals) < pace.least_renewed
        )

    def work(number: int) -> None:
        gate = stores.gate(store_url, times(pace.ttl_ms))
        renewer = stores.renewer(gate, pace.ttl_ms)
        chance = SystemRandom()
        while go_on():
            answer = gate.acquire(DOMAIN, f"{number}")
            if isinstance(answer, Busy):
                time.sleep(chance.uniform(0.001, 0.003) * pace.ttl_ms / 30)
                continue
            is_long = chance.random() < 0.3
            held_for = chance.uniform(*(pace.long_ms if is_long else pace.short_ms)) / 1000
            _hold(gate, renewer, answer, held_for, history, renewed if is_long else History())

    run_workers(work, WORKERS)
    assert len(history.intervals) >= pace.least_holds
    assert len(renewed.intervals) >= pace.least_renewed
    assert overlaps(history.intervals) == []
    # On a machine that stalls, some renewals come too late; were it most, renewal would not work.
    assert history.lost < len(history.intervals) / 2


def _hold(
    gate: Gate, renewer: Renewer[Held], held: Held, seconds: float, history: History, renewed: History
) -> None:
    start = time.monotonic()
    renewer.keep([held])
    time.sleep(seconds)
    end = time.monotonic()
    renewer.forget([held])
    if gate.release(held) is not Release.RELEASED:
        history.add_lost()
        return
    for noted in (history, renewed):
        noted.add(Interval(start, end, held.session_id))


def test_no_gap_is_too_short(store_url: str, stores: OpenStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """From each end to the next start the least delay passes, whatever time the workers believe it is."""
    monkeypatch.setattr(acquisition_module, "LOOK_AGAIN_MS", 5)
    if not store_url.startswith("sqlite"):  # a file's clock is the machine's, which all its users share
        skew_the_clocks(monkeypatch)
    history, is_early, is_in_time = History(), until(2.5), until(120)

    def go_on() -> bool:
        return is_early() or (len(history.intervals) < 16 and is_in_time())

    def work(number: int) -> None:
        my.skew = SKEW_SECONDS if number % 2 else -SKEW_SECONDS
        acquisitions = the_way_in(stores, store_url, domain_min_delay_ms=DELAY_MS)
        chance = SystemRandom()
        while go_on():
            visit(acquisitions, f"{number}", chance.uniform(0.005, 0.040), history)

    run_workers(work, WORKERS)
    found = gaps(history.intervals)
    assert len(found) >= 15
    assert min(found) >= DELAY_MS


def test_no_gap_is_too_short_beside_the_documented_system(
    redis_database: str, stores: OpenStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deployment of it whose clock runs ahead shares the Redis: after its sessions we wait as well."""
    monkeypatch.setattr(acquisition_module, "LOOK_AGAIN_MS", 5)
    history, is_early, is_in_time = History(), until(2.5), until(120)

    def after_theirs() -> list[float]:
        return [
            (other.start - one.end) * 1000
            for one, other in pairwise(sorted(history.intervals))
            if (one.worker, other.worker) == ("theirs", "ours")
        ]

    def go_on() -> bool:
        return is_early() or (len(after_theirs()) < 3 and is_in_time())

    def work(number: int) -> None:
        acquisitions = the_way_in(stores, redis_database, domain_min_delay_ms=DELAY_MS)
        while go_on():
            visit(acquisitions, "ours", 0.010, history)

    def documented(number: int) -> None:
        with Redis.from_url(redis_database) as client:
            while go_on():
                visit_as_documented(client, history)

    run_workers(lambda number: (work if number % 2 else documented)(number), 4)
    assert overlaps(history.intervals) == []
    assert len(after_theirs()) >= 3
    assert min(after_theirs()) >= DELAY_MS


def visit_as_documented(client: Redis, history: History) -> None:
    """A session of the documented system, on a machine whose clock runs ahead."""
    if not client.set(f"lock:domain:{DOMAIN}", "worker-17:0ff5:1794990531", nx=True, ex=300):
        time.sleep(0.001)
        return
    start = time.monotonic()
    time.sleep(0.010)
    history.add(Interval(start, time.monotonic(), "theirs"))
    ahead = int((time.time() + SKEW_SECONDS) * 1000)
    # Its two commands in one step: a start between them would be its fault, not ours.
    ending = client.pipeline(transaction=True)
    ending.delete(f"lock:domain:{DOMAIN}")
    ending.set(f"throttle:domain:{DOMAIN}", str(ahead), ex=60)
    ending.execute()
    time.sleep(0.050)


class _ThisThread(threading.local):
    skew = 0.0


my = _ThisThread()


def skew_the_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every thread read its own wall clock."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + my.skew)  # ruff: ignore[shared-clock-mock] - the point
    monkeypatch.setattr("crawler.db.engine.utc_now", lambda: datetime.now(UTC) + timedelta(seconds=my.skew))


def the_way_in(stores: OpenStores, url: str, **settings: Any) -> Acquisitions:
    """The way in of one more process."""
    gate = stores.gate(url, times(30_000, settings["domain_min_delay_ms"]))
    patient = {"domain_lock_max_retries": 20, "domain_lock_backoff_base_ms": 1, **settings}
    return stores.acquisitions(gate, load_settings(patient), chance=lambda: SystemRandom().random() / 50)


def visit(acquisitions: Acquisitions, session_id: str, seconds: float, history: History) -> None:
    """One session: in, hold, out."""
    acquisition = DomainAcquisition(
        acquisitions, Waiter(session_id, DOMAIN, Journal(str(uuid4()), DOMAIN), _unexpectedly)
    )
    while isinstance(step := acquisition.advance(), Wait):
        time.sleep(step.milliseconds / 1000)
    assert isinstance(step, Entered)
    start = time.monotonic()
    time.sleep(seconds)
    history.add(Interval(start, time.monotonic(), session_id))
    acquisition.leave()


def _unexpectedly(held: Held, why: Cause) -> None:
    raise AssertionError(f"{held} was lost: {why}")
