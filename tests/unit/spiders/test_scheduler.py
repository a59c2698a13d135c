"""Scrapy's scheduler over the tasks that a run's worker hands out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from scrapy import Request
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.test import get_crawler

from crawler.crawl.context import SESSION, TASK, CrawlContext
from crawler.db.engine import DatabaseUnavailableError
from crawler.errors import ExitCode
from crawler.runs.sources import Source
from crawler.runs.task_ends import Release, TaskEnd
from crawler.spiders.scheduler import RunScheduler
from tests.unit.components import awaited
from tests.unit.runs.queues import a_run, leased, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.db.engine import Database
    from crawler.runs.tasks import LeasedTask

MOVED = "https://shop.example/moved"


class Worker:
    """Has these tasks, and notes what it hears; `ends_as` is what its end comes to."""

    def __init__(self, tasks: tuple[LeasedTask, ...], limits: dict[str, Any]) -> None:
        self.left = list(tasks)
        source = evolve(Source.of_url("https://shop.example/"), **limits)
        self.run = SimpleNamespace(id=7, source=source)
        self.ended: list[tuple[LeasedTask, TaskEnd]] = []
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.visits = SimpleNamespace(tell=lambda event, **fields: self.told.append((event, fields)))
        self.ends_as: str | Exception = ""
        self.done: dict[str, int] = {}
        self.store: Any = None

    def take(self) -> tuple[Any, LeasedTask] | None:
        """The next task, of a visit."""
        return (SimpleNamespace(id="a visit"), self.left.pop(0)) if self.left else None

    def has_ready(self) -> bool:
        """Whether there is one."""
        return bool(self.left)

    def end_soon(self, task: LeasedTask, end: TaskEnd) -> None:
        """Note it."""
        self.ended.append((task, end))

    async def close(self) -> str:
        """How the run ended, if it did."""
        if isinstance(self.ends_as, Exception):
            raise self.ends_as
        return self.ends_as


@pytest.fixture
def a_scheduler() -> Callable[..., Any]:
    """Makes one whose worker has these tasks."""

    def made(*tasks: LeasedTask, **limits: Any) -> Any:
        crawler = get_crawler()
        CrawlContext.of(crawler).run_worker = Worker(tasks, limits)  # type: ignore[assignment]
        found = RunScheduler(crawler)
        found.open(SimpleNamespace(parse_page=lambda: None, page_failed=lambda: None))  # type: ignore[arg-type]
        return found

    return made


def close(scheduler: Any) -> None:
    """As Scrapy does at the end of a crawl."""

    async def closed() -> None:
        await maybe_deferred_to_future(scheduler.close("finished"))

    awaited(closed())


@pytest.mark.parametrize(("limits", "timeout"), [({}, None), ({"fetch_timeout_seconds": 5.0}, 5)])
def test_tasks_become_requests_in_the_workers_order(
    a_scheduler: Callable[..., Any], limits: dict[str, Any], timeout: float | None
) -> None:
    """Of their visit, never filtered as duplicates, with the timeout of the source."""
    scheduler = a_scheduler(leased(1), leased(2, depth=3), **limits)
    assert scheduler.has_pending_requests()
    first, second = scheduler.next_request(), scheduler.next_request()
    assert [request.meta[TASK].lease.id for request in (first, second)] == [1, 2]
    assert (first.meta[SESSION], first.dont_filter) == ("a visit", True)
    assert (first.callback, first.errback) == (scheduler.spider.parse_page, scheduler.spider.page_failed)
    assert first.meta.get("download_timeout") == timeout
    assert scheduler.next_request() is None
    assert not scheduler.has_pending_requests()
    assert scheduler.stats.get_value("request_depth_max") == 3


def test_a_redirected_request_goes_out_first_or_is_given_back_at_the_end(
    a_scheduler: Callable[..., Any],
) -> None:
    """Its task is under way already; a stop between two redirects costs no attempt."""
    scheduler = a_scheduler(leased(1))
    redirected = Request(MOVED, meta={TASK: leased(9)})
    assert scheduler.enqueue_request(redirected)
    assert scheduler.next_request() is redirected
    scheduler.enqueue_request(redirected)
    close(scheduler)
    assert scheduler.worker.ended == [(redirected.meta[TASK], TaskEnd.given_back(Release.INTERRUPTED))]


def test_a_request_of_no_task_is_refused(a_scheduler: Callable[..., Any]) -> None:
    """It would be lost with the process, and counts against no limit."""
    scheduler = a_scheduler()
    assert not scheduler.enqueue_request(Request(MOVED))
    assert not scheduler.has_pending_requests()


def test_a_run_whose_end_cannot_be_stored_fails_the_crawl(a_scheduler: Callable[..., Any]) -> None:
    """The run stays open, and nobody takes it for done."""
    scheduler = a_scheduler()
    scheduler.worker.ends_as = DatabaseUnavailableError("the disk is full")
    close(scheduler)
    assert scheduler.worker.told == [("run_ended", {"run": 7, "exit_code": ExitCode.FAILED})]


@pytest.mark.parametrize("can_write", [True, False])
def test_the_end_of_a_run_is_told_and_reported(
    a_scheduler: Callable[..., Any], database: Database, tmp_path: Path, *, can_write: bool
) -> None:
    """A report that cannot be written costs nothing else."""
    home = tmp_path / "home"
    if not can_write:
        home.write_text("no folder")
    scheduler = a_scheduler()
    worker = scheduler.worker
    worker.run.id, worker.done = a_run(database, page(1)), {"stored": 2}
    worker.store, worker.visits.settings = (
        SimpleNamespace(database=database),
        SimpleNamespace(vitrine_home=home),
    )
    worker.ends_as = "stopped"
    close(scheduler)
    [(event, told)] = worker.told
    assert event == "run_ended"
    assert {"run": worker.run.id, "status": "stopped", "stored": 2}.items() <= told.items()
    assert sum(told["tasks"].values()) == 1
    assert home.is_dir() is can_write
