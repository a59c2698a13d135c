"""An extension with which a page kills the process that fetches it: `DEADLY_URL` says which."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Self

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

EXTENSIONS = '{"tests.e2e.deadly.Deadly": 1, "crawler.extensions.sessions.Sessions": 100}'


class Deadly:
    """Dies as soon as the page is there, as of a fault in a library."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's way to make an extension."""
        deadly = cls()
        crawler.signals.connect(deadly.response_received, signal=signals.response_received)
        return deadly

    def response_received(self, response: Response) -> None:
        """Die of one page."""
        if response.url == os.environ["DEADLY_URL"]:
            os.kill(os.getpid(), signal.SIGKILL)
