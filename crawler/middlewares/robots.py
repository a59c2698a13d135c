"""robots.txt, obeyed: what it forbids, the delay that it asks for, and the error that closes a site."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from typing import TYPE_CHECKING

from attrs import define
from scrapy import signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached

from crawler.crawl.answers import (
    RequestRefusedError,
    RobotsDelayedError,
    RobotsUnavailableError,
    SessionStoppedError,
)
from crawler.crawl.context import SESSION, TASK, CrawlContext
from crawler.leases.backoff import Backoff
from crawler.runs.domain_slot import LINGER_SECONDS
from crawler.urls import domain_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response


def _in_one_line(record: logging.LogRecord) -> bool:
    """A robots.txt that cannot be had, as of a mistyped host, is told by its session."""
    record.exc_info, record.levelno, record.levelname = None, logging.INFO, "INFO"
    return True


logging.getLogger(RobotsTxtMiddleware.__module__).addFilter(_in_one_line)
SERVER_ERROR = 500
NOT_ADJUSTED = "autothrottle_dont_adjust_delay"  # by AutoThrottle, which knows of no wish of a site's
MAX_AGE_SECONDS = 86_400.0  # of rules; RFC 9309 has them asked for again after a day
AGAIN = Backoff(1.0, maximum=60.0)
LOOK_AROUND_SECONDS = 0.5


@define
class _Unavailable:
    """A site whose robots.txt cannot be had for now; times are of the monotonic clock."""

    error: Exception
    since: float
    failures: int = 0
    again_at: float = 0.0

    @property
    def may_pass(self) -> bool:
        """Whether the site is there, and only cannot say what it forbids."""
        return isinstance(self.error, RobotsUnavailableError | DownloadTimeoutError)


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware, with RFC 9309's word on what cannot be had or is old, and with Crawl-delay.

    While a site cannot say what it forbids nothing is fetched from it. The tasks of a run wait for that,
    for no longer than `ROBOTS_PATIENCE_SECONDS` from the first failure: a few seconds within their visit,
    then without one, so that the run's other domains have its place.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        context = CrawlContext.of(crawler)
        self.visits = context.visits
        self.max_delay = context.settings.domain_max_delay_seconds
        self.context = context
        self.patience = context.settings.robots_patience_seconds
        self._unavailable: dict[str, _Unavailable] = {}  # by network location
        self._had_at: dict[str, float] = {}
        self._delays: dict[str, float] = {}  # by domain
        crawler.signals.connect(self.robots_parsed, signal=signals.robots_parsed)

    # ruff: ignore[unused-method-argument] - Scrapy's signature
    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Obey robots.txt, its delay included, whichever session had it fetched."""
        await super().process_request(request)
        if TASK in request.meta:
            slot = self.context.run_worker.slots.get(domain_of(request.url))
            if slot is not None and slot.is_leaving:
                raise SessionStoppedError("the site asked for a pause with its robots.txt")
        self._keep_delay(request)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The site's rules; where they cannot be had nothing is fetched, and they are asked for again."""
        netloc = urlparse_cached(request).netloc
        while True:
            self._forget(netloc, TASK in request.meta)
            parser = await super().robot_parser(request)
            if (away := self._unavailable.get(netloc)) is None:
                # Of all who wait for one download Scrapy gives the rules to the first, and None to the rest.
                rules = self._parsers.get(netloc)
                return rules if isinstance(rules, RobotParser) else parser
            if not (away.may_pass and TASK in request.meta):
                raise away.error
            if time.monotonic() - away.since >= self.patience:
                raise RobotsUnavailableError(f"robots.txt cannot be had: {away.error}")
            await self._wait(request, away)

    def _forget(self, netloc: str, is_patient: bool) -> None:  # ruff: ignore[boolean-type-hint-positional-argument] - of one caller
        """Have rules asked for again that could not be had, or are old."""
        now, parser = time.monotonic(), self._parsers.get(netloc)
        away = self._unavailable.get(netloc)
        is_due = away is not None and not (is_patient and away.may_pass and now < away.again_at)
        if (parser is None and is_due) or now - self._had_at.get(netloc, math.inf) > MAX_AGE_SECONDS:
            self._parsers.pop(netloc, None)
            self._had_at.pop(netloc, None)

    async def _wait(self, request: Request, away: _Unavailable) -> None:
        """Wait until it is time to ask again; where that takes long, the domain is given back meanwhile."""
        worker, session_id = self.context.run_worker, request.meta.get(SESSION, "")
        while (left := away.again_at - time.monotonic()) > 0:
            visit, slot = self.visits.running.get(session_id), worker.slots.get(domain_of(request.url))
            if slot is not None and left > LINGER_SECONDS and worker.dispatcher is not None:
                slot.leave()
                worker.dispatcher.pass_by(slot.domain, left)
            if visit is None or visit.stopped or (slot is not None and slot.is_leaving):
                raise RobotsDelayedError("robots.txt could not be had before the visit was over")
            await asyncio.sleep(LOOK_AROUND_SECONDS)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        if not isinstance(exc, IgnoreRequest) or isinstance(exc, RequestRefusedError):
            now = time.monotonic()
            away = self._unavailable.setdefault(netloc, _Unavailable(exc, now))
            away.error, away.failures = exc, away.failures + 1
            away.again_at = now + AGAIN.delay(away.failures)
        super()._robots_error(exc, netloc)

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        """While a site cannot say what it forbids, nobody knows it."""
        if response.status >= SERVER_ERROR:
            raise RobotsUnavailableError(f"robots.txt cannot be had: HTTP {response.status}")
        self._unavailable.pop(netloc, None)
        self._had_at[netloc] = time.monotonic()
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
        if delay is None or visit is None:
            return
        request.meta[NOT_ADJUSTED] = True
        # Each time: Scrapy throws away a slot that nobody has used for a minute, and makes a new one.
        _, slot = self.crawler.engine.downloader._get_slot(request)  # ruff: ignore[private-member-access] - no public word
        if slot.delay * (1 - slot.jitter) < delay:
            slot.delay, slot.jitter = max(slot.delay, delay), 0.0  # the site's word is a least, not a mean
        if domain not in visit.crawl_delays:
            visit.crawl_delays[domain] = delay
            visit.journal.info("navigation", "robots.crawl_delay", seconds=delay)
