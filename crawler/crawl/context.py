"""The visits of a crawl, for every component that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from crawler.catalogue.hooks import CatalogueHooks
from crawler.catalogue.run_pages import RunHooks
from crawler.config import load_settings_from
from crawler.crawl.visits import Visits
from crawler.runs.worker import RunWorker

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


SESSION = "session_id"  # the meta key that ties a request to its session
_desks: WeakKeyDictionary[Crawler, Visits] = WeakKeyDictionary()


def visits_of(crawler: Crawler) -> Visits:
    """The crawl's visits; it opens its stores with its first session."""
    if crawler not in _desks:
        _desks[crawler] = Visits(load_settings_from(crawler.settings), (CatalogueHooks(), RunHooks()))
    return _desks[crawler]


# ── the worker of a crawl, for every component that needs it ──


_foremen: WeakKeyDictionary[Crawler, RunWorker] = WeakKeyDictionary()


def run_worker_of(crawler: Crawler) -> RunWorker:
    """The crawl's worker; it begins to work when a run is opened."""
    if crawler not in _foremen:
        at_once = crawler.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")

        def wake() -> None:
            # Left alone the engine looks for requests every five seconds, and Scrapy has no public word
            # to make it look now.
            slot = crawler.engine._slot  # ruff: ignore[private-member-access] - see above
            if slot is not None:
                slot.nextcall.schedule()

        _foremen[crawler] = RunWorker(
            visits_of(crawler), at_once=at_once or 1, wake=wake, closers=(RunHooks(),)
        )
    return _foremen[crawler]
