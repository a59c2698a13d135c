"""Vitrine in somebody else's Scrapy project, by one line: `ADDONS = {"crawler.addon.Vitrine": 100}`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

# What names a project: it stays what it is.
PROJECTS_OWN = {"BOT_NAME", "SPIDER_MODULES", "NEWSPIDER_MODULE", "COMMANDS_MODULE"}


class Vitrine:
    """Brings all settings of this project; what the other project says itself stays, but for the tables.

    These come as Scrapy's own `_BASE` tables, so that what the project or a spider adds is added.
    """

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Set them for all crawls: a spider that names add-ons of its own leaves these out."""
        if "scrapy.cmdline" in sys.modules:
            _use_checked_commands()
        for name, value in _ours().items():
            settings.set(name, value, "addon")

    def update_settings(self, settings: BaseSettings) -> None:
        """Set them for one crawl, where there was nobody to do it for all."""
        self.update_pre_crawler_settings(settings)


def exit_code(crawler: Crawler) -> int:
    """Return what `scrapy crawl` exits with, for a script that has run the crawl; 2 where it was refused."""
    from crawler.extensions.sessions import exit_code_of_crawl  # ruff: ignore[import-outside-top-level] - as below

    return exit_code_of_crawl(crawler)


def _use_checked_commands() -> None:
    from crawler.commands.added import use_checked_commands  # ruff: ignore[import-outside-top-level] - as below

    use_checked_commands()


def _ours() -> dict[str, Any]:
    from crawler import settings  # ruff: ignore[import-outside-top-level] - reads the environment, and may refuse it

    return {
        name: getattr(settings, name) for name in dir(settings) if name.isupper() and name not in PROJECTS_OWN
    }
