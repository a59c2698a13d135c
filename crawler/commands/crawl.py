"""`scrapy crawl`, with its arguments and settings checked before anything starts."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands.crawl import Command as ScrapyCrawl

from crawler.config import load_settings, load_settings_from
from crawler.crawl.context import CrawlContext
from crawler.db.engine import Database
from crawler.db.revisions import require_current
from crawler.errors import CrawlerError, UsageError
from crawler.logs import formatter_for
from crawler.runs.rows import RunStatus

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.config import Settings


class Command(ScrapyCrawl):
    """Scrapy's own command; what it would tell in a traceback, this tells in a line and exits 2."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take Scrapy's options, then log as they say, with the fields of structured events (LOG_FORMAT)."""
        super().process_options(args, opts)
        assert self.settings is not None  # ruff: ignore[assert] - Scrapy sets it before it runs a command
        if self.settings.getbool("LOG_INSTALL_ROOT_HANDLER"):
            # Scrapy would install its handler again with each crawl, and take no other formatter.
            self.settings.set("LOG_INSTALL_ROOT_HANDLER", value=False, priority="cmdline")
            logging.root.setLevel(logging.NOTSET)
            logging.root.addHandler(_handler(self.settings))

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

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        """Make the crawl, and hear from it what Scrapy's exit code would not tell."""
        crawler: Crawler = super()._create_crawler(spidercls)
        CrawlContext.of(crawler).visits.listeners.append(self._heard)
        return crawler

    def _heard(self, event: str, **fields: Any) -> None:
        """A crawl that was refused, or whose run could not go on, has not done what it was asked for."""
        if event == "refused":
            self.exitcode = fields["exit_code"]
        elif event == "run_ended" and fields["status"] == RunStatus.FAILED:
            self.exitcode = 1

    def _check(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # ruff: ignore[assert] - the same
        settings = load_settings_from(self.settings)
        spider = self._spider_class(args)
        _check_arguments(spider, settings, opts.spargs)
        if not getattr(spider, "needs_stores", True):
            return
        database = Database(settings.database)
        try:
            require_current(database)
            look = getattr(spider, "check_stored", None)
            if look is not None and not settings.fleet:
                look(database, **opts.spargs)
        finally:
            database.close()

    def _spider_class(self, args: list[str]) -> type[Spider] | None:
        assert self.crawler_process is not None  # ruff: ignore[assert] - the same
        try:
            return self.crawler_process.spider_loader.load(args[0])
        except (IndexError, KeyError):
            return None  # Scrapy says it better


def _check_arguments(spider: type[Spider] | None, settings: Settings, given: dict[str, str]) -> None:
    """Have the spider say what is wrong with them; a worker of a fleet takes other ones."""
    check = getattr(spider, "check_arguments", None)
    weigh = getattr(spider, "check_settings", None)
    if settings.fleet and spider is not None:
        check, weigh = None, getattr(spider, "check_fleet", None)
        if weigh is None:
            raise UsageError(f"{spider.name} does not work in a fleet", hint="crawl with -s FLEET=0")
    if check is not None:
        check(**given)
    if weigh is not None:
        weigh(settings, **given)


def _handler(settings: BaseSettings) -> logging.Handler:
    """The handler that Scrapy's own settings ask for."""
    handler: logging.Handler = logging.NullHandler()
    if settings.get("LOG_FILE"):
        mode = "a" if settings.getbool("LOG_FILE_APPEND") else "w"
        handler = logging.FileHandler(settings["LOG_FILE"], mode=mode, encoding=settings["LOG_ENCODING"])
    elif settings.getbool("LOG_ENABLED"):
        handler = logging.StreamHandler()
    handler.setFormatter(formatter_for(load_settings().log_format, settings["LOG_FORMAT"]))
    handler.setLevel(settings["LOG_LEVEL"])
    return handler
