"""Feeds are of one kind of item: what a spider yields in its own, stored pages where they were asked for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy.extensions.feedexport import ItemFilter
from scrapy.utils.misc import load_object

from crawler.capture.items import StoredPage, page_fields

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


class OwnItems:
    """What the spider yields and the feed's filter takes; pages that were stored have feeds of their own."""

    def __init__(self, feed_options: dict[str, Any], chosen: type[ItemFilter] = ItemFilter) -> None:
        """Scrapy's way to make the filter of a feed; `chosen` is the user's."""
        self._chosen = chosen(feed_options)

    def accepts(self, item: Any) -> bool:
        """Whether it goes into the feed."""
        return not isinstance(item, StoredPage) and self._chosen.accepts(item)


class Pages(ItemFilter):
    """Stored pages, whatever type a pipeline has given them."""

    def accepts(self, item: Any) -> bool:
        """Whether it goes into the feed."""
        return page_fields(item) is not None


class PageFeed:
    """PAGES_FEED=FILE exports stored pages, whatever other feeds there are; it comes before the exporter.

    A feed of `FEEDS` with `item_classes` that name StoredPage gets them as well.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's way to make an extension."""
        settings = crawler.settings
        feeds = {uri: dict(options) for uri, options in settings.getdict("FEEDS").items()}
        if settings.getbool("CAPTURE_PAGES"):  # else pages are the items of the spider
            for options in feeds.values():
                if not _takes_pages(options):
                    chosen = load_object(options.get("item_filter", ItemFilter))
                    options["item_filter"] = partial(OwnItems, chosen=chosen)
        if uri := settings.get("PAGES_FEED"):
            feeds[uri] = _of_pages(str(uri))
        _set(settings, feeds)
        return cls()


def _takes_pages(options: dict[str, Any]) -> bool:
    return any(load_object(kind) is StoredPage for kind in options.get("item_classes") or ())


def _of_pages(uri: str) -> dict[str, Any]:
    """Whatever the other feeds have by their settings: FEED_EXPORT_FIELDS are fields of their items."""
    options = {"item_filter": Pages, "overwrite": True, "fields": None}
    return options if "%(batch_" in uri else {**options, "batch_item_count": 0}


def _set(settings: BaseSettings, feeds: dict[Any, dict[str, Any]]) -> None:
    if feeds:
        settings.set("FEEDS", feeds, settings.getpriority("FEEDS") or 0)
