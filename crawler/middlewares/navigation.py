"""The attempts of Vitrine's own spiders: how often a page is tried, with which backoff, for how long at most.

Other spiders have Scrapy's RetryMiddleware.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotConfigured,
    ResponseDataLossError,
)
from scrapy.http.request import NO_CALLBACK

from crawler.crawl.answers import BLOCKED, RATE_LIMITED, BadRequestUrlError, asked_pause, is_bot_block
from crawler.crawl.closing import ends_its_visits, is_closing
from crawler.crawl.context import SESSION, Component
from crawler.leases.backoff import Backoff
from crawler.urls import SCHEMES, domain_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from crawler.sessions.visit import Visit

ATTEMPTS = 3
BACKOFF = Backoff(1.0, jitter=0.5)
PAGE_LIMIT_SECONDS = 90.0
RELOAD_AFTER_SECONDS = 2.0
LOOK_AROUND_SECONDS = 0.25
RETRYABLE = (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
REDIRECTS = {301, 302, 303, 307, 308}
# Meta keys; they live as long as the page is tried.
ATTEMPT = "navigation_attempt"
BEGUN = "navigation_begun"
RELOADED = "navigation_reloaded"
ATTEMPTS_ALLOWED = "navigation_attempts"  # how often this page is tried, where that is not ATTEMPTS


class NavigationMiddleware(Component):
    """Tries a page again where that may help, reloads a bot-block page once, and gives up in time."""

    def set_up(self) -> None:
        """Leave other spiders to Scrapy's settings."""
        if not ends_its_visits(self.crawler):
            raise NotConfigured

    async def process_request(self, request: Request) -> None:
        """Start the page's clock with its first attempt."""
        request.meta.setdefault(BEGUN, time.monotonic())

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Decide whether an answer is the page, or a reason to come again; robots.txt's is passed on."""
        asked = asked_pause(response)
        is_page = request.callback is not NO_CALLBACK
        if is_page and response.status in {*BLOCKED, RATE_LIMITED}:
            reason = "status_429" if response.status == RATE_LIMITED else "status_403_503"
            return await self._again(request, reason, asked=asked) or response
        visit = self.visits.running.get(request.meta.get(SESSION, ""))
        if asked and not self._leaves(visit, request):
            # This is not tried again, but the session's next request waits for as long.
            _note(
                visit,
                "info",
                "navigation.wait",
                request.url,
                reason="Retry-After",
                wait_ms=round(asked * 1000),
            )
            await self._wait(visit, min(asked, PAGE_LIMIT_SECONDS))
        if not is_page:
            return response
        _refuse_foreign_redirect(response)
        if is_bot_block(response) and not request.meta.get(RELOADED) and _allowed(request) > 1:
            return await self._reload(request) or response
        return response

    def _leaves(self, visit: Visit | None, request: Request) -> bool:
        """Give a run's domain back for the pause that its site asked for; False for other sessions."""
        if visit is None or visit.order.run_id is None:
            return False
        slot = self.context.run_worker.slots.get(domain_of(request.url))
        if slot is not None:
            slot.leave()
        return slot is not None

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Come again after a failed connection or a time-out."""
        if request.callback is NO_CALLBACK or not isinstance(exception, RETRYABLE):
            return None
        reason = "navigation_timeout" if isinstance(exception, DownloadTimeoutError) else "net_err"
        return await self._again(request, reason, error=type(exception).__name__)

    async def _again(
        self, request: Request, reason: str, *, asked: float = 0, **details: str
    ) -> Request | None:
        attempt = request.meta.get(ATTEMPT, 1)
        # robots.txt may have failed before this request's turn came
        begun = request.meta.setdefault(BEGUN, time.monotonic())
        wait = max(asked, BACKOFF.delay(attempt, random.random()))  # ruff: ignore[suspicious-non-cryptographic-random-usage] - jitter is no secret
        visit = self.visits.running.get(request.meta.get(SESSION, ""))
        if attempt >= _allowed(request) or time.monotonic() - begun + wait > PAGE_LIMIT_SECONDS:
            _note(visit, "warn", "navigation.gave_up", request.url, reason=reason, attempt=attempt, **details)
            return None
        _note(
            visit, "info", "navigation.retry", request.url,
            reason=reason, attempt=attempt, wait_ms=round(wait * 1000), **details,
        )  # fmt: skip
        return await self._later(request, visit, wait, {ATTEMPT: attempt + 1})

    async def _reload(self, request: Request) -> Request | None:
        visit = self.visits.running.get(request.meta.get(SESSION, ""))
        _note(visit, "info", "navigation.reload", request.url, reason="bot_block")
        return await self._later(request, visit, RELOAD_AFTER_SECONDS, {RELOADED: True})

    async def _later(
        self, request: Request, visit: Visit | None, wait: float, meta: dict[str, object]
    ) -> Request | None:
        """The request once more, after a wait that the end of the session or of the crawl cuts short."""
        if not await self._wait(visit, wait):
            return None
        return request.replace(dont_filter=True, meta={**request.meta, **meta})

    async def _wait(self, visit: Visit | None, seconds: float) -> bool:
        """Whether the session and the crawl are still at it after that time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if is_closing(self.crawler) or (visit is not None and visit.stopped):
                return False
            await asyncio.sleep(min(left, LOOK_AROUND_SECONDS))
        return True


def _refuse_foreign_redirect(response: Response) -> None:
    """A redirect that Scrapy does not follow leads out of the web; any other is an answer without a page."""
    location = (response.headers.get("Location") or b"").decode("latin-1").strip()
    scheme, colon, _ = location.partition(":")
    if response.status in REDIRECTS and colon and scheme.isalpha() and scheme.lower() not in SCHEMES:
        raise BadRequestUrlError(f"redirected to a {scheme.lower()[:20]}: URL")


def _allowed(request: Request) -> int:
    return int(request.meta.get(ATTEMPTS_ALLOWED, ATTEMPTS))


def _note(visit: Visit | None, level: str, event: str, url: str, **details: object) -> None:
    if visit is not None:
        getattr(visit.journal, level)("retry", event, url=url, **details)
