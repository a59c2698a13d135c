"""`scrapy crawl`, with its arguments and settings checked before anything starts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCrawl

from crawler.config import load_settings_from
from crawler.db.engine import Database
from crawler.db.revisions import require_current
from crawler.errors import CrawlerError

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider


class Command(ScrapyCrawl):
    """Scrapy's own command; what it would tell in a traceback, this tells in a line and exits 2."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse what cannot work, then crawl."""
        try:
            self._check(args, opts)
        except CrawlerError as error:
            sys.stderr.write(f"error[{error.code}]: {error}\n")
            if error.hint:
                sys.stderr.write(f"hint: {error.hint}\n")
            self.exitcode = error.exit_code
            return
        super().run(args, opts)

    def _check(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # ruff: ignore[assert] - Scrapy sets it before it runs a command
        settings = load_settings_from(self.settings)
        database = Database(settings.database)
        try:
            require_current(database)
        finally:
            database.close()
        check = getattr(self._spider_class(args), "check_arguments", None)
        if check is not None:
            check(**opts.spargs)

    def _spider_class(self, args: list[str]) -> type[Spider] | None:
        assert self.crawler_process is not None  # ruff: ignore[assert] - the same
        try:
            return self.crawler_process.spider_loader.load(args[0])
        except (IndexError, KeyError):
            return None  # Scrapy says it better
