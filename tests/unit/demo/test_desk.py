"""What is answered: out of the cache where it is always the same, and by the desk about itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawler.demo.desk import PageCache
from crawler.demo.wire import Reply
from tests.unit.demo.asking import ask, read

if TYPE_CHECKING:
    from crawler.demo import DemoServer


def test_the_page_cache_keeps_to_its_budget() -> None:
    """What was asked for least recently goes first."""
    cache = PageCache(100)
    for name in ("a", "b", "c"):
        cache.put(name, Reply(b"x" * 40))
    assert cache.get("a") is None
    assert cache.get("b") is not None
    cache.put("d", Reply(b"x" * 40))
    assert cache.get("b") is not None
    assert cache.get("c") is None


def test_a_page_that_two_have_made_at_once_counts_once() -> None:
    """Else the budget is used up by what is not there, until nothing can be kept at all."""
    cache = PageCache(100)
    for _ in range(5):
        cache.put("a", Reply(b"x" * 40))
    cache.put("b", Reply(b"x" * 40))
    assert (cache.get("a"), cache.get("b")) == (Reply(b"x" * 40), Reply(b"x" * 40))
    cache.put("large", Reply(b"x" * 101))
    assert [cache.get(name) for name in ("a", "b", "large")] == [None] * 3


def test_the_desk_takes_two_orders(demo: DemoServer) -> None:
    """A day can be set, and everything forgotten."""
    url = demo.url("price-changes", "/products/fogbound-tumbler")
    first = read(url)
    assert ask(f"{demo.front}-/day/4", "POST").text == '{"day": 4}'
    assert read(url) == read(url)
    assert ask(f"{demo.front}-/forget", "POST").status == 200
    assert read(url) == first
    assert len(demo.log.entries()) == 1


def test_the_desk_knows_the_shops(demo: DemoServer) -> None:
    """Every shop is listed, and anything else is not found."""
    assert json.loads(read(f"{demo.front}-/shops")) == demo.urls
    assert ask(f"{demo.front}-/till").status == 404
