"""What commands of Scrapy share here: log lines; those that run spiders also a check, and true exit codes."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scrapy.utils.log import _get_handler  # ruff: ignore[import-private-name] - it reads all of LOG_*

from crawler import interrupts, logs
from crawler.config import CRAWL_ORDER, load_settings, load_settings_from
from crawler.crawl.closing import ENDS_ITS_VISITS
from crawler.crawl.required_components import require_components
from crawler.errors import CrawlerError, ExitCode
from crawler.extensions.sessions import Sessions
from crawler.urls import redacted

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider
    from scrapy.commands import BaseRunSpiderCommand, ScrapyCommand
    from scrapy.crawler import Crawler
    from scrapy.settings import Settings

    AnyCommand = ScrapyCommand
    Base = BaseRunSpiderCommand
else:
    AnyCommand = Base = object  # Scrapy takes any class of its own kind in here for a command

log = logs.get_logger(__name__)
# Those of which `vitrine crawl` has options or arguments.
_ARGUMENT = re.compile(r"-a (url|start_url|urls|pdp|mode|retention|policy|source|depth|max_pages)=(\S+)")
SECOND_SIGNAL_SECONDS = 5.0
_OPTIONS = {"url": "", "start_url": ""}


class LoggingCommand(AnyCommand):
    """Goes in front of a command of Scrapy's, so that its log hides secrets and takes LOG_FORMAT."""

    _handler: logging.Handler | None = None  # of the root logger, where it is ours

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take Scrapy's options, then log as they say, with the fields of structured events (LOG_FORMAT)."""
        super().process_options(args, opts)
        assert self.settings is not None  # ruff: ignore[assert] - Scrapy sets it before it runs a command
        if self.settings.getbool("LOG_INSTALL_ROOT_HANDLER"):
            # Scrapy would install its handler again with each crawl, and take no other formatter.
            self.settings.set("LOG_INSTALL_ROOT_HANDLER", value=False, priority="cmdline")
            logging.root.setLevel(logging.NOTSET)
            self._use_handler_of(self.settings)

    def _use_handler_of(self, settings: Settings) -> None:
        """Log as these settings say."""
        if self._handler is not None:
            logging.root.removeHandler(self._handler)
            self._handler.close()
        self._handler = _get_handler(settings)
        logs.show_fields([self._handler], load_settings().log_format)
        logging.root.addHandler(self._handler)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run Scrapy's command, which is loaded now and has its own way with an interruption."""
        interrupts.loaded()
        super().run(args, opts)  # type: ignore[safe-super]  # Scrapy's command comes next


class PageCommand(LoggingCommand):
    """Goes in front of a command that has a spider ask for one page, outside of the spider's sessions."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Have the crawl begin and end the session, whichever spider is named."""
        assert self.crawler_process is not None  # ruff: ignore[assert] - Scrapy sets it before it runs a command
        with suppress(KeyError):  # without --spider; of an unknown one Scrapy tells
            spider: Any = self.crawler_process.spider_loader.load(opts.spider)
            setattr(spider, ENDS_ITS_VISITS, False)
        super().run(args, opts)


class CheckedCommand(LoggingCommand, Base):
    """The same for one that runs a spider; what Scrapy would tell in a traceback, this tells in a line."""

    _made: Crawler | None = None

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take the command line, and the order of `vitrine crawl`, which is in the environment."""
        assert self.settings is not None  # ruff: ignore[assert] - Scrapy sets it before it runs a command
        order = json.loads(os.environ.pop(CRAWL_ORDER, '{"settings": {}, "arguments": {}}'))
        self.settings.setdict(order["settings"], priority="cmdline")
        super().process_options(args, opts)
        opts.spargs.update(order["arguments"])

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse what cannot work, crawl, and exit with what came of it."""
        try:
            interrupts.loaded()
            self._prepare(args, opts)
            self._bound_second_signal()
            super().run(args, opts)
        except KeyboardInterrupt:  # before Scrapy has its own way with signals
            self.exitcode = ExitCode.INTERRUPTED
            return
        except CrawlerError as error:
            if self.settings and self.settings.get("LOG_FILE"):  # where scrapyd's users look
                log.error("crawl.refused", code=error.code, error=str(error), hint=error.hint)  # ruff: ignore[error-instead-of-exception] - it says all
            self._say(error.code, str(error), error.hint)
            self.exitcode = error.exit_code
            return
        if not self.exitcode and self._made and (sessions := self._made.get_extension(Sessions)):
            self.exitcode = sessions.exit_code()
            if sessions.refusal:
                self._say(**sessions.refusal)

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        """Make the crawl if its settings leave nothing out; a mistake in them is reported in one line."""
        crawler = self._made = super()._create_crawler(spidercls)
        require_components(crawler.settings)
        load_settings_from(crawler.settings)
        if self._handler is not None and self.settings and _logs_otherwise(crawler.settings, self.settings):
            self._use_handler_of(crawler.settings)
        return crawler

    def _bound_second_signal(self) -> None:
        """Have a second signal end the crawl within seconds, where Scrapy's own end does not come to that.

        A callback that loops keeps the event loop from hearing of it, and a thread that hangs keeps the
        process from its end.
        """
        process: Any = self.crawler_process
        stop_at_once = process._signal_kill  # ruff: ignore[private-member-access] - Scrapy has no public word for it

        def heard(number: int, frame: object) -> None:
            interrupts.end_within(SECOND_SIGNAL_SECONDS, "stopped at once: the crawl did not end by itself\n")
            stop_at_once(number, frame)

        process._signal_kill = heard  # ruff: ignore[private-member-access] - see above

    def _say(self, code: str, error: str, hint: str) -> None:
        """An error is one line, and mostly a second one that helps."""
        text = f"error[{code}]: {error}\n" + (f"hint: {hint}\n" if hint else "")
        is_called = self.settings is not None and self.settings.get("PROGRESS_FD") is not None
        sys.stderr.write(redacted(as_options(text) if is_called else text))

    def _prepare(self, args: list[str], opts: argparse.Namespace) -> None:
        """Look at the arguments, where the command knows what they mean."""


def as_options(text: str) -> str:
    """What is said of spiders' arguments, for whom `vitrine crawl` was called by."""
    return _ARGUMENT.sub(
        lambda said: _OPTIONS.get(said[1], f"--{said[1].replace('_', '-')} ") + said[2], text
    )


def _logs_otherwise(crawls: Settings, commands: Settings) -> bool:
    """Whether a spider has settings of its own for the log."""
    return any(crawls[name] != commands[name] for name in crawls if name.startswith("LOG_"))
