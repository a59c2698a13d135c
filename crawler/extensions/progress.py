"""Counts sessions in the crawl's stats, and reports them line by line to whoever started the crawl."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from crawler.crawl.context import Component

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.crawl.context import CrawlContext

SESSION_EVENTS = {"queued", "started", "ended", "refused"}


class Progress(Component):
    """PROGRESS_FD names an open pipe; each event goes into it as one line of JSON."""

    def __init__(self, crawler: Crawler, context: CrawlContext) -> None:
        super().__init__(crawler, context)
        self.stats = crawler.stats
        self.pipe = crawler.settings.getint("PROGRESS_FD", -1)
        self.visits.listeners.append(self.heard)

    def heard(self, event: str, **fields: Any) -> None:
        """Called by the visits, in the event loop."""
        if event in SESSION_EVENTS:
            self.stats.inc_value(f"vitrine/sessions/{fields.get('status', event)}")
        if self.pipe < 0:
            return
        try:
            os.write(self.pipe, json.dumps({"event": event, **fields}).encode() + b"\n")
        except OSError:
            self.pipe = -1  # nobody listens any more; the crawl goes on
