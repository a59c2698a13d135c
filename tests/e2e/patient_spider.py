"""A plain Scrapy spider that asks one shop, or several, for many numbered pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class PatientSpider(Spider):
    """Yields the number of each page, and what was lost."""

    name = "patient"

    pause = "0"

    def __init__(self, urls: str, pages: str, ms: str = "20", *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.urls, self.pages, self.ms = urls.split(","), int(pages), ms

    async def start(self) -> AsyncIterator[Request]:
        """Ask for all of the first shop, then, after a pause, for all of the next."""
        for url in self.urls:
            for page in range(self.pages):
                yield Request(f"{url}?ms={self.ms}&page={page}", errback=self.lost)
            await asyncio.sleep(float(self.pause))

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """One item a page."""
        yield {"url": response.url}

    def lost(self, failure: Any) -> Iterator[dict[str, Any]]:
        """One item a failure."""
        yield {"lost": repr(failure.value)}
