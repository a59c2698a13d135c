"""Scrapy's scheduler over what the worker hands out."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from attrs import define, evolve, field
from scrapy import Request

from crawler.crawl.context import SESSION, TASK
from crawler.db.engine import DatabaseUnavailableError
from crawler.errors import ExitCode
from crawler.runs.sources import Source
from crawler.runs.task_ends import Release, TaskEnd
from crawler.spiders import scheduler as module
from crawler.spiders.scheduler import RunScheduler
from tests.unit.runs.queues import leased

if TYPE_CHECKING:
    from pathlib import Path

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
    status: str = ""
    source: Source = field(factory=lambda: Source.of_url("https://shop.example/"))
    done: Counter[str] = field(factory=lambda: Counter(stored=2))
    told: list[tuple[str, dict[str, Any]]] = field(factory=list)
    home: Path | None = None
    store: Any = field(factory=lambda: SimpleNamespace(database="the database"))

    @property
    def run(self) -> Any:
        """The run."""
        return SimpleNamespace(id=7, source=self.source)

    @property
    def visits(self) -> Any:
        """Its visits."""
        tell = lambda event, **fields: self.told.append((event, fields))  # ruff: ignore[lambda-assignment]
        return SimpleNamespace(settings=SimpleNamespace(vitrine_home=self.home), tell=tell)

    def take(self) -> tuple[Any, LeasedTask] | None:
        """The next."""
        return (SimpleNamespace(id="a visit"), self.tasks.pop(0)) if self.tasks else None

    def has_ready(self) -> bool:
        """Whether there is a next."""
        return bool(self.tasks)

    def end_soon(self, task: LeasedTask, came: TaskEnd) -> None:
        """Remember it."""
        assert came == TaskEnd.given_back(Release.INTERRUPTED)
        self.given_back.append(task.lease.id)

    async def close(self) -> str:
        """What became of the run, if there is one."""
        return self.status


class Spider:
    """Hears of answers."""

    def parse_page(self) -> None:
        """Of a page."""

    def page_failed(self) -> None:
        """Of none."""


def a_scheduler(*tasks: LeasedTask, **worker: Any) -> RunScheduler:
    """One of a crawl with these tasks."""
    scheduler = RunScheduler.__new__(RunScheduler)
    scheduler.worker = RunWorker(list(tasks), **worker)  # type: ignore[assignment]
    scheduler.stats = Stats()  # type: ignore[assignment]
    scheduler.spider = Spider()  # type: ignore[assignment]
    scheduler._came_back = deque()
    return scheduler


def test_tasks_become_requests_in_the_workers_order() -> None:
    """With Scrapy's own counts of depths."""
    scheduler = a_scheduler(leased(1), leased(2, depth=3))
    assert scheduler.has_pending_requests()
    first, second = scheduler.next_request(), scheduler.next_request()
    assert first
    assert second
    assert [first.meta[TASK].lease.id, second.meta[TASK].lease.id] == [1, 2]
    assert (first.meta[SESSION], first.callback, first.errback) == (
        "a visit", scheduler.spider.parse_page, scheduler.spider.page_failed,
    )  # fmt: skip
    assert first.dont_filter
    assert "download_timeout" not in first.meta
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
    closed(scheduler)
    assert scheduler.worker.given_back == [9]  # type: ignore[attr-defined]


def test_a_source_says_how_long_a_page_may_take() -> None:
    """Where it does."""
    source = evolve(Source.of_url("https://shop.example/"), fetch_timeout_seconds=5.0)
    request = a_scheduler(leased(1), source=source).next_request()
    assert request
    assert request.meta["download_timeout"] == 5


@pytest.mark.parametrize("fails", [False, True])
def test_the_end_of_a_run_is_told_and_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, fails: bool
) -> None:
    """A report that cannot be written costs nothing else; without a run there is neither."""
    asked: list[tuple[object, ...]] = []
    written: list[tuple[object, ...]] = []
    report = SimpleNamespace(exit_code=3, tasks={"finished": 2}, refused=1, last_error="why")

    def read(*given: object) -> SimpleNamespace:
        asked.append(given)
        return report

    def write(*given: object) -> None:
        written.append(given)
        if fails:
            raise OSError("no disk")

    monkeypatch.setattr(module, "read_report", read)
    monkeypatch.setattr(module, "write_report", write)
    scheduler = a_scheduler(status="stopped", home=tmp_path)
    closed(scheduler)
    assert (asked, written) == ([("the database", 7)], [(report, tmp_path / "reports")])
    worker: Any = scheduler.worker
    tasks = {"finished": 2, "refused": 1}
    told = {"run": 7, "status": "stopped", "exit_code": 3, "tasks": tasks, "reason": "why", "stored": 2}
    assert worker.told == [("run_ended", told)]
    nothing = a_scheduler()
    closed(nothing)
    assert (nothing.worker.told, len(written)) == ([], 1)  # type: ignore[attr-defined]


def closed(scheduler: RunScheduler) -> None:
    """Close it, in a loop of its own: pytest-twisted's runs in this thread."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(scheduler._close())).result()


def test_an_end_that_cannot_be_stored_fails_the_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run stays open, and nobody takes it for done."""
    scheduler = a_scheduler(status="completed")

    def refuse(_self: RunWorker) -> NoReturn:
        raise DatabaseUnavailableError("the disk is full")

    monkeypatch.setattr(RunWorker, "close", refuse)
    closed(scheduler)
    worker: Any = scheduler.worker
    assert worker.told == [("run_ended", {"run": 7, "exit_code": ExitCode.FAILED})]
