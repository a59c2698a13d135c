"""Scrapy's scheduler over the tasks that a run's worker hands out."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import AsyncMock, Mock

import pytest
from attrs import evolve
from scrapy import Request
from scrapy.utils.test import get_crawler

from crawler.crawl.context import SESSION, TASK
from crawler.db.engine import DatabaseUnavailableError
from crawler.errors import ExitCode
from crawler.runs.sources import Source
from crawler.runs.task_ends import Release, TaskEnd
from crawler.spiders.scheduler import RunScheduler
from tests.unit.components import awaited
from tests.unit.runs.queues import a_run, leased, page

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database
    from crawler.runs.tasks import LeasedTask

MOVED = "https://shop.example/moved"


def a_scheduler(*tasks: LeasedTask, **limits: Any) -> Any:
    """One whose worker has these tasks."""
    left = list(tasks)
    made: Any = RunScheduler.__new__(RunScheduler)
    made.worker = SimpleNamespace(
        take=lambda: (SimpleNamespace(id="a visit"), left.pop(0)) if left else None,
        has_ready=lambda: bool(left),
        run=SimpleNamespace(id=7, source=evolve(Source.of_url("https://shop.example/"), **limits)),
        visits=SimpleNamespace(tell=Mock()),
        end_soon=Mock(),
        close=AsyncMock(return_value=""),
    )
    made.stats, made._came_back = get_crawler().stats, deque()
    made.spider = SimpleNamespace(parse_page=lambda: None, page_failed=lambda: None)
    return made


@pytest.mark.parametrize(("limits", "timeout"), [({}, None), ({"fetch_timeout_seconds": 5.0}, 5)])
def test_tasks_become_requests_in_the_workers_order(limits: dict[str, Any], timeout: float | None) -> None:
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


def test_a_redirected_request_goes_out_first_or_is_given_back_at_the_end() -> None:
    """Its task is under way already; a stop between two redirects costs no attempt."""
    scheduler = a_scheduler(leased(1))
    redirected = Request(MOVED, meta={TASK: leased(9)})
    assert scheduler.enqueue_request(redirected)
    assert scheduler.next_request() is redirected
    scheduler.enqueue_request(redirected)
    awaited(scheduler._close())
    scheduler.worker.end_soon.assert_called_once_with(
        redirected.meta[TASK], TaskEnd.given_back(Release.INTERRUPTED)
    )


def test_a_request_of_no_task_is_refused() -> None:
    """It would be lost with the process, and counts against no limit."""
    scheduler = a_scheduler()
    assert not scheduler.enqueue_request(Request(MOVED))
    assert not scheduler.has_pending_requests()


def test_a_run_whose_end_cannot_be_stored_fails_the_crawl() -> None:
    """The run stays open, and nobody takes it for done."""
    scheduler = a_scheduler()
    scheduler.worker.close.side_effect = DatabaseUnavailableError("the disk is full")
    awaited(scheduler._close())
    scheduler.worker.visits.tell.assert_called_once_with("run_ended", run=7, exit_code=ExitCode.FAILED)


@pytest.mark.parametrize("can_write", [True, False])
def test_the_end_of_a_run_is_told_and_reported(
    database: Database, tmp_path: Path, *, can_write: bool
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
    worker.close.return_value = "stopped"
    awaited(scheduler._close())
    [told] = worker.visits.tell.call_args_list
    assert told.args == ("run_ended",)
    assert {"run": worker.run.id, "status": "stopped", "stored": 2}.items() <= told.kwargs.items()
    assert sum(told.kwargs["tasks"].values()) == 1
    assert home.is_dir() is can_write
