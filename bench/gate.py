"""What the domain gate costs: `python -m bench.gate` (it starts its own Redis and PostgreSQL)."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from attrs import frozen
from redis import Redis
from scrapy import Request
from scrapy.utils.test import get_crawler

from crawler.access.acquisition import Acquisitions, DomainAcquisition, Wait, Waiter
from crawler.access.gate import GateTimes, Held
from crawler.access.local_gate import LocalGate
from crawler.access.redis_gate import RedisGate
from crawler.config import load_settings
from crawler.crawl.context import SESSION, CrawlContext
from crawler.crawl.visits import Domains
from crawler.db.engine import Database
from crawler.db.models.base import Base
from crawler.middlewares.domain_gate import DomainGateMiddleware
from crawler.sessions.journal import Journal
from crawler.sessions.rows import Fence, SessionOrder
from crawler.sessions.visit import Visit
from tests.servers import own_postgresql, own_redis

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from crawler.access.gate import Gate
    from crawler.stores import Stores as OpenStores

TIMES = GateTimes(lock_ttl_ms=300_000, min_delay_ms=2000, throttle_ttl_ms=60_000, max_delay_ms=300_000)
ROUNDS = 1000
DOMAINS = 200
THREADS = 8
FETCH_SECONDS = 0.005  # a session's own work, as short as a page of the neighbourhood
COUNTED_SESSIONS = 100


@frozen
class Stores:
    """The servers of this run, and the gates on them."""

    redis_url: str
    gates: dict[str, Gate]


@contextmanager
def opened_stores() -> Generator[Stores]:
    """Start the servers, open a gate on each."""
    with ExitStack() as stack:
        redis_url = stack.enter_context(own_redis()).url
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        gates: dict[str, Gate] = {"Redis": RedisGate(redis_url, TIMES)}
        for name, url in (
            ("SQLite", f"sqlite:///{folder / 'bench.db'}"),
            ("PostgreSQL", stack.enter_context(own_postgresql()).url),
        ):
            database = Database(url)
            stack.callback(database.close)
            Base.metadata.create_all(database.engine)
            gates[name] = LocalGate(database, TIMES)
        for gate in gates.values():
            stack.callback(gate.close)
        yield Stores(redis_url, gates)


def micros(call: Callable[[int], Any], rounds: int = ROUNDS) -> float:
    """The median of a call, in microseconds."""
    found = []
    for number in range(rounds):
        began = time.perf_counter()
        call(number)
        found.append((time.perf_counter() - began) * 1e6)
    return statistics.median(found)


def calls_of(gate: Gate) -> dict[str, float]:
    """Each call of a gate, on domains that nobody else wants."""
    held: list[Held] = []

    def acquire(number: int) -> None:
        answer = gate.acquire(f"{number}.example", "bench")
        if not isinstance(answer, Held):
            raise TypeError("nobody else is here")
        held.append(answer)

    return {
        "acquire": micros(acquire),
        "extend": micros(lambda number: gate.extend(held[number])),
        "release": micros(lambda number: gate.release(held[number])),
    }


def calls_of_peers(redis_url: str) -> dict[str, dict[str, float]]:
    """The least that a lock in Redis can cost, and the lock that comes with redis-py."""
    with Redis.from_url(redis_url) as client:
        locks = [client.lock(f"peer:{number}", timeout=300) for number in range(ROUNDS)]
        return {
            "plain SET NX, PEXPIRE, DEL": {
                "acquire": micros(lambda n: client.set(f"plain:{n}", "x", nx=True, px=300_000)),
                "extend": micros(lambda n: client.pexpire(f"plain:{n}", 300_000)),
                "release": micros(lambda n: client.delete(f"plain:{n}")),
            },
            "redis-py Lock (no throttle)": {
                "acquire": micros(lambda n: locks[n].acquire(blocking=False)),
                "extend": micros(lambda n: locks[n].reacquire()),
                "release": micros(lambda n: locks[n].release()),
            },
        }


def round_trips(stores: Stores, *, with_delay: bool) -> float:
    """Scripts that the server saw, a session."""
    gate = RedisGate(stores.redis_url, GateTimes(300_000, 10 if with_delay else 0, 60_000, 300_000))
    acquisitions = the_way_in(gate, {})
    with Redis.from_url(stores.redis_url) as client:
        client.flushdb()
        visit(acquisitions, "warm.example", 0)
        before = scripts_seen(client)
        for _ in range(COUNTED_SESSIONS):
            visit(acquisitions, "counted.example", 0)
        seen = scripts_seen(client) - before
    acquisitions.renewer.close()
    gate.close()
    return seen / COUNTED_SESSIONS


def scripts_seen(client: Redis) -> int:
    """Script calls since the server's start, by its own count."""
    stats: dict[str, Any] = client.info("commandstats")
    return sum(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("eval", "evalsha"))


