"""The log remembers what a test about politeness needs to know."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from threading import Barrier
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.unit.demo.asking import AGENT, ask
from tests.waiting import PATIENCE_SECONDS, wait_for

if TYPE_CHECKING:
    from crawler.demo import DemoServer


def until_logged(demo: DemoServer, shop: str, count: int) -> None:
    """Wait until the server has seen that many requests end."""
    wait_for(lambda: len(demo.log.entries(shop)) >= count)


def test_each_request_is_remembered(demo: DemoServer) -> None:
    """When, what, by whom, and how it ended."""
    before = time.monotonic()
    ask(demo.url("german", "/nowhere?x=1"))
    (seen,) = demo.log.entries("german")
    assert (seen.method, seen.path, seen.status) == ("GET", "/nowhere?x=1", 404)
    assert seen.user_agent == AGENT
    assert seen.host == urlsplit(demo.url("german")).netloc
    assert before <= seen.at <= seen.ended <= time.monotonic()


def test_gaps_run_from_the_end_of_one_to_the_start_of_the_next(demo: DemoServer) -> None:
    """Other shops do not count."""
    ask(demo.url("plain", "/scenario/slow/?ms=100"))
    time.sleep(0.05)
    ask(demo.url("plain"))
    ask(demo.url("polish"))
    (gap,) = demo.log.gaps("plain")
    first, second = demo.log.entries("plain")
    assert 0.05 <= gap <= second.at - first.at - 0.1


def test_peak_counts_what_is_under_way_at_once(demo: DemoServer) -> None:
    """Per shop, and it falls again."""
    urls = [demo.url("plain", "/scenario/slow/?ms=1500")] * 4 + [demo.url("polish")]
    together = Barrier(5)

    def ask_together(url: str) -> None:
        together.wait(PATIENCE_SECONDS)
        ask(url)

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(ask_together, urls))
    assert demo.log.peak("plain") == 4
    assert demo.log.peak("polish") == 1
    ask(demo.url("plain"))
    assert demo.log.entries("plain")[-1].concurrent == 1


def test_a_client_that_left_is_no_longer_under_way(demo: DemoServer) -> None:
    """A time-out at the client ends its request here too, with status 0."""
    connection = HTTPConnection(urlsplit(demo.url("slow")).netloc, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/?ms=60000")
    time.sleep(0.05)
    connection.close()
    until_logged(demo, "slow", 1)
    (seen,) = demo.log.entries("slow")
    assert seen.status == 0
    ask(demo.url("slow", "/robots.txt"))
    assert demo.log.peak("slow") == 1


def test_a_reset_is_remembered_too(demo: DemoServer) -> None:
    """With status 0, since nothing was answered."""
    with pytest.raises(ConnectionResetError):
        ask(demo.url("reset"))
    until_logged(demo, "reset", 1)
    assert [seen.status for seen in demo.log.entries("reset")] == [0]
