"""A plain Scrapy spider with Scrapy's own pipeline for files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Spider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class FilesSpider(Spider):
    """One page, and twenty files of another shop."""

    name = "files"

    def __init__(self, page: str, files: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.start_urls, self.files = [page], files

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """An item whose files are downloaded in the pipeline."""
        yield {"url": response.url, "file_urls": [f"{self.files}?ms=200&file={n}" for n in range(20)]}