def sessions_a_second(gate: Gate, settings: dict[str, Any]) -> float:
    """Sessions of many domains, some at once, each with a little work of its own."""
    acquisitions = the_way_in(gate, settings)
    began = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda n: visit(acquisitions, f"site-{n}.example", FETCH_SECONDS), range(DOMAINS)))
    seconds = time.perf_counter() - began
    acquisitions.renewer.close()
    return DOMAINS / seconds


def the_way_in(gate: Gate, settings: dict[str, Any]) -> Acquisitions:
    """A process's way in."""
    return Acquisitions(gate, load_settings(settings))


def visit(acquisitions: Acquisitions, domain: str, seconds: float) -> None:
    """One session."""
    waiter = Waiter(str(uuid4()), domain, Untold(), lambda *_: None)
    acquisition = DomainAcquisition(acquisitions, waiter)
    while isinstance(step := acquisition.advance(), Wait):
        time.sleep(step.milliseconds / 1000)
    time.sleep(seconds)
    acquisition.leave()


class Untold:
    """Takes events, and keeps none."""

    def info(self, event_type: str, message: str, **details: Any) -> None:
        """Forget it."""

    warn = error = info


def gated_request() -> float:
    """Microseconds that the middleware takes for a request whose session holds the domain."""
    crawler = get_crawler(settings_dict={"VITRINE_HOME": tempfile.gettempdir()})
    visits = CrawlContext.of(crawler).visits
    session_id, order = uuid4(), SessionOrder("https://shop.example/", "shop.example")
    visit = Visit(Fence(session_id, "bench", 1), order, Journal(str(session_id), order.domain))
    visits.running[visit.id] = visit
    middleware = DomainGateMiddleware.from_crawler(crawler)
    request = Request("https://www.shop.example/p/1", meta={SESSION: visit.id})

    async def passed() -> float:
        visits.domains = Domains(cast("OpenStores", None), visits.threads, visits)
        visits.domains.belong_to(visit, cast("DomainAcquisition", None))  # all that is asked
        began = time.perf_counter()
        for _ in range(ROUNDS):
            await middleware.process_request(request)
        return (time.perf_counter() - began) / ROUNDS * 1e6

    return asyncio.run(passed())


def main() -> None:
    """Measure and print."""
    print(f"a request while the lock is held: {gated_request():.0f} microseconds, no round trip\n")
    with opened_stores() as stores:
        print("microseconds a call (median)          acquire   extend  release")
        rows = {f"gate on {name}": calls_of(gate) for name, gate in stores.gates.items()}
        for name, calls in {**rows, **calls_of_peers(stores.redis_url)}.items():
            print(f"  {name:34}", *(f"{calls[call]:8.0f}" for call in ("acquire", "extend", "release")))

        print("\nround trips a session, counted at the Redis server (limit: 3)")
        print(f"  nothing to wait for                {round_trips(stores, with_delay=False):8.2f}")
        print(f"  with a delay under the lock        {round_trips(stores, with_delay=True):8.2f}")

        work = f"{THREADS} at once, {FETCH_SECONDS * 1000:.0f} ms of work"
        print(f"\nsessions a second, {DOMAINS} domains, {work}")
        base = sessions_a_second(stores.gates["Redis"], {"disable_locks": True})
        print(f"  DISABLE_LOCKS=true                 {base:8.0f}")
        for name, gate in stores.gates.items():
            rate = sessions_a_second(gate, {})
            print(f"  gate on {name:26} {rate:8.0f}   {rate / base:.0%}")


if __name__ == "__main__":
    main()
