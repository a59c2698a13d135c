"""A crawl that is being ended holds nothing up, and lets nothing more out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from crawler.crawl.closing import drops_its_queue, is_closing


class Own:
    """A spider that ends its visits itself."""

    ends_its_visits = True


def a_crawl(*, running: bool = True, slot: bool = True, is_ending: bool = False, spider: Any = object) -> Any:
    """A crawl, as its engine says it."""
    known = SimpleNamespace(closing=object() if is_ending else None) if slot else None
    return SimpleNamespace(engine=SimpleNamespace(running=running, _slot=known), spidercls=spider)


@pytest.mark.parametrize(
    ("crawl", "ends"),
    [
        (a_crawl(), False), (a_crawl(slot=False), False), (a_crawl(is_ending=True), True),
        (a_crawl(running=False), True), (a_crawl(running=False, slot=False), True),
    ],
)  # fmt: skip
def test_whether_it_is_being_ended(crawl: Any, *, ends: bool) -> None:
    """By a signal, or by CloseSpider, which leaves the engine running."""
    assert is_closing(crawl) is drops_its_queue(crawl) is ends


def test_a_spider_that_ends_its_visits_sees_to_its_queue() -> None:
    """Then all that waits may still go out."""
    assert not drops_its_queue(a_crawl(is_ending=True, spider=Own))
