"""A worker at a visits: what it begins, what it passes by, and what it waits for."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field
from sqlalchemy import update

from crawler.config import load_settings
from crawler.crawl.visits import Visits
from crawler.db.engine import DatabaseUnavailableError
from crawler.db.models import CrawlSession
from crawler.fleet import worker as fleet_worker
from crawler.fleet.queue import FleetQueue
from crawler.fleet.store import FleetStore
from crawler.fleet.worker import Worker
from crawler.leases.backoff import Backoff
from crawler.sessions.rows import SessionOrder
from tests.waiting import PATIENCE_SECONDS, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    import redis

    from crawler.config import Settings
    from crawler.sessions.visit import Visit
    from crawler.stores import Stores

KEY = "pdp:start_urls"


@pytest.fixture
def settings(tmp_path: Path, redis_database: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A folder of the test's own, and no waiting."""
    monkeypatch.setattr(fleet_worker, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(fleet_worker, "PAUSES", Backoff(0.05, maximum=1))
    given = {"VITRINE_HOME": str(tmp_path), "DOMAIN_MIN_DELAY_MS": "0", "SESSIONS_AT_ONCE": "4"}
    return load_settings({**given, "DATABASE_URL": "", "REDIS_URL": redis_database})


@define
class Bench:
    """A worker, and visits that take a moment and are done."""

    visits: Visits
    stores: Stores
    worker: Worker
    at_once: list[set[str]] = field(factory=list)  # the domains that were visited beside each other
    done: list[str] = field(factory=list)
    wanted: int = 1  # none ends before so many were there beside each other

    async def see_through(self, visit: Visit) -> None:
        """A visit, with a moment in which one too many would begin."""
        self.at_once.append({each.order.domain for each in self.visits.running.values()})
        await until(lambda: self.most() >= self.wanted)
        await asyncio.sleep(0.1)
        await self.visits.end(visit)
        self.done.append(visit.order.domain)

    def most(self) -> int:
        """How many there were beside each other."""
        return max(map(len, self.at_once))

    async def until_done(self, count: int) -> None:
        """Wait for so many visits."""
        await until(lambda: len(self.done) >= count)

    async def work(self) -> None:
        """Until there has been nothing to do for a moment."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.worker.work(self.see_through)


def order_of(data: bytes) -> SessionOrder:
    """The domain that an entry names."""
    return SessionOrder(f"https://{data.decode()}/", data.decode())


def at_bench(
    settings: Settings, work: Callable[[Bench], Awaitable[None]], *, idle_seconds: float = 0.2
) -> None:
    """Do something with a worker, in an event loop of its own."""

    async def main() -> None:
        visits = Visits(settings)
        stores = await visits.open()
        worker = Worker(
            visits=visits,
            queue=FleetQueue(settings.redis_url, KEY, stores.sessions.owner, silent_ms=60_000),
            store=FleetStore(stores.sessions),
            order_of=order_of,
            most_at_once=8,
            idle_seconds=idle_seconds,
        )
        try:
            await work(Bench(visits, stores, worker))
        finally:
            await worker.leave()
            await visits.close(completed=False)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(main())).result()


def domains(count: int) -> list[str]:
    """So many shops."""
    return [f"shop-{number}.example" for number in range(count)]


def test_it_works_side_by_side_as_far_as_it_may(settings: Settings, redis_client: redis.Redis) -> None:
    """Each entry once, as many at a time as SESSIONS_AT_ONCE says, and one of a domain."""
    redis_client.rpush(KEY, *domains(9), *domains(3))

    async def work(bench: Bench) -> None:
        bench.wanted = 4
        await bench.work()
        assert sorted(bench.done) == sorted([*domains(9), *domains(3)])
        assert bench.most() == 4

    at_bench(settings, work)


def test_suspects_are_visited_one_at_a_time(settings: Settings, redis_client: redis.Redis) -> None:
    """So that a page which kills takes no other suspect with it; those without a death go beside them."""

    async def work(bench: Bench) -> None:
        bench.worker.store.add([evolved(domain) for domain in domains(7)], {})
        suspects = set(domains(4))
        with bench.stores.database.write() as db:
            db.execute(update(CrawlSession).where(CrawlSession.domain.in_(suspects)).values(deaths=1))
        bench.wanted = 2
        await bench.work()
        assert sorted(bench.done) == domains(7)
        assert max(len(beside & suspects) for beside in bench.at_once) == 1

    at_bench(settings, work)


def test_what_the_dead_had_in_hand_is_done_first(settings: Settings, redis_client: redis.Redis) -> None:
    """Entries that they took, and sessions that they ran; both are counted."""
    redis_client.rpush(KEY, *domains(2))
    dead = FleetQueue(settings.redis_url, KEY, "dead", silent_ms=0)
    dead.fill(2)
    dead.close()
    counted: Counter[str] = Counter()

    async def work(bench: Bench) -> None:
        bench.worker.count = lambda event, number: counted.update({event: number})
        bench.worker.store.add([evolved("ran.example")], {})
        with bench.stores.database.write() as db:
            gone = db.now - timedelta(days=1)
            db.execute(update(CrawlSession).values(status="running", owner="dead", alive_until=gone))
        await bench.work()
        assert sorted(bench.done) == ["ran.example", *domains(2)]

    at_bench(settings, work)
    assert (counted["taken_over"], counted["recovered"], counted["taken"]) == (2, 1, 2)


def evolved(domain: str) -> SessionOrder:
    """An order as an entry of its own gives it."""
    return SessionOrder(f"https://{domain}/", domain, entry_id=domain)


def test_a_long_delay_holds_up_its_domain_only(settings: Settings, redis_client: redis.Redis) -> None:
    """A site that asked for a minute keeps no slot for that minute."""
    delayed, *others = domains(6)
    redis_client.rpush(KEY, delayed, *others)

    async def work(bench: Bench) -> None:
        bench.stores.gate.ask_delay(delayed, 60, "Retry-After")
        bench.worker.idle_seconds = 0
        working = asyncio.ensure_future(bench.work())
        await bench.until_done(len(others))
        assert sorted(bench.done) == others
        assert bench.stores.gate.state(delayed).value is None
        assert [each.order.domain for each in bench.worker.store.waiting(9, ())] == [delayed]
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    at_bench(settings, work)


def test_it_goes_on_when_what_was_away_is_back(
    settings: Settings,
    redis_client: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After a pause that is told once; nothing that was taken is lost."""
    redis_client.rpush(KEY, *domains(3))
    caplog.set_level("INFO", "crawler")

    async def work(bench: Bench) -> None:
        add, failures = bench.worker.store.add, [DatabaseUnavailableError("away"), RuntimeError("a bug")]

        def add_or_fail(*given: Any) -> int:
            if failures:
                raise failures.pop()
            return add(*given)

        monkeypatch.setattr(bench.worker.store, "add", add_or_fail)
        await bench.work()
        assert sorted(bench.done) == domains(3)

    at_bench(settings, work)
    events = [record.getMessage() for record in caplog.records]
    assert (events.count("fleet.paused"), events.count("fleet.goes_on")) == (1, 1)


def test_a_visit_that_fails_ends_nobody_else(settings: Settings, redis_client: redis.Redis) -> None:
    """Whatever is raised, the worker goes on; who began the visit ends it with the visits."""
    redis_client.rpush(KEY, *domains(3))

    async def work(bench: Bench) -> None:
        async def see_through(visit: Visit) -> None:
            if visit.order.domain == domains(3)[1]:
                raise RuntimeError("a bug")
            await bench.see_through(visit)

        working = asyncio.ensure_future(bench.worker.work(see_through))
        await bench.until_done(2)
        assert sorted(bench.done) == [domains(3)[0], domains(3)[2]]
        assert not working.done()
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    at_bench(settings, work)
