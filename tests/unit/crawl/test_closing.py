"""A crawl that is being ended holds nothing up, and lets nothing more out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from crawler.crawl.closing import drops_its_queue, is_closing, let_queue_run, tell_refusal
from crawler.errors import UsageError
from tests.unit.components import Visits


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


def test_what_waits_comes_up_at_once() -> None:
    """In each slot, whatever its delay."""
    processed: list[Any] = []

    def a_slot() -> Any:
        slot = SimpleNamespace(delay=60.0, jitter=5.0, closed=False)
        slot.close = lambda: setattr(slot, "closed", True)
        return slot

    slots = {"a": a_slot(), "b": a_slot()}
    downloader = SimpleNamespace(slots=slots, _process_queue=processed.append)
    let_queue_run(SimpleNamespace(engine=SimpleNamespace(downloader=downloader)))  # type: ignore[arg-type]
    assert processed == list(slots.values())
    assert [(slot.delay, slot.jitter, slot.closed) for slot in processed] == [(0, 0, True)] * 2


def test_a_refusal_is_told_to_who_listens() -> None:
    """With its code, its hint and its exit code."""
    told: list[tuple[str, dict[str, Any]]] = []
    visits: Any = Visits()
    visits.listeners.append(lambda event, **said: told.append((event, said)))
    tell_refusal(visits, UsageError("no", hint="yes"))
    assert told == [("refused", {"exit_code": 2, "code": "usage", "error": "no", "hint": "yes"})]
