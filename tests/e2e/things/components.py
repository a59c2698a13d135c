"""The project's own items, pipelines and middlewares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import attrs
from itemadapter import ItemAdapter
from itemloaders.processors import MapCompose, TakeFirst
from pydantic import BaseModel
from scrapy import Field, Item
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, Request, Response
from scrapy.loader import ItemLoader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class ProductItem(Item):
    """Scrapy's own kind of item."""

    name = Field()


@dataclass
class ProductData:
    """A dataclass."""

    name: str


@attrs.define
class ProductAttrs:
    """An attrs class."""

    name: str


class ProductModel(BaseModel):
    """A pydantic model."""

    name: str


class ProductLoader(ItemLoader):
    """Takes the first name, in capitals."""

    default_item_class = dict
    default_output_processor = TakeFirst()
    name_in = MapCompose(str.upper)


class DropEven:
    """Drop every second product."""

    def process_item(self, item: Any) -> Any:
        """Drop items whose name ends in an even digit."""
        if ItemAdapter(item)["name"][-1] in "02468":
            raise DropItem("even")
        return item


class AddShop:
    """Add a field to each item."""

    def process_item(self, item: Any) -> Any:
        """Set `shop`."""
        return {**ItemAdapter(item), "shop": "things"}


class BrokenPipeline:
    """Fail for one item."""

    def process_item(self, item: Any) -> Any:
        """Raise for product 3."""
        if ItemAdapter(item)["name"] == "Product 3":
            raise ValueError("three")
        return item


class MarkRequests:
    """A downloader middleware that adds a header."""

    def process_request(self, request: Request) -> None:
        """Set `X-Thing`."""
        request.headers["X-Thing"] = "1"


class AnswerItself:
    """A downloader middleware that answers some requests without the site."""

    def process_request(self, request: Request) -> Response | None:
        """Answer what is made up."""
        if "/made-up" in request.url:
            return HtmlResponse(request.url, body=b"<title>Made up</title>", request=request)
        return None


class RequestLess:
    """A spider middleware that drops every request for a product above 3."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Leave out requests."""
        async for each in result:
            if not isinstance(each, Request) or each.url[-1] in "0123":
                yield each
