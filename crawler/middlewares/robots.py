"""robots.txt, obeyed: what it forbids, the delay that it asks for, and the error that closes a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware

from crawler.middlewares.desk import SESSION, desk_of
from crawler.urls import domain_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

SERVER_ERROR = 500
CLOSED = b"User-agent: *\nDisallow: /\n"


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware, with RFC 9309's word on server errors, and with Crawl-delay."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.max_delay = desk_of(crawler).settings.domain_max_delay_seconds
        crawler.signals.connect(self.robots_parsed, signal=signals.robots_parsed)

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        """While a site cannot say what it forbids, it forbids everything."""
        if response.status >= SERVER_ERROR:
            response = response.replace(body=CLOSED)
        await super()._parse_robots(response, netloc, request)

    def robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Space the session's requests as the site asks; the session's end tells the other processes."""
        asked = robotparser.crawl_delay(self._robotstxt_useragent or self._default_useragent)
        visit = desk_of(self.crawler).visits.get(request.meta.get(SESSION, ""))
        if not asked or visit is None:
            return
        delay, domain = min(float(asked), float(self.max_delay)), domain_of(request.url)
        visit.crawl_delays[domain] = delay
        visit.journal.info("navigation", "robots.crawl_delay", seconds=delay, asked=float(asked))
        slot = self.crawler.engine.downloader.slots.get(domain)
        if slot is not None:
            slot.delay = max(slot.delay, delay)
