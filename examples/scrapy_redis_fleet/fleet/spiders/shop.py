"""A RedisSpider: its start URLs and its requests are shared by all workers."""

import os
from collections.abc import Iterator

from scrapy import Request
from scrapy.http import Response
from scrapy_redis.spiders import RedisSpider


class ShopSpider(RedisSpider):
    """Follow the products of each shop that is fed into `shop:start_urls`."""

    name = "shop"
    worker = os.getpid()  # in the name of the feed

    def parse(self, response: Response) -> Iterator[dict[str, str | None] | Request]:
        """Follow every link to a product."""
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in response.css("a[href*='/products/']::attr(href)").getall():
            yield response.follow(link, self.parse_product)

    def parse_product(self, response: Response) -> Iterator[dict[str, str | None]]:
        """Yield a product's name."""
        yield {"url": response.url, "title": response.css("h1::text").get()}
