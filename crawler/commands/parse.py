"""`scrapy parse` in a project with these settings: its log is that of all other commands."""

from __future__ import annotations

from scrapy.commands.parse import Command as ScrapyParse

from crawler.commands.checked import PageCommand


class Command(PageCommand, ScrapyParse):
    """What a spider makes of an answer."""
