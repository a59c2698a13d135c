"""One crawl of `bench.slice`, in a process of its own; its last line of output is the figures."""

from __future__ import annotations

import json
import resource
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import TextResponse
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from crawler.spiders.visiting import ITEMS_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

# Told to `bench.slice`, not by it: what that loads, servers and all, is not to be weighed as a crawl's.
AT_ONCE = 16
PRODUCT = "a[href*='/products/']::attr(href)"


class PagesSpider(Spider):
    """Each shop's home page and its first products, as a plain spider would have them."""

    name = "bench-pages"

    def __init__(self, urls: list[str], pages: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = urls
        self.pages = pages

    async def start(self) -> AsyncIterator[Request]:
        """The home pages."""
        for url in self.urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        """The URL, and the links further."""
        yield {"url": response.url}
        if isinstance(response, TextResponse):
            links = dict.fromkeys(response.css(PRODUCT).getall())
            for link in islice(links, self.pages - 1):
                yield response.follow(link, callback=self.parse_product, dont_filter=True)

    def parse_product(self, response: Response, **_: Any) -> Iterator[Any]:
        """The URL."""
        yield {"url": response.url}


def main(mode: str, file: str, pages: str) -> None:
    """Crawl, and print what it cost."""
    urls = Path(file).read_text(encoding="utf-8").split()
    settings = _settings(mode)
    settings.update(
        {
            "LOG_LEVEL": "ERROR",
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": True,
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
    arguments = {"urls": file} if mode == "sessions" else {"urls": urls, "pages": int(pages)}
    process.crawl(crawler, **arguments)
    process.start()
    print(json.dumps(_figures(crawler.stats.get_stats(), used, int(pages) * len(urls))))


def _settings(mode: str) -> Settings:
    """Scrapy's own for a bare spider, but for how many items it may work on at once."""
    ours = get_project_settings()
    if not mode.startswith("bare"):
        return ours
    items = {"CONCURRENT_ITEMS": ITEMS_AT_ONCE} if mode == "bare-at-ours" else {}
    return Settings({"LOG_ENABLED": False, **items})


def _used() -> dict[str, float]:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall": time.perf_counter(),
        "reactor": time.thread_time(),
        "all": time.process_time(),
        "readers": children.ru_utime + children.ru_stime,
    }


def _figures(stats: dict[str, Any], before: dict[str, float], expected: int) -> dict[str, Any]:
    after = _used()
    pages = stats.get("vitrine/pages/stored", stats["item_scraped_count"])
    if pages != expected:
        raise SystemExit(f"{pages} pages instead of {expected}: {stats}")
    spent = {name: after[name] - before[name] for name in after}
    return {
        "pages": pages,
        "per_second": pages / spent["wall"],
        "reactor_ms": 1000 * spent["reactor"] / pages,
        "elsewhere_ms": 1000 * (spent["all"] - spent["reactor"]) / pages,
        "readers_ms": 1000 * spent["readers"] / pages,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
