"""`scrapy shell` in a project with these settings: its log is that of all other commands."""

from __future__ import annotations

from scrapy.commands.shell import Command as ScrapyShell

from crawler.commands.checked import LoggingCommand


class Command(LoggingCommand, ScrapyShell):
    """An answer to play with, through the gate."""
