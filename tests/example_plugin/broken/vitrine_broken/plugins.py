"""One that cannot be named, one that has nothing to give, one that raises, and one that is there already."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.catalogue.plugins import AssetRecord, PluginPage


class Nameless:
    """Cannot be asked for."""

    def supports(self, _page: PluginPage) -> bool:
        """Nothing."""
        return False


class Half(Nameless):
    """Has nothing to give."""

    name = "half"


class Raises:
    """Loads well, and fails at every page."""

    name = "raises"

    def supports(self, _page: PluginPage) -> bool:
        """Every page."""
        return True

    def assets(self, page: PluginPage) -> Iterator[AssetRecord]:
        """Nothing ever."""
        raise RuntimeError(f"cannot read {page.media_type}")


class SecondPage(Raises):
    """Wants to be the built-in plugin for pages."""

    name = "page"
