"""Gives Scrapy's log lines the fields of structured events, as text or as JSON (LOG_FORMAT)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.log import get_scrapy_root_handler

from crawler.config import load_settings
from crawler.logs import formatter_for

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class LogLines:
    """An add-on, because add-ons run before Scrapy logs its first lines about a crawl."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Change the formatter of the handler that Scrapy has installed, and nothing else of it."""
        handler = get_scrapy_root_handler()
        if handler is not None:
            handler.setFormatter(formatter_for(load_settings().log_format, settings["LOG_FORMAT"]))
