"""Scrapy's scheduler over a run's tasks: it hands out what is leased, and never waits for the database."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Self, cast

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from crawler import logs
from crawler.crawl.context import CrawlContext
from crawler.middlewares.scope import TASK
from crawler.runs.task_ends import Release

if TYPE_CHECKING:
    from scrapy import Request, Spider
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

    def close(self, reason: str) -> Deferred[None]:
        """Give back what was leased, and store how the run ended; Scrapy waits for it."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        for task in (request.meta[TASK] for request in self._came_back):
            self.worker.soon(task, self.worker.give_back(task, Release.INTERRUPTED))
        status = await self.worker.close()
        await self.spider.run_closed(status, reason)

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
        if self._came_back:
            request = self._came_back.popleft()
        elif (duty := self.worker.take()) is not None:
            request = self.spider.request_for(*duty)
            self._count_depth(request.meta["depth"])
        else:
            return None
        self.stats.inc_value("scheduler/dequeued")
        return request

    def _count_depth(self, depth: int) -> None:
        self.stats.max_value("request_depth_max", depth)
        self.stats.inc_value(f"request_depth_count/{depth}")
