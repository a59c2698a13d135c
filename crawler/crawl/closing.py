"""A crawl that is being ended: what has not gone out to a site yet stays here, and nobody waits for it.

Scrapy has no word for the time between the wish to end and the end. It lets everything go out that has
left its scheduler, at the pace of each domain; with room for 64 requests that is a minute and more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from scrapy import signals

from crawler import logs
from crawler.crawl.answers import SessionStoppedError
from crawler.crawl.context import SESSION
from crawler.errors import CrawlerError, InternalError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.crawl.visits import Visits

log = logs.get_logger(__name__)
T = TypeVar("T")
# Crawls that an error has closed.
_ending: WeakKeyDictionary[Crawler, asyncio.Task[None]] = WeakKeyDictionary()
LOOK_SECONDS = 0.5
# A spider with this attribute ends its visits itself, and what it has under way with them.
ENDS_ITS_VISITS = "ends_its_visits"
# ruff: file-ignore[private-member-access] - CloseSpider leaves the engine running; nothing public tells of it


def is_closing(crawler: Crawler) -> bool:
    """Whether a crawl is being ended, by a signal, by CloseSpider or by its spider."""
    engine = crawler.engine
    if not engine.running:
        return True
    slot = engine._slot
    return slot is not None and slot.closing is not None


def drops_its_queue(crawler: Crawler) -> bool:
    """Whether what waits for its turn at a site is not to go out any more."""
    return is_closing(crawler) and not ends_its_visits(crawler)


def ends_its_visits(crawler: Crawler) -> bool:
    """Whether the spider knows of visits, and sees to theirs itself."""
    return bool(getattr(crawler.spidercls, ENDS_ITS_VISITS, False))


def let_queue_run(crawler: Crawler) -> None:
    """Have all that waits for its turn come up at once; the handler lets none of it out."""
    downloader = crawler.engine.downloader
    for slot in list(downloader.slots.values()):
        slot.delay = slot.jitter = 0
        slot.close()
        downloader._process_queue(slot)


def recall_queue(crawler: Crawler, session: str) -> None:
    """Have those requests of a session fail at once that wait for their turn at a site."""
    for slot in list(crawler.engine.downloader.slots.values()):
        for request, answer in [each for each in slot.queue if each[0].meta.get(SESSION) == session]:
            slot.queue.remove((request, answer))
            crawler.signals.send_catch_log(
                signals.request_left_downloader, request=request, spider=crawler.spider
            )
            answer.errback(SessionStoppedError("its session lets others into the domain"))


def requests_of(crawler: Crawler, session: str) -> list[Request]:
    """Return the requests of a session in the downloader, up to its last middleware."""
    return [each for each in crawler.engine.downloader.active if each.meta.get(SESSION) == session]


def end_crawl(crawler: Crawler, visits: Visits, error: Exception) -> None:
    """Log once what makes it useless to go on, and close the spider; `scrapy crawl` exits with its code."""
    if crawler in _ending:
        return
    known = error if isinstance(error, CrawlerError) else InternalError(f"{type(error).__name__}: {error}")
    log.error("crawl.given_up", code=known.code, error=str(known), hint=known.hint)
    _tell(visits, known)
    _ending[crawler] = asyncio.ensure_future(crawler.engine.close_spider_async(reason=known.code))


def tell_refusal(visits: Visits, error: CrawlerError) -> None:
    """Say why nothing is run; `scrapy crawl` says it as the error that it is."""
    log.warning("crawl.refused", code=error.code, error=str(error), hint=error.hint)
    _tell(visits, error)


def _tell(visits: Visits, error: CrawlerError) -> None:
    said = {"code": error.code, "error": str(error), "hint": error.hint}
    visits.tell("refused", exit_code=error.exit_code, **said)
