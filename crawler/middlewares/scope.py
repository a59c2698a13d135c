"""A run's requests stay within the run's scope, whatever the site redirects them to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.access.scope import denials_after_redirect, permanent_lines
from crawler.crawl.answers import FilteredError, KnownUrlError
from crawler.crawl.context import Component
from crawler.logs import get_logger
from crawler.urls import canonical

if TYPE_CHECKING:
    from scrapy import Request

    from crawler.runs.tasks import LeasedTask
    from crawler.runs.worker import RunWorker

TASK = "task"  # the meta key that ties a request to its task
log = get_logger(__name__)


class ScopeMiddleware(Component):
    """Judges each request of a task anew, since a redirect or a login may have led it elsewhere."""

    async def process_request(self, request: Request) -> None:
        """Let a request go on that the run may ask for."""
        task: LeasedTask | None = request.meta.get(TASK)
        if task is None:
            return
        worker = self.context.run_worker
        was_redirected = canonical(request.url) != canonical(task.url)
        if was_redirected:
            await self._learn(worker, task, request)
        reason = worker.scope.judge(request.url, kind=task.kind)
        if reason is not None:
            raise FilteredError(reason)
        if was_redirected and await worker.has_own_task(task, request.url):
            raise KnownUrlError(f"redirected to {request.url}, which the run knows")

    async def _learn(self, worker: RunWorker, task: LeasedTask, request: Request) -> None:
        """A redirect to a login closes the part of the site behind it."""
        known = {(denial.domain, denial.pattern) for denial in worker.scope.denials}
        fresh = [
            denial
            for denial in denials_after_redirect(task.url, request.url)
            if (denial.domain, denial.pattern) not in known
        ]
        if fresh:
            await worker.learn(fresh)
            log.warning(
                "run.login_found", url=task.url, source=worker.run.source.code,
                note="to make it permanent, add to sources.toml: " + "; ".join(permanent_lines(fresh)),
            )  # fmt: skip
