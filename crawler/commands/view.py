"""`scrapy view` in a project with these settings: its log is that of all other commands."""

from __future__ import annotations

from scrapy.commands.view import Command as ScrapyView

from crawler.commands.checked import PageCommand


class Command(PageCommand, ScrapyView):
    """An answer in the browser."""
