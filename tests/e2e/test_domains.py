"""One visitor a domain, across processes, on each gate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import with_status
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess

    import redis

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

SLOWLY = ("-s", "DOWNLOAD_DELAY=2")
FOR_AS_LONG_AS_IT_TAKES = ("-s", "DOWNLOAD_DELAY=100")


def hold(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]], shop: str, delay: tuple[str, str]
) -> None:
    """Have another process visit a shop, and come back when it is inside."""
    shops.forget()
    endings.append(home.start_scrapy("crawl", "pdp", "-a", f"url={shops.url(shop)}", *delay))
    wait_for(lambda: shops.log.entries(shop))


@pytest.mark.soak
def test_a_held_domain_is_refused_and_the_others_go_on(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """Three attempts, then `Domain lock timeout`; exit 5 when that was all."""
    hold(home, shops, endings, "fourth-candidate", FOR_AS_LONG_AS_IT_TAKES)
    done = home.vitrine("crawl", "pdp", shops.url("fourth-candidate"), "--json")
    [refused] = json.loads(done.stdout)["sessions"]
    assert done.returncode == 5
    assert (refused["status"], refused["error_summary"]) == ("failed", "Domain lock timeout")
    assert refused["cause"] == "domain_held"
    sessions = home.crawl(shops.url("fourth-candidate"), *(shops.url(f"shop-{n:04}") for n in range(1, 10)))
    assert [session["status"] for session in sessions] == ["failed", *["completed"] * 9]
    # The one that was inside is there still, and undisturbed.
    assert endings[0].poll() is None
    assert with_status(home, "running") == {shops.url("fourth-candidate")}


@pytest.mark.soak
def test_a_session_waits_for_its_domain_where_it_may(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """With DOMAIN_QUEUE_WAIT_SECONDS the second visitor comes after the first, and both complete."""
    home.extra["DOMAIN_QUEUE_WAIT_SECONDS"] = "60"
    hold(home, shops, endings, "plain", SLOWLY)
    [session] = home.crawl(shops.url("plain"))
    assert session["status"] == "completed"
    assert {s["status"] for s in home.sessions()} == {"completed"}
    assert shops.log.peak("plain") == 1


@pytest.mark.soak
def test_without_its_redis_no_session_runs(home: Home, shops: DemoServer) -> None:
    """REDIS_URL set and nobody there: nothing is fetched unlocked; the session says why; exit 5."""
    home.extra["REDIS_URL"] = "redis://:canary@127.0.0.1:1/0"
    shops.forget()
    done = home.vitrine("crawl", "pdp", shops.url("plain"), "--json")
    [session] = json.loads(done.stdout)["sessions"]
    assert done.returncode == 5
    assert (session["error_summary"], session["cause"]) == ("Domain lock timeout", "redis_unavailable")
    assert not shops.log.entries("plain")
    assert "canary" not in done.stdout + done.stderr


@pytest.mark.soak(minutes=10)
def test_redis_holds_domains_as_the_documented_system_does(
    home: Home, shops: DemoServer, redis_database: str, redis_client: redis.Redis
) -> None:
    """A foreign worker's domain gets no request, and its lock stays; our own is gone, its end is known."""
    home.extra["REDIS_URL"] = redis_database
    shops.forget()
    domain, other = shops.domain("plain"), shops.domain("german")
    redis_client.set(f"lock:domain:{domain}", "worker-1:session-9:1700000000", ex=300)
    sessions = home.crawl(shops.url("plain"), shops.url("german"))
    ends = {session["domain"]: (session["error_summary"], session["cause"]) for session in sessions}
    assert ends == {domain: ("Domain lock timeout", "domain_held"), other: (None, None)}
    assert not shops.log.entries("plain")
    assert list(redis_client.scan_iter("lock:*")) == [f"lock:domain:{domain}"]
    assert redis_client.get(f"lock:domain:{domain}") == "worker-1:session-9:1700000000"
    assert str(redis_client.get(f"throttle:domain:{other}")).isdecimal()
