"""A spider by somebody who has never heard of sessions."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import Spider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class ForeignSpider(Spider):
    """Follows the first product link, and yields its own items."""

    name = "foreign"
    custom_settings = json.loads(os.environ.get("FOREIGN_SETTINGS", "{}"))  # as a spider's author writes it

    def __init__(self, url: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.start_urls = [url]

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        """A page's title, and one link further."""
        yield {"title": response.css("title::text").get()}
        for link in response.css("a[href*='/products/']::attr(href)").getall():
            yield response.follow(link, callback=self.parse_product)

    def parse_product(self, response: Response, **_: Any) -> dict[str, Any]:
        """A product's heading."""
        return {"title": response.css("h1::text").get()}


class AsDict:
    """A pipeline that makes dicts of items, as many a project has."""

    def process_item(self, item: Any) -> dict[str, Any]:
        """The same, as a dict."""
        return ItemAdapter(item).asdict()


class Nothing:
    """A middleware that does nothing."""


class NeedsTitle:
    """A pipeline for the items of its spider, and no others."""

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Fails for what has no title."""
        return {"title": item["title"]}
