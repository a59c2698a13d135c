"""`scrapy fetch` in a project with these settings: its log is that of all other commands."""

from __future__ import annotations

from scrapy.commands.fetch import Command as ScrapyFetch

from crawler.commands.checked import PageCommand


class Command(PageCommand, ScrapyFetch):
    """An answer's body."""
