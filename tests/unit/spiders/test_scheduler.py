"""Scrapy's scheduler over what the foreman hands out."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field
from scrapy import Request

from crawler.middlewares.scope import TASK
from crawler.spiders.scheduler import RunScheduler
from tests.unit.runs.queues import leased

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from crawler.runs.tasks import LeasedTask


class Stats:
    """Counts."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def inc_value(self, key: str) -> None:
        """One more."""
        self.values[key] = self.values.get(key, 0) + 1

    def max_value(self, key: str, value: int) -> None:
        """The largest."""
        self.values[key] = max(self.values.get(key, 0), value)


@define
class RunWorker:
    """Hands out what it was given."""

    tasks: list[LeasedTask] = field(factory=list)
    given_back: list[int] = field(factory=list)

    def take(self) -> tuple[str, LeasedTask] | None:
        """The next."""
        return ("a visit", self.tasks.pop(0)) if self.tasks else None

    def has_ready(self) -> bool:
        """Whether there is a next."""
        return bool(self.tasks)

    def soon(self, task: LeasedTask, work: Coroutine[Any, Any, None]) -> None:
        """Do it at once."""
        with pytest.raises(StopIteration):
            work.send(None)

    async def give_back(self, task: LeasedTask, reason: str) -> None:
        """Remember it."""
        self.given_back.append(task.lease.id)

    async def close(self) -> str:
        """There is nothing to close."""
        return "stopped"


class Spider:
    """Makes requests of tasks, and is told of the end."""

    closed: tuple[str, str] | None = None

    def request_for(self, _visit: str, task: LeasedTask) -> Request:
        """A request as the spider makes it."""
        return Request(task.url, meta={TASK: task, "depth": task.depth})

    async def run_closed(self, status: str, reason: str) -> None:
        """Remember it."""
        self.closed = status, reason


def a_scheduler(*tasks: LeasedTask) -> RunScheduler:
    """One of a crawl with these tasks."""
    scheduler = RunScheduler.__new__(RunScheduler)
    scheduler.foreman = RunWorker(list(tasks))  # type: ignore[assignment]
    scheduler.stats = Stats()  # type: ignore[assignment]
    scheduler.spider = Spider()  # type: ignore[assignment]
    scheduler._came_back = deque()
    return scheduler


def test_tasks_become_requests_in_the_foremans_order() -> None:
    """With Scrapy's own counts of depths."""
    scheduler = a_scheduler(leased(1), leased(2, depth=3))
    assert scheduler.has_pending_requests()
    first, second = scheduler.next_request(), scheduler.next_request()
    assert first
    assert second
    assert [first.meta[TASK].lease.id, second.meta[TASK].lease.id] == [1, 2]
    assert scheduler.next_request() is None
    assert not scheduler.has_pending_requests()
    assert scheduler.stats.values == {
        "request_depth_max": 3,
        "request_depth_count/0": 1,
        "request_depth_count/3": 1,
        "scheduler/dequeued": 2,
    }


def test_what_came_back_goes_out_first() -> None:
    """As after a redirect: its task is under way already."""
    scheduler = a_scheduler(leased(1))
    came_back = Request("https://shop.example/moved", meta={TASK: leased(9)})
    assert scheduler.enqueue_request(came_back)
    assert scheduler.next_request() is came_back


def test_a_request_of_no_task_is_refused() -> None:
    """It would be lost with the process, and counts against no limit."""
    scheduler = a_scheduler()
    assert not scheduler.enqueue_request(Request("https://shop.example/"))
    assert not scheduler.has_pending_requests()


def test_what_came_back_is_given_back_at_the_end() -> None:
    """A stop between two redirects costs no attempt."""
    scheduler = a_scheduler()
    scheduler.enqueue_request(Request("https://shop.example/moved", meta={TASK: leased(9)}))
    closing = scheduler._close("shutdown")
    with pytest.raises(StopIteration):
        closing.send(None)
    assert scheduler.foreman.given_back == [9]  # type: ignore[attr-defined]
    assert scheduler.spider.closed == ("stopped", "shutdown")  # type: ignore[attr-defined]
