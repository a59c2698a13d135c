"""Scrapy's scheduler over a run's tasks: it hands out what is leased, and never waits for the database."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Self, cast

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro

from crawler import logs
from crawler.crawl.context import SESSION, TASK, CrawlContext
from crawler.errors import CrawlerError, ExitCode
from crawler.middlewares.navigation import ATTEMPTS_ALLOWED
from crawler.runs.task_ends import Release, TaskEnd
from crawler.spiders.visiting import ANSWERS
from crawler.views.run_report import read_report, write_report

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from crawler.spiders.site import SiteSpider

log = logs.get_logger(__name__)


class RunScheduler(BaseScheduler):
    """Takes tasks from the worker; keeps only the requests that came back, as after a redirect."""

    spider: SiteSpider

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.stats = crawler.stats
        self.worker = CrawlContext.of(crawler).run_worker
        self._came_back: deque[Request] = deque()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's way to make a component."""
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        """Remember whose requests these are."""
        self.spider = cast("SiteSpider", spider)  # which names this scheduler itself

    def close(self, _reason: str) -> Deferred[None]:
        """Give back what was leased, and store how the run ended; Scrapy waits for it."""
        return deferred_from_coro(self._close())

    async def _close(self) -> None:
        for request in self._came_back:
            self.worker.end_soon(request.meta[TASK], TaskEnd.given_back(Release.INTERRUPTED))
        try:
            status = await self.worker.close()
        except CrawlerError:
            # The store is away for longer than it is waited for: the run stays open, for whoever resumes it.
            log.exception("run.end_not_stored", run=self.worker.run.id)
            self.worker.visits.tell("run_ended", run=self.worker.run.id, exit_code=ExitCode.FAILED)
            return
        if status:
            code, tasks, reason = await self._report()
            told = {"run": self.worker.run.id, "status": status, "exit_code": code, "tasks": tasks}
            told["reason"] = reason
            self.worker.visits.tell("run_ended", **told, **self.worker.done)

    async def _report(self) -> tuple[ExitCode, dict[str, int], str]:
        """Write the run's report; return the exit code, the tasks by status, and why the run failed."""
        worker, code, reason = self.worker, ExitCode.FAILED, ""
        tasks: dict[str, int] = {}
        try:
            report = await run_in_thread(read_report, worker.store.database, worker.run.id)
            code, reason = report.exit_code, report.last_error or ""
            tasks = {**report.tasks, "refused": report.refused}
            await run_in_thread(write_report, report, worker.visits.settings.vitrine_home / "reports")
        except Exception:
            log.exception("run.report_not_written", run=worker.run.id)
        return code, tasks, reason

    def has_pending_requests(self) -> bool:
        """Whether there is anything that could be handed out."""
        return bool(self._came_back) or self.worker.has_ready()

    def enqueue_request(self, request: Request) -> bool:
        """Take back a request of a task; any other has no place in a run."""
        if TASK not in request.meta:
            log.warning("request.not_of_the_run", url=request.url)
            self.stats.inc_value("vitrine/run/foreign_requests")
            return False
        self.stats.inc_value("scheduler/enqueued")
        self._came_back.append(request)
        return True

    def next_request(self) -> Request | None:
        """The next request, or None while nothing may go out."""
        request = self._came_back.popleft() if self._came_back else self._next_of_a_task()
        if request is not None:
            self.stats.inc_value("scheduler/dequeued")
        return request

    def _next_of_a_task(self) -> Request | None:
        """The request of a leased task; whatever comes of it, one of its two callbacks hears of it."""
        if (taken := self.worker.take()) is None:
            return None
        visit, task = taken
        meta: dict[str, Any] = {
            SESSION: visit.id, TASK: task, "depth": task.depth, "handle_httpstatus_list": ANSWERS,
            ATTEMPTS_ALLOWED: 1,
        }  # fmt: skip
        if seconds := self.worker.run.source.fetch_timeout_seconds:
            meta["download_timeout"] = seconds
        self.stats.max_value("request_depth_max", task.depth)
        self.stats.inc_value(f"request_depth_count/{task.depth}")
        return Request(
            task.url, callback=self.spider.parse_page, errback=self.spider.page_failed, dont_filter=True,
            meta=meta, priority=task.priority,
        )  # fmt: skip
