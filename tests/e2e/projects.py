"""Scrapy projects of other people: plain, with the add-on, or with the settings imported."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home

WAYS = {
    "plain": "{own}",
    "add-on": 'ADDONS = {{"crawler.addon.Vitrine": 100}}\n{own}',
    "import": "from crawler.settings import *\n{own}",
}
VITRINES = ("add-on", "import")
OWN = """
BOT_NAME = "theirs"
SPIDER_MODULES = ["theirs.spiders"]
NEWSPIDER_MODULE = "theirs.spiders"
DOWNLOAD_DELAY = 0
ROBOTSTXT_OBEY = False
"""


@frozen
class Project:
    """The folder of a project, and the home that its crawls keep their pages in."""

    folder: Path
    home: Home

    @classmethod
    def make(cls, folder: Path, home: Home, way: str, spider: str, **settings: Any) -> Project:
        """Write a project like that of `scrapy startproject`, with one spider in it."""
        package = folder / "theirs"
        (package / "spiders").mkdir(parents=True)
        (folder / "scrapy.cfg").write_text("[settings]\ndefault = theirs.settings\n", encoding="utf-8")
        own = OWN + "".join(f"{name} = {value!r}\n" for name, value in settings.items())
        (package / "__init__.py").touch()
        (package / "spiders" / "__init__.py").touch()
        (package / "settings.py").write_text(WAYS[way].format(own=own), encoding="utf-8")
        (package / "spiders" / "shop.py").write_text(spider, encoding="utf-8")
        return cls(folder, home)

    def scrapy(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `scrapy` in the project."""
        return self.python("-m", "scrapy", *arguments)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the project."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder, env=self.home.environment, text=True, timeout=300, check=False,
            stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip

    def crawl(self, url: str, *more: str) -> subprocess.CompletedProcess[str]:
        """Run `scrapy crawl` with the project's spider."""
        return self.scrapy("crawl", "shop", "-a", f"url={url}", "-O", "items.jsonl", *more)

    def items(self) -> list[dict[str, Any]]:
        """The items of the last crawl."""
        lines = (self.folder / "items.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
