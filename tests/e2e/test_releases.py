"""Whatever ends a session, its end is stored and its domain is free."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import redis

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak

AT_ONCE = ("-s", "DOWNLOAD_DELAY=0")
# What is kept of the visit to which shop.
KEPT = {"start": "hub", "next": "german", "all": "french", "errback": "swiss", "nothing": "plain"}


def added(setting: str, component: str, order: int) -> tuple[str, str]:
    """`-s` with one component more than the project has."""
    return "-s", f"{setting}={json.dumps({f'tests.e2e.broken.{component}': order})}"


# The spider is closed long before there would be nothing left to ask for.
UNHURRIED = ("-s", "DOWNLOAD_DELAY=2")


@pytest.mark.parametrize(
    ("options", "status", "cause"),
    [
        (added("ITEM_PIPELINES", "BrokenPipeline", 400), "partial", "no_valid_candidate"),
        (added("ITEM_PIPELINES", "BrokenPipeline", 200), "failed", "store_failed"),
        (added("DOWNLOADER_MIDDLEWARES", "BrokenRequests", 500), "failed", "crashed"),
        (added("DOWNLOADER_MIDDLEWARES", "BrokenResponses", 50), "failed", "crashed"),
        (("-s", "CLOSESPIDER_PAGECOUNT=1", *UNHURRIED), "failed", "interrupted"),
        (("-s", "CLOSESPIDER_ITEMCOUNT=1", *UNHURRIED), "failed", "interrupted"),
    ],
    ids=["after the store", "before the store", "requests", "responses", "page count", "item count"],
)
def test_the_domain_is_released_and_the_end_is_stored(
    home: Home,
    shops: DemoServer,
    redis_database: str,
    redis_client: redis.Redis,
    options: tuple[str, ...],
    status: str,
    cause: str,
) -> None:
    """An exception in any pipeline or middleware, and Scrapy's own ways to close a spider."""
    home.extra["REDIS_URL"] = redis_database
    done = home.scrapy("crawl", "pdp", "-a", f"url={shops.url('hub')}", "-s", "DOWNLOAD_DELAY=0", *options)
    assert done.returncode == {"partial": 3, "failed": 1}[status]
    [session] = home.sessions()
    assert (session["status"], session["cause"]) == (status, cause)
    assert session["finished_at"]
    assert not list(redis_client.scan_iter("lock:*"))
    assert [a["type"] for a in session["artifacts"]].count("session_logs_jsonl") == 1


def test_a_visit_whose_request_somebody_kept_ends_soon(
    home: Home, shops: DemoServer, redis_database: str, redis_client: redis.Redis
) -> None:
    """Whoever kept it, a visit with nothing under way lets go of domain, lock and slot; the others go on."""
    home.extra["REDIS_URL"] = redis_database
    kept = {name: shops.url(shop, f"/?keep={name}") for name, shop in KEPT.items()}
    options = (
        *added("SPIDER_MIDDLEWARES", "KeepsRequests", 500),
        *added("DOWNLOADER_MIDDLEWARES", "KeepsRequests", 500),
    )
    done = home.scrapy("crawl", "pdp", "-a", f"url={' '.join(kept.values())}", *AT_ONCE, *options, timeout=60)
    assert done.returncode == 3
    ends = {session["url"]: (session["status"], session["cause"]) for session in home.sessions()}
    lost = ("failed", "lost")
    assert {name: ends[url] for name, url in kept.items()} == {
        "start": lost, "next": lost, "all": lost, "errback": lost, "nothing": ("completed", None),
    }  # fmt: skip
    assert not list(redis_client.scan_iter("lock:*"))
