"""The spider of a fleet's worker: from an entry to what its session is asked to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler
from scrapy_redis.spiders import RedisMixin

from crawler.errors import UsageError
from crawler.spiders.fleet import FleetSpider

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://shop.example/p/1"


@pytest.fixture
def spider(tmp_path: Path) -> FleetSpider:
    """One whose own arguments say how long HTML stays."""
    crawler = get_crawler(settings_dict={"VITRINE_HOME": str(tmp_path), "FLEET": True})
    made = FleetSpider.from_crawler(crawler, retention="short")
    made.redis_encoding = "utf-8"
    return made


def entry(**fields: Any) -> bytes:
    """As a feeder writes it."""
    return json.dumps({"url": URL, **fields}).encode()


def test_an_entry_is_an_order(spider: FleetSpider) -> None:
    """Where it says nothing, the worker's own arguments do."""
    order = spider.order_of(entry(meta={"mode": "debug"}))
    assert (order.url, order.domain) == (URL, "shop.example")
    assert (order.mode, order.retention_policy) == ("debug", "short")
    assert spider.order_of(entry(retention="long")).retention_policy == "long"


def test_an_entry_with_a_senseless_argument_is_told_apart(spider: FleetSpider) -> None:
    """In a sentence that whoever feeds the fleet can act on."""
    with pytest.raises(UsageError, match="for ever"):
        spider.order_of(entry(meta={"retention": "for ever"}))


def test_a_worker_is_a_spider_of_scrapy_redis(spider: FleetSpider) -> None:
    """Whose mixin is behind this class, and of a class that is made of it; one class for all workers."""

    class OwnSpider(FleetSpider):
        def make_request_from_data(self, data: bytes) -> Request:
            return Request(data.decode())

    own = OwnSpider.from_crawler(spider.crawler)
    assert isinstance(spider, RedisMixin)
    assert isinstance(own, RedisMixin)
    assert isinstance(own, OwnSpider)
    assert own.order_of(URL.encode()).url == URL
    assert type(FleetSpider.from_crawler(spider.crawler)) is type(spider)
