"""The foreman of a crawl, for every component that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from crawler.catalogue.run_pages import RunClerk
from crawler.frontier.foreman import Foreman
from crawler.middlewares.desk import desk_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_foremen: WeakKeyDictionary[Crawler, Foreman] = WeakKeyDictionary()


def foreman_of(crawler: Crawler) -> Foreman:
    """The crawl's foreman; it begins to work when a run is opened."""
    if crawler not in _foremen:
        at_once = crawler.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")

        def wake() -> None:
            # Left alone the engine looks for requests every five seconds, and Scrapy has no public word
            # to make it look now.
            slot = crawler.engine._slot  # ruff: ignore[private-member-access] - see above
            if slot is not None:
                slot.nextcall.schedule()

        _foremen[crawler] = Foreman(desk_of(crawler), at_once=at_once or 1, wake=wake, closers=(RunClerk(),))
    return _foremen[crawler]
