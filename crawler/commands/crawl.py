"""`scrapy crawl`: what is given is checked before anything starts; it exits as `vitrine crawl` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCrawl

from crawler.commands.checked import CheckedCommand
from crawler.config import load_settings_from
from crawler.errors import UsageError

if TYPE_CHECKING:
    import argparse


class Command(CheckedCommand, ScrapyCrawl):
    """A spider of the project, by its name."""

    def _prepare(self, args: list[str], opts: argparse.Namespace) -> None:
        """Have the spider read its arguments, once; a worker of a fleet takes other ones."""
        assert self.settings is not None  # ruff: ignore[assert] - Scrapy sets it before it runs a command
        assert self.crawler_process is not None  # ruff: ignore[assert] - the same
        settings = load_settings_from(self.settings)
        try:
            spider = self.crawler_process.spider_loader.load(args[0])
        except (IndexError, KeyError):
            return  # Scrapy says it better
        if settings.fleet and not getattr(spider, "works_in_fleet", False):
            raise UsageError(f"{spider.name} does not work in a fleet", hint="crawl with -s FLEET=0")
        if prepared := getattr(spider, "prepared", None):
            opts.spargs = prepared(settings, opts.spargs)
