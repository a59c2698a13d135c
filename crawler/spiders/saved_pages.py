"""The rule on saved pages, the Scrapy way: with feeds, stats and `scrapy check`."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

from crawler.capture.items import PageVerdict
from crawler.crawl.answers import read
from crawler.crawl.context import CrawlContext
from crawler.errors import UsageError
from crawler.middlewares.saved_pages import saved_page_meta

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from scrapy.http import Response

    from crawler.config import Settings


class SavedPagesSpider(Spider):
    """`scrapy crawl saved-pages -a files='pages/*.html.gz' -O verdicts.jsonl`; no network is touched."""

    name = "saved-pages"
    custom_settings = {"CAPTURE_PAGES": False}  # ruff: ignore[mutable-class-default] - Scrapy's declaration

    def __init__(self, files: str = "", url: str = "https://saved.example/", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.files = files
        self.url = url

    @classmethod
    def prepared(cls, _settings: Settings, given: Mapping[str, str]) -> dict[str, Any]:
        """What the spider is made with; a mistake in it costs one line, before anything starts."""
        if not _matching(given.get("files", "")):
            raise UsageError(
                "-a files=… matches no file", hint="give a pattern, as in -a files='pages/*.html'"
            )
        return dict(given)

    async def start(self) -> AsyncIterator[Request]:
        """Each file, in the order of the names."""
        for name in _matching(self.files):
            yield Request(
                self.url, meta=saved_page_meta(Path(name)), cb_kwargs={"file": name}, dont_filter=True
            )

    async def parse(self, response: Response, file: str = "") -> AsyncIterator[PageVerdict]:
        """The verdict on one page.

        @saved_page tests/contract/pdp/platform-shopify
        """
        readers = CrawlContext.of(self.crawler).readers
        page = await read(readers, response, self.settings["CRAWL_POLICY_VERSION"])
        yield PageVerdict.of(file or response.url, page.reading)

    async def parse_listing(self, response: Response) -> AsyncIterator[PageVerdict]:
        """A category page whose tiles have buttons is none.

        @saved_page tests/contract/pdp/listing-tiles-with-buttons
        """
        async for verdict in self.parse(response):
            yield verdict

    async def parse_foreign(self, response: Response) -> AsyncIterator[PageVerdict]:
        """A buy button in another language, without structured data.

        @saved_page tests/contract/pdp/pl-do-koszyka
        """
        async for verdict in self.parse(response):
            yield verdict

    async def parse_broken(self, response: Response) -> AsyncIterator[PageVerdict]:
        """One broken JSON-LD script does not lose the others.

        @saved_page tests/contract/pdp/jsonld-one-broken-script
        """
        async for verdict in self.parse(response):
            yield verdict


def _matching(pattern: str) -> list[str]:
    return sorted(glob(pattern))  # ruff: ignore[glob] - Path.glob takes no absolute pattern
