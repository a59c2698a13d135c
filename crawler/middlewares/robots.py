"""robots.txt, obeyed: what it forbids, the delay that it asks for, and the error that closes a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached

from crawler.crawl.context import SESSION, CrawlContext
from crawler.urls import domain_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

SERVER_ERROR = 500
CLOSED = b"User-agent: *\nDisallow: /\n"


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware, with RFC 9309's word on server errors, and with Crawl-delay."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        context = CrawlContext.of(crawler)
        self.visits = context.visits
        self.max_delay = context.settings.domain_max_delay_seconds
        self._unreachable: dict[str, Exception] = {}  # by network location
        self._delays: dict[str, float] = {}  # by domain
        crawler.signals.connect(self.robots_parsed, signal=signals.robots_parsed)

    # ruff: ignore[unused-method-argument] - Scrapy's signature
    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Obey robots.txt, its delay included, whichever session had it fetched."""
        await super().process_request(request)
        self._keep_delay(request)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The site's rules; where they cannot be had nothing is fetched, and the next request asks again."""
        netloc = urlparse_cached(request).netloc
        if netloc in self._unreachable and self._parsers.get(netloc) is None:
            del self._unreachable[netloc]
            self._parsers.pop(netloc, None)
        parser = await super().robot_parser(request)
        if netloc in self._unreachable:
            raise self._unreachable[netloc]
        return parser

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        if not isinstance(exc, IgnoreRequest):
            self._unreachable[netloc] = exc
        super()._robots_error(exc, netloc)

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        """While a site cannot say what it forbids, it forbids everything."""
        if response.status >= SERVER_ERROR:
            response = response.replace(body=CLOSED)
        await super()._parse_robots(response, netloc, request)

    def robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Remember the delay that the site asks for, within the operator's bound."""
        asked = robotparser.crawl_delay(self._robotstxt_useragent or self._default_useragent)
        if asked:
            self._delays[domain_of(request.url)] = min(float(asked), float(self.max_delay))

    def _keep_delay(self, request: Request) -> None:
        """Space the session's requests as the site asks; the session's end tells the other processes."""
        domain = domain_of(request.url)
        visit = self.visits.running.get(request.meta.get(SESSION, ""))
        delay = self._delays.get(domain)
        if delay is None or visit is None or domain in visit.crawl_delays:
            return
        visit.crawl_delays[domain] = delay
        visit.journal.info("navigation", "robots.crawl_delay", seconds=delay)
        slot = self.crawler.engine.downloader.slots.get(domain)
        if slot is not None and slot.delay <= delay:
            slot.delay, slot.jitter = delay, 0.0  # the site's word is a least, not a mean
