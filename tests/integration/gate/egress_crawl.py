"""A crawl by Scrapy with the egress guard: `python -m … '{"urls": […]}'`.

Names of `.test` resolve as `answers` says, an answer a time and the last one again and again; other
names are the system's. Prints what became of each URL as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.reactor import install_reactor
from twisted.internet.address import IPv4Address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response

# ruff: file-ignore[invalid-function-name, invalid-argument-name] - Twisted's names
ORDER: dict[str, Any] = json.loads(sys.argv[1])
HANDLER = "crawler.middlewares.egress.GuardedHandler"
outcomes: dict[str, str] = {}


class TestNames:
    """An IHostnameResolver that answers for names of `.test` and asks the system for others."""

    def __init__(self, system: Any) -> None:
        self._system = system
        self._answers: dict[str, list[list[str]]] = ORDER["answers"]

    def resolveHostName(self, resolutionReceiver: Any, hostName: str, portNumber: int = 0, *args: Any) -> Any:
        """Answer, or pass the question on."""
        if hostName not in self._answers:
            return self._system.resolveHostName(resolutionReceiver, hostName, portNumber, *args)
        answers = self._answers[hostName]
        resolutionReceiver.resolutionBegan(self)
        for address in answers.pop(0) if len(answers) > 1 else answers[0]:
            resolutionReceiver.addressResolved(IPv4Address("TCP", address, portNumber))
        resolutionReceiver.resolutionComplete()
        return resolutionReceiver


class Visits(Spider):
    """Fetches each URL, one after the other, and notes what came of it."""

    name = "visits"

    async def start(self) -> AsyncIterator[Request]:
        """Each URL once."""
        for url in ORDER["urls"]:
            yield Request(url, self.parse, errback=self.failed, cb_kwargs={"asked": url}, dont_filter=True)

    def parse(self, response: Response, asked: str) -> None:
        """It was fetched."""
        outcomes[asked] = "fetched"

    def failed(self, failure: Any) -> None:
        """It was not."""
        outcomes[failure.request.cb_kwargs["asked"]] = type(failure.value).__name__


def main() -> None:
    """Crawl, then print the outcomes."""
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor

    reactor.installNameResolver(TestNames(reactor.nameResolver))
    settings = {
        "CONCURRENT_REQUESTS": 1,
        "ROBOTSTXT_OBEY": True,
        "DNSCACHE_ENABLED": False,
        "RETRY_ENABLED": False,
        "DOWNLOAD_TIMEOUT": 5,
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "LOG_ENABLED": False,
        "EGRESS_ALLOW": ORDER["allow"],
        "TWISTED_DNS_RESOLVER": "crawler.middlewares.egress.GuardedResolver",
        "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
    }
    process = AsyncCrawlerProcess(settings)
    process.crawl(Visits)
    process.start()
    sys.stdout.write(json.dumps(outcomes))


if __name__ == "__main__":
    main()
