"""One that loops, one that hangs in a library where no Python runs, and one that ends its process."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from crawler.catalogue.plugins import AssetRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.catalogue.plugins import PluginPage


class Loops:
    """Loops at a start page, and finds any other."""

    name: ClassVar[str] = "loops"

    def supports(self, _page: PluginPage) -> bool:
        """Every page."""
        return True

    def assets(self, page: PluginPage) -> Iterator[AssetRecord]:
        """One for each page."""
        if page.depth == 0:
            if mark := os.environ.get("HANGS"):
                Path(mark).write_text(str(os.getpid()), encoding="utf-8")
            self.hang()
        yield AssetRecord("thing", page.url, page.url)

    def hang(self) -> None:
        """Never come back."""
        while True:
            pass


class Stuck(Loops):
    """Looks for what takes for ever to be found."""

    name = "stuck"

    def hang(self) -> None:
        """Never come back from a library that lets nobody else run."""
        re.match(r"(a+)+$", "a" * 100 + "b")


class Dies(Loops):
    """Takes its process with it."""

    name = "dies"

    def hang(self) -> None:
        """Be gone."""
        os._exit(3)
