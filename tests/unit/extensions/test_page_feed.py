"""Feeds are of one kind of item: the spider's own, or stored pages where they were asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.extensions.feedexport import ItemFilter
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from crawler.capture.items import StoredPage
from crawler.extensions.page_feed import PageFeed, Pages

PAGES = "crawler.capture.items.StoredPage"


class Filter:
    """Somebody's own, which knows nothing but its own items."""

    def __init__(self, options: dict[str, Any]) -> None:
        """As Scrapy makes it."""
        self.least = options.get("least", 0)

    def accepts(self, item: Any) -> bool:
        """What costs enough."""
        return bool(item["price"] >= self.least)


def feeds(**settings: Any) -> dict[str, dict[str, Any]]:
    """The feeds of a crawl with these settings."""
    crawler: Any = SimpleNamespace(settings=Settings({"CAPTURE_PAGES": True, **settings}))
    PageFeed.from_crawler(crawler)
    return {str(uri): dict(options) for uri, options in crawler.settings.getdict("FEEDS").items()}


def taken(options: dict[str, Any], *items: Any) -> list[bool]:
    """What a feed with these options takes, in a crawl that keeps pages."""
    found = feeds(FEEDS={"a.jsonl": options})["a.jsonl"]
    takes = load_object(found.get("item_filter", ItemFilter))(found)
    return [takes.accepts(item) for item in items]


PAGE: Any = StoredPage.__new__(StoredPage)


def test_a_spiders_feed_has_its_own_items_alone() -> None:
    """Whatever else was stored beside them, and whatever filter or classes it has."""
    assert feeds() == {}
    assert taken({"format": "jsonlines"}, PAGE, {"price": 1}, "text") == [False, True, True]
    assert taken({"item_classes": [dict]}, PAGE, {"price": 1}, "text") == [False, True, False]
    for chosen in (Filter, f"{__name__}.Filter"):
        options = {"item_filter": chosen, "least": 3}
        assert taken(options, PAGE, {"price": 1}, {"price": 5}) == [False, False, True]


@pytest.mark.parametrize("page", [PAGES, StoredPage])
def test_who_asks_for_pages_gets_them(page: object) -> None:
    """By their class."""
    assert taken({"item_classes": [page]}, PAGE, {"price": 1}) == [True, False]
    assert feeds(FEEDS={"a.jsonl": {"item_classes": [page]}}) == {"a.jsonl": {"item_classes": [page]}}


def test_pages_have_a_feed_of_their_own() -> None:
    """Whatever else there is, and whatever the settings of all feeds say of the spider's."""
    found = feeds(PAGES_FEED="pages.jsonl", FEEDS={"a.jsonl": {}})
    assert found["pages.jsonl"] == {
        "item_filter": Pages, "overwrite": True, "fields": None, "batch_item_count": 0
    }  # fmt: skip
    assert found.keys() == {"pages.jsonl", "a.jsonl"}
    assert "batch_item_count" not in feeds(PAGES_FEED="%(batch_id)d.jsonl")["%(batch_id)d.jsonl"]
    assert feeds(CAPTURE_PAGES=False, FEEDS={"a.jsonl": {}}) == {"a.jsonl": {}}
