"""Feeds are of one kind of item: the spider's own, or stored pages where they were asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler.capture.items import StoredPage
from crawler.extensions.page_feed import OwnItems, PageFeed

PAGES = "crawler.capture.items.StoredPage"


class Filter:
    """Somebody's own."""


def feeds(**settings: Any) -> dict[str, dict[str, Any]]:
    """The feeds of a crawl with these settings."""
    crawler: Any = SimpleNamespace(settings=Settings({"CAPTURE_PAGES": True, **settings}))
    PageFeed.from_crawler(crawler)
    return {str(uri): dict(options) for uri, options in crawler.settings.getdict("FEEDS").items()}


def test_a_spiders_feed_has_its_own_items_alone() -> None:
    """Whatever else was stored beside them."""
    assert feeds(FEEDS={"a.jsonl": {"format": "jsonlines"}}) == {
        "a.jsonl": {"format": "jsonlines", "item_filter": OwnItems}
    }
    assert feeds() == {}


@pytest.mark.parametrize(
    "options", [{"item_classes": [PAGES]}, {"item_classes": [StoredPage]}, {"item_filter": Filter}]
)
def test_who_chose_what_he_wants_gets_it(options: dict[str, Any]) -> None:
    """Stored pages by their class, or by a filter of his own."""
    assert feeds(FEEDS={"a.jsonl": options}) == {"a.jsonl": options}


def test_pages_have_a_feed_of_their_own() -> None:
    """Beside whatever else there is; where pages are the items, no feed is narrowed."""
    found = feeds(PAGES_FEED="pages.jsonl", FEEDS={"a.jsonl": {}})
    assert found["pages.jsonl"] == {"item_classes": [StoredPage], "overwrite": True}
    assert found["a.jsonl"] == {"item_filter": OwnItems}
    assert feeds(CAPTURE_PAGES=False, FEEDS={"a.jsonl": {}}) == {"a.jsonl": {}}


def test_a_stored_page_is_no_item_of_the_spiders() -> None:
    """Any other thing is, unless the feed's classes say otherwise."""
    takes = OwnItems({})
    page: Any = StoredPage.__new__(StoredPage)
    assert (takes.accepts(page), takes.accepts({"name": "Jug"})) == (False, True)
    assert not OwnItems({"item_classes": [dict]}).accepts("text")
