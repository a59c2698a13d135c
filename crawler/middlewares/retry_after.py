"""Retry-After: what a site asks for holds for every request to its domain, of every process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy import signals

from crawler.crawl.answers import CACHED, asked_pause
from crawler.crawl.closing import ends_its_visits
from crawler.crawl.context import Component
from crawler.urls import domain_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class RetryAfterMiddleware(Component):
    """Delays further requests to a domain whose site asks for a pause; it decides about no retry."""

    def set_up(self) -> None:
        """Listen to answers; Vitrine's own spiders request one page after the other, and wait themselves."""
        if not ends_its_visits(self.crawler):
            self.crawler.signals.connect(self.answer_downloaded, signal=signals.response_downloaded)

    def answer_downloaded(self, response: Response, request: Request) -> None:
        """Delay the requests that wait in the domain's download slot.

        The next one would be sent before `process_response` is called with this answer.
        """
        slot = self.crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        asked = min(asked_pause(response), self.context.settings.domain_max_delay_seconds)
        if asked and slot is not None:
            begins = time.monotonic() + asked - slot.delay * (1 - slot.jitter)
            slot.lastseen = max(slot.lastseen, begins)

    async def process_response(self, request: Request, response: Response) -> Response:  # ruff: ignore[unused-method-argument] - Scrapy's signature
        """Delay other processes, and this one's later sessions, at the gate."""
        if CACHED not in response.flags and (asked := asked_pause(response)):
            await self.visits.ask_delay(domain_of(response.url), asked, "Retry-After")
        return response
