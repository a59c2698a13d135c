"""Components that fail, as somebody else's may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy import Request
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
