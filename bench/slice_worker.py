"""One crawl of `bench.slice`, in a process of its own; its last line of output is the figures."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import TextResponse
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from bench.slice import AT_ONCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

PRODUCT = "a[href*='/products/']::attr(href)"


class PagesSpider(Spider):
    """Each shop's home page and its first product, as a plain spider would have them."""

    name = "bench-pages"

    def __init__(self, urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = urls

    async def start(self) -> AsyncIterator[Request]:
        """The home pages."""
        for url in self.urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        """The URL, and one link further."""
        yield {"url": response.url}
        product = response.css(PRODUCT).get() if isinstance(response, TextResponse) else None
        if product and "/products/" not in response.url:
            yield response.follow(product, dont_filter=True)


def main(mode: str, file: str) -> None:
    """Crawl, and print what it cost."""
    urls = Path(file).read_text(encoding="utf-8").split()
    settings = Settings({"LOG_ENABLED": False}) if mode == "bare" else get_project_settings()
    settings.update(
        {
            "LOG_LEVEL": "ERROR",
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": mode != "bare",
            "CONCURRENT_REQUESTS": AT_ONCE,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        }
    )
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler("pdp" if mode == "sessions" else PagesSpider)
    used: dict[str, float] = {}
    crawler.signals.connect(lambda: used.update(_used()), signal=signals.engine_started, weak=False)
    process.crawl(crawler, urls=file if mode == "sessions" else urls)
    process.start()
    print(json.dumps(_figures(crawler.stats.get_stats(), used, 2 * len(urls))))


def _used() -> dict[str, float]:
    return {"wall": time.perf_counter(), "reactor": time.thread_time(), "all": time.process_time()}


def _figures(stats: dict[str, Any], before: dict[str, float], expected: int) -> dict[str, Any]:
    after = _used()
    pages = (
        stats["item_scraped_count"] if "vitrine/pages/stored" not in stats else stats["vitrine/pages/stored"]
    )
    if pages != expected:
        raise SystemExit(f"{pages} pages instead of {expected}: {stats}")
    reactor = after["reactor"] - before["reactor"]
    return {
        "pages": pages,
        "per_second": pages / (after["wall"] - before["wall"]),
        "reactor_ms": 1000 * reactor / pages,
        "elsewhere_ms": 1000 * (after["all"] - before["all"] - reactor) / pages,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
