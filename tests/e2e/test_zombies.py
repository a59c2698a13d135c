"""Processes that lost their locks, to time or to an operator: what the sites see of them afterwards."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest
from attrs import frozen

from crawler.access.gate import GateTimes
from crawler.access.redis_gate import RedisGate
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess

    from crawler.demo import DemoServer
    from crawler.demo.requestlog import Seen
    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak

TTL_SECONDS = 2
LASTING_SECONDS = 24  # a renewal that comes two seconds late is not too late
MOST_ROUNDS = 30
# A request waits so long in Scrapy's own queue, where it has passed every middleware. What the processes
# say is read when they end, so it has to be little.
DELAY = ("-s", "LOG_LEVEL=WARNING", "-s", "DOWNLOAD_DELAY=3", "-s", "RANDOMIZE_DOWNLOAD_DELAY=False")


@frozen
class Takeover:
    """A domain that a stopped process held, and somebody else took."""

    shop: str
    at: float  # when the other one's first request came
    zombie: tuple[Seen, ...]  # what came of the first one after that


def unseated(
    home: Home,
    shops: DemoServer,
    names: list[str],
    endings: list[subprocess.Popen[str]],
    locks: RedisGate | None,
) -> list[Takeover]:
    """Have a process which is in all these shops lose them, and another one take them.

    Either its locks are broken, or it is stopped for longer than they live and woken when the other is there.
    """
    shops.forget()
    urls = " ".join(shops.url(name) for name in names)
    crawl = ("crawl", "pdp", "-a", f"url={urls}", *DELAY)
    slowly = ("-s", f"DOWNLOAD_DELAY={LASTING_SECONDS / 2}") if locks else ()  # its second page waits
    zombie = home.start_scrapy(*crawl, *slowly, "-s", "USER_AGENT=zombie")
    endings.append(zombie)
    wait_for(
        lambda: {entry.shop for entry in shops.log.entries() if entry.path != "/robots.txt"} >= set(names)
    )
    if locks is None:
        zombie.send_signal(signal.SIGSTOP)
    else:
        for domain in map(shops.domain, names):
            assert locks.break_lock(domain, locks.state(domain).value or "")
    other = home.start_scrapy(*crawl, "-s", "USER_AGENT=other", "-s", "DOMAIN_QUEUE_WAIT_SECONDS=60")
    endings.append(other)
    wait_for(
        lambda: (
            other.poll() is not None
            or {e.shop for e in shops.log.entries() if e.user_agent == "other"} >= set(names)
        )
    )
    zombie.send_signal(signal.SIGCONT)
    said = [process.communicate(timeout=300)[1] for process in (zombie, other)]
    assert "Traceback" not in said[0]
    assert zombie.returncode == 1  # all its sessions are another's
    return [taken for name in names if (taken := takeover_of(shops, name))]


def takeover_of(shops: DemoServer, name: str) -> Takeover | None:
    """Whatever the shop saw of the first process once the second one had come; None where it never came."""
    seen = shops.log.entries(name)
    at = next((entry.at for entry in seen if entry.user_agent == "other"), None)
    if at is None:
        return None
    return Takeover(name, at, tuple(e for e in seen if e.user_agent == "zombie" and e.at > at))


def take_over(
    home: Home,
    shops: DemoServer,
    endings: list[subprocess.Popen[str]],
    count: int,
    locks: RedisGate | None = None,
) -> list[Takeover]:
    """So many takeovers, of as many shops at a time as there are."""
    names = [name for name in shops.urls if name.startswith("shop-")]
    found: list[Takeover] = []
    for _ in range(MOST_ROUNDS):
        if len(found) >= count:
            break
        found += unseated(home, shops, names[: count - len(found)], endings, locks)
    return found


@pytest.fixture
def locked(home: Home, redis_database: str) -> Home:
    """A home whose locks are in Redis, and live for two seconds."""
    home.extra.update(
        REDIS_URL=redis_database, DOMAIN_LOCK_TTL_SECONDS=str(TTL_SECONDS), SESSIONS_AT_ONCE="20"
    )
    return home


def test_a_woken_process_sends_nothing_to_a_site_that_is_anothers(
    locked: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """Its requests had passed every middleware; the site's own log says that none was sent."""
    found = take_over(locked, shops, endings, 10)
    assert len(found) == 10
    assert [takeover for takeover in found if takeover.zombie] == []


@pytest.mark.soak(minutes=45)
def test_two_hundred_takeovers(locked: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]) -> None:
    """The same, for as long as it takes."""
    found = take_over(locked, shops, endings, 200)
    assert len(found) == 200
    assert [takeover for takeover in found if takeover.zombie] == []


@pytest.mark.soak(minutes=60)
def test_two_hundred_broken_locks(
    locked: Home, redis_database: str, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """As an operator breaks them: whoever comes next begins once the holder has heard of it."""
    locked.extra["DOMAIN_LOCK_TTL_SECONDS"] = str(LASTING_SECONDS)
    times = GateTimes(LASTING_SECONDS * 1000, min_delay_ms=50, throttle_ttl_ms=60_000, max_delay_ms=300_000)
    locks = RedisGate(redis_database, times)
    found = take_over(locked, shops, endings, 200, locks)
    locks.close()
    assert len(found) == 200
    assert [takeover for takeover in found if takeover.zombie] == []


def test_nothing_goes_out_after_a_sessions_time_is_over(
    locked: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """Its requests wait in Scrapy's own queue by then."""
    names = [name for name in shops.urls if name.startswith("shop-")][:5]
    shops.forget()
    locked.extra.update(LOG_FORMAT="json", DOMAIN_LOCK_TTL_SECONDS="3", SESSION_MAX_SECONDS="12")
    urls = " ".join(shops.url(name) for name in names)
    process = locked.start_scrapy(
        "crawl", "pdp", "-a", f"url={urls}", "-s", "DOWNLOAD_DELAY=8", "-s", "RANDOMIZE_DOWNLOAD_DELAY=False"
    )
    endings.append(process)
    _, log = process.communicate(timeout=120)
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    lost = {line["domain"]: line["reason"] for line in lines if line["event"] == "lock.lost"}
    assert lost == dict.fromkeys(map(shops.domain, names), "too_long")
    assert {e.path for name in names for e in shops.log.entries(name)} <= {"/robots.txt", "/"}
    assert {session["cause"] for session in locked.sessions()} == {"too_long"}
