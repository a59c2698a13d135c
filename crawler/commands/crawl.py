"""`scrapy crawl`: what is given is checked before anything starts; it exits as `vitrine crawl` does."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCrawl

from crawler import logs
from crawler.config import load_settings, load_settings_from
from crawler.errors import CrawlerError, UsageError
from crawler.extensions.sessions import Sessions
from crawler.logs import formatter_for
from crawler.urls import redacted

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

log = logs.get_logger(__name__)


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
        """Refuse what cannot work, crawl, and exit with what came of it."""
        try:
            self._prepare(args, opts)
        except CrawlerError as error:
            if self.settings and self.settings.get("LOG_FILE"):  # where scrapyd's users look
                log.error("crawl.refused", code=error.code, error=str(error), hint=error.hint)  # ruff: ignore[error-instead-of-exception] - it says all
            _say(error.code, str(error), error.hint)
            self.exitcode = error.exit_code
            return
        super().run(args, opts)
        if not self.exitcode and (sessions := self._crawler.get_extension(Sessions)):
            self.exitcode = sessions.exit_code()
            if sessions.refusal:
                _say(**sessions.refusal)

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        """Make the crawl, and remember it."""
        self._crawler: Crawler = super()._create_crawler(spidercls)
        return self._crawler

    def _prepare(self, args: list[str], opts: argparse.Namespace) -> None:
        """Have the spider read its arguments, once; a worker of a fleet takes other ones."""
        assert self.settings is not None  # ruff: ignore[assert] - the same
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


def _say(code: str, error: str, hint: str) -> None:
    """An error is one line, and mostly a second one that helps."""
    sys.stderr.write(redacted(f"error[{code}]: {error}\n" + (f"hint: {hint}\n" if hint else "")))


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
