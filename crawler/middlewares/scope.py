"""A run's requests stay within the run's scope, whatever the site redirects them to."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import run_in_thread

from crawler.access.scope import denials_after_redirect, permanent_lines
from crawler.crawl.answers import FilteredError, KnownUrlError
from crawler.crawl.context import TASK, Component
from crawler.logs import get_logger
from crawler.urls import canonical

if TYPE_CHECKING:
    from scrapy import Request

    from crawler.runs.tasks import LeasedTask

LONGEST_SECONDS = 30.0
LOOK_AROUND_SECONDS = 0.05
log = get_logger(__name__)


class ScopeMiddleware(Component):
    """Judges each request of a task anew, since a redirect or a login may have led it elsewhere."""

    def set_up(self) -> None:
        """Make a place for who is led where."""
        self.led: dict[str, LeasedTask] = {}  # who was led to a URL last

    async def process_request(self, request: Request) -> None:
        """Let a request go on that the run may ask for."""
        task: LeasedTask | None = request.meta.get(TASK)
        if task is None:
            return
        store, run = self.context.run_worker.store, self.context.run_worker.run
        was_redirected = canonical(request.url) != canonical(task.url)
        if was_redirected:
            await self._learn(task, request)
        reason = run.scope.judge(request.url, kind=task.kind)
        if reason is not None:
            raise FilteredError(reason)
        if was_redirected:
            await self._let_first(task, canonical(request.url))
            if await run_in_thread(store.has_own_task, task, request.url):
                raise KnownUrlError(f"redirected to {request.url}, which the run knows")

    async def _let_first(self, task: LeasedTask, url: str) -> None:
        """Wait for another task that was led to the same URL: the page is one, and it may have it soon."""
        until = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < until:
            first = self.led.setdefault(url, task)
            slot = self.context.run_worker.slots.get(first.domain)
            is_open = slot is not None and slot.line.open.get(first.lease.id) is first
            if first is task or not is_open:
                self.led[url] = task
                return
            await asyncio.sleep(LOOK_AROUND_SECONDS)

    async def _learn(self, task: LeasedTask, request: Request) -> None:
        """A redirect to a login closes the part of the site behind it."""
        store, run = self.context.run_worker.store, self.context.run_worker.run
        known = {(denial.domain, denial.pattern) for denial in run.scope.denials}
        fresh = [
            denial
            for denial in denials_after_redirect(task.url, request.url)
            if (denial.domain, denial.pattern) not in known
        ]
        if fresh:
            run.scope = run.scope.with_denials(fresh)
            await run_in_thread(store.deny, fresh)
            log.warning(
                "run.login_found", url=task.url, source=run.source.code,
                note="to make it permanent, add to sources.toml: " + "; ".join(permanent_lines(fresh)),
            )  # fmt: skip
