"""What the components of one crawl share; each takes it once, when Scrapy makes it."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary, ref

from attrs import evolve
from scrapy.downloadermiddlewares import cookies
from tldextract import TLDExtract

from crawler import logs
from crawler.catalogue.run_pages import run_completed
from crawler.config import load_settings, load_settings_from
from crawler.crawl.required_components import require_components
from crawler.crawl.visits import Visits
from crawler.errors import CrawlerError
from crawler.reading.readers import Readers
from crawler.runs.domain_slot import FAILED
from crawler.runs.worker import RunWorker

if TYPE_CHECKING:
    from collections.abc import Generator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


log = logs.get_logger(__name__)

EXCHANGES = "exchanges"  # the meta key of what a page sent and received in a browser
RECORD = "warc_record"  # the meta key that says where an answer lies
VIEWPORT = "viewport"  # the meta key that has a request rendered, and names the window
SESSION = "session_id"  # the meta key that ties a request to its session
TASK = "task"  # the meta key that ties a request of a run to its task
# A context does not hold its crawl, which would otherwise stay for as long as the process.
refusals: WeakKeyDictionary[Crawler, int] = WeakKeyDictionary()  # exit codes of crawls that did not begin
_contexts: WeakKeyDictionary[Crawler, CrawlContext] = WeakKeyDictionary()


class CrawlContext:
    """The settings, visits, readers and run worker of a crawl; nothing is opened before it is used."""

    def __init__(self, crawler: Crawler) -> None:
        _use_bundled_suffixes()
        self._crawler = ref(crawler)
        self._at_once = crawler.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self.settings = load_settings_from(crawler.settings)
        self.visits = Visits(self.settings, obeys_robots=crawler.settings.getbool("ROBOTSTXT_OBEY"))
        self.readers = Readers(os.cpu_count())  # the crawl's own process mostly waits for its sites
        self.records_sessions = False  # sessions may want a WARC file of their own
        self._checked_frozen: bool | None = None  # whether the settings that were checked last were final

    @classmethod
    def of(cls, crawler: Crawler) -> CrawlContext:
        """The context of a crawl."""
        if crawler not in _contexts:
            _contexts[crawler] = cls(crawler)
        return _contexts[crawler]

    def check_settings(self, settings: BaseSettings) -> None:
        """Refuse settings that leave a component out; checked once early, and once when they are final."""
        if self._checked_frozen != settings.frozen:
            require_components(settings)
            self._checked_frozen = settings.frozen

    @cached_property
    def run_worker(self) -> RunWorker:
        """The crawl's worker; it begins to work when a run is opened."""
        at_once = self._at_once or 1
        return RunWorker(self.visits, at_once=at_once, wake=self.wake, run_completed=run_completed)

    def has_own_warc(self, session: str) -> bool:
        """Whether a session is to keep a WARC file of its own."""
        visit = self.visits.running.get(session) if self.records_sessions else None
        return visit is not None and visit.order.warc

    def is_recorded(self, session: str) -> bool:
        """Whether what a session sends and receives is written down anywhere."""
        return self.settings.is_recording or self.has_own_warc(session)

    def fail_run(self, error: str) -> bool:
        """Have the run end as failed, what is under way given back; False where the crawl is none."""
        worker = self.__dict__.get("run_worker")
        if worker is None or worker.dispatcher is None:
            return False
        worker.end(evolve(FAILED, error=error))
        return True

    def wake(self) -> None:
        """Have the engine look for requests now."""
        # Left alone the engine looks for requests every five seconds, and Scrapy has no public word
        # to make it look now.
        crawler = self._crawler()
        if crawler is not None and (slot := crawler.engine._slot) is not None:  # ruff: ignore[private-member-access] - see above
            slot.nextcall.schedule()


def _use_bundled_suffixes() -> None:
    """Keep cookies from fetching a newer list: that request would pass neither gate nor egress policy."""
    bundled = TLDExtract(include_psl_private_domains=True, suffix_list_urls=(), cache_dir=None)
    cookies._split_domain = bundled  # ruff: ignore[private-member-access] - Scrapy has no setting for it


class Component:
    """A component as Scrapy makes it, with the context of its crawl."""

    def __init__(self, crawler: Crawler, context: CrawlContext) -> None:
        self.crawler = crawler
        self.context = context
        self.visits = context.visits
        self.set_up()

    def set_up(self) -> None:
        """Make what it needs; `NotConfigured` where the crawl goes without it."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make a component, unless the settings, with what add-ons have changed, leave another one out."""
        with _telling_refusals(crawler):
            context = CrawlContext.of(crawler)
            context.check_settings(crawler.settings)
            return cls(crawler, context)


@contextmanager
def _telling_refusals(crawler: Crawler) -> Generator[None]:
    """Log an error that keeps a crawl from beginning as one line: Scrapy has a traceback and no hint."""
    # Scrapy has made its handler anew, with the spider's settings.
    logs.show_fields(logging.root.handlers, load_settings().log_format)
    try:
        yield
    except CrawlerError as error:
        if crawler not in refusals:
            refusals[crawler] = error.exit_code
            log.error("crawl.refused", code=error.code, error=str(error), hint=error.hint)  # ruff: ignore[error-instead-of-exception] - it says all
        raise
