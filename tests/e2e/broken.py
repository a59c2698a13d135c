"""Components that fail, as somebody else's may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response


class BrokenPipeline:
    """Fails on every item."""

    def process_item(self, item: Any) -> Any:
        """Never come to an end."""
        raise RuntimeError(f"cannot digest a {type(item).__name__}")


class BrokenRequests:
    """Fails on every request for a page."""

    def process_request(self, request: Request) -> None:
        """Never let one through."""
        if not request.url.endswith("/robots.txt"):
            raise RuntimeError("not today")


class BrokenResponses:
    """Fails on every page."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Never let one through."""
        if request.url.endswith("/robots.txt"):
            return response
        raise RuntimeError("not today")


class KeepsRequests:
    """Keeps requests to itself and tells nobody; the query of the start page says which."""

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """As a spider middleware: the start itself."""
        async for request in start:
            if "keep=start" not in request.url:
                yield request

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """As a spider middleware: all that a callback gives, or the requests among it."""
        async for output in result:
            is_request = isinstance(output, Request)
            if "keep=all" not in response.url and not (is_request and "keep=next" in response.url):
                yield output

    def process_request(self, request: Request) -> None:
        """As a downloader middleware: refuse a start, and have nobody hear of it."""
        if "keep=errback" in request.url:
            request.errback = None
            raise IgnoreRequest
