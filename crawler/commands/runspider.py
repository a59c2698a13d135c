"""`scrapy runspider` in a project with these settings: checked, and it exits as `scrapy crawl` does."""

from __future__ import annotations

from scrapy.commands.runspider import Command as ScrapyRunSpider

from crawler.commands.checked import CheckedCommand


class Command(CheckedCommand, ScrapyRunSpider):
    """A spider in a file."""
