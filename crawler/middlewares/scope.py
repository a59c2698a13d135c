"""A run's requests stay within the run's scope, whatever the site redirects them to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler.access.scope import denials_after_redirect, permanent_lines
from crawler.crawl.answers import FilteredError, KnownUrlError
from crawler.crawl.context import run_worker_of
from crawler.logs import get_logger
from crawler.urls import canonical

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.runs.tasks import LeasedTask
    from crawler.runs.worker import RunWorker

TASK = "task"  # the meta key that ties a request to its task
log = get_logger(__name__)


class ScopeMiddleware:
    """Judges each request of a task anew, since a redirect or a login may have led it elsewhere."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's way to make a component."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Let a request go on that the run may ask for."""
        task: LeasedTask | None = request.meta.get(TASK)
        if task is None:
            return
        foreman = run_worker_of(self.crawler)
        was_redirected = canonical(request.url) != canonical(task.url)
        if was_redirected:
            await self._learn(foreman, task, request)
        reason = foreman.scope.judge(request.url, kind=task.kind)
        if reason is not None:
            raise FilteredError(reason)
        if was_redirected and await foreman.has_own_task(task, request.url):
            raise KnownUrlError(f"redirected to {request.url}, which the run knows")

    async def _learn(self, foreman: RunWorker, task: LeasedTask, request: Request) -> None:
        """A redirect to a login closes the part of the site behind it."""
        known = {(denial.domain, denial.pattern) for denial in foreman.scope.denials}
        fresh = [
            denial
            for denial in denials_after_redirect(task.url, request.url)
            if (denial.domain, denial.pattern) not in known
        ]
        if fresh:
            await foreman.learn(fresh)
            log.warning(
                "run.login_found", url=task.url, source=foreman.run.source.code,
                note="to make it permanent, add to sources.toml: " + "; ".join(permanent_lines(fresh)),
            )  # fmt: skip
