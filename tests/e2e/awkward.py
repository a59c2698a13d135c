"""Components of somebody else's that get in the way of single pages; the URL says of which, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response


class AwkwardOutput:
    """A spider middleware that fails at what a callback gives, or keeps it to itself."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Look at the URL, and be awkward."""
        if response.url.endswith("/callback-fails"):
            raise RuntimeError("no callback of mine")
        async for output in result:
            if not response.url.endswith("/swallowed"):
                yield output


class EarlyPipeline:
    """Stands before the store."""

    def process_item(self, item: Any) -> Any:
        """Drop some, fail at others."""
        if item.url.endswith("/dropped"):
            raise DropItem("not to my taste")
        if item.url.endswith("/pipeline-fails"):
            raise RuntimeError("cannot digest this")
        return item


class LatePipeline:
    """Stands behind the store: what it loses is stored already."""

    def process_item(self, item: Any) -> Any:
        """Drop some, fail at others."""
        if item.url.endswith("/dropped-late"):
            raise DropItem("too late")
        if item.url.endswith("/fails-late"):
            raise RuntimeError("too late as well")
        return item
