"""Evidence for spiders that do not collect it themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured

from crawler.crawl.answers import cause_of_answer
from crawler.crawl.context import SESSION, Component
from crawler.crawl.reading import read, to_capture
from crawler.reading import ReadingFailedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.crawl.context import CrawlContext


class CaptureMiddleware(Component):
    """Adds to a callback's output the page that it was given, judged, for the evidence pipeline to keep.

    Off with CAPTURE_PAGES=False; a spider that yields its captures itself sets that.
    """

    def __init__(self, crawler: Crawler, context: CrawlContext) -> None:
        if not crawler.settings.getbool("CAPTURE_PAGES"):
            raise NotConfigured("CAPTURE_PAGES is off")
        super().__init__(crawler, context)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass on what the callback gives, then the page."""
        async for output in result:
            yield output
        visit = self.visits.running.get(response.meta.get(SESSION, ""))
        if visit is None or cause_of_answer(response) is not None:
            return
        try:
            reading = await read(self.context.readers, response, visit.order.policy)
        except ReadingFailedError:
            return
        if reading.is_html:
            yield to_capture(response, visit.id, "page", reading)
