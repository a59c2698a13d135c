"""With the add-on, `scrapy crawl` and `scrapy runspider` are checked, and exit with what came of the crawl.

Scrapy chooses its commands before it reads ADDONS, so the add-on cannot name a COMMANDS_MODULE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands import crawl as scrapys_crawl
from scrapy.commands import runspider as scrapys_runspider

from crawler.commands import crawl, runspider

if TYPE_CHECKING:
    import argparse

    from scrapy.commands import ScrapyCommand


def use_checked_commands() -> None:
    """Have a command of Scrapy's own that is about to run be ours; a project's own command stays its own."""
    _replace(scrapys_crawl.Command, crawl.Command)
    _replace(scrapys_runspider.Command, runspider.Command)


def _replace(scrapys: type[ScrapyCommand], ours: type[ScrapyCommand]) -> None:
    original = scrapys.run
    if original.__module__ == __name__:
        return  # replaced already: there are several processes in this one

    def run(self: ScrapyCommand, args: list[str], opts: argparse.Namespace) -> None:
        if type(self) is not scrapys:
            original(self, args, opts)
            return
        checked = ours()
        vars(checked).update(vars(self))
        checked.run(args, opts)
        self.exitcode = checked.exitcode

    scrapys.run = run  # type: ignore[method-assign]
