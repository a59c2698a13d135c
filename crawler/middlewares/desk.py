"""The desk of a crawl, for every component that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from crawler.catalogue.clerk import CatalogueClerk
from crawler.catalogue.run_pages import RunClerk
from crawler.config import load_settings_from
from crawler.sessions.desk import Desk

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

SESSION = "session_id"  # the meta key that ties a request to its session
_desks: WeakKeyDictionary[Crawler, Desk] = WeakKeyDictionary()


def desk_of(crawler: Crawler) -> Desk:
    """The crawl's desk; it opens its stores with its first session."""
    if crawler not in _desks:
        _desks[crawler] = Desk(load_settings_from(crawler.settings), (CatalogueClerk(), RunClerk()))
    return _desks[crawler]
