"""One crawl of `bench.site` or `bench.known`, in a process of its own; its last line is the figures."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import TextResponse
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from bench.site import AT_ONCE
from crawler.access.scope import Scope
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class MemorySpider(Spider):
    """The same sites with Scrapy's own queue and memory of URLs; every page is judged and kept too."""

    name = "bench-memory"

    def __init__(self, urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = urls
        self.scope = Scope.of(map(domain_of, urls))

    async def start(self) -> AsyncIterator[Request]:
        """The home pages."""
        for url in self.urls:
            yield Request(url)

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        """Every link that belongs to the sites."""
        if isinstance(response, TextResponse):
            for link in dict.fromkeys(response.css("a::attr(href)").getall()):
                url = response.urljoin(link)
                if self.scope.judge(url) is None:
                    yield Request(url)


def main(mode: str, given: str, pages: str = "0") -> None:
    """Crawl, and print what it cost; `pages` end it early."""
    settings = Settings({"LOG_ENABLED": False}) if mode == "bare" else get_project_settings()
    settings.update(
        {
            "LOG_LEVEL": "ERROR",
            "ROBOTSTXT_OBEY": True,
            "DOWNLOAD_DELAY": 0,
            "TASK_JITTER_SECONDS": 0,  # the peer knows none
            "CONCURRENT_REQUESTS": AT_ONCE,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "CLOSESPIDER_ITEMCOUNT": int(pages),
        }
    )
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(MemorySpider if mode in {"memory", "bare"} else "site")
    process.crawl(crawler, **_arguments(mode, given))
    process.start()
    stats = crawler.stats.get_stats()
    asked = stats["downloader/response_count"] - stats.get("robotstxt/response_count", 0)
    stored, seconds = stats.get("vitrine/pages/stored", asked), stats["elapsed_time_seconds"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"pages": stored, "per_second": stored / seconds, "peak_mib": peak}
    print(json.dumps({**figures, "cpu_ms": 1000 * _cpu_seconds() / stored}))


def _cpu_seconds() -> float:
    """Of this process and of the readers beside it, with what it cost to load them."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _arguments(mode: str, given: str) -> dict[str, Any]:
    if mode in {"memory", "bare"}:
        return {"urls": Path(given).read_text(encoding="utf-8").split()}
    return {"run_id": given} if mode == "known" else {"source": "bench"}


if __name__ == "__main__":
    main(*sys.argv[1:])
