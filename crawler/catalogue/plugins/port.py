"""What a plugin is, and what is said of one that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.catalogue.plugins.page import PluginPage
    from crawler.catalogue.plugins.record import AssetRecord


class AssetPlugin(Protocol):
    """Makes assets of pages; it keeps nothing from one page to the next."""

    @property
    def name(self) -> str:
        """One word; assets are kept under it, so it stays."""

    def supports(self, page: PluginPage) -> bool:
        """Whether there is something in the page for this plugin."""

    def assets(self, page: PluginPage) -> Iterable[AssetRecord]:
        """What it finds in the page."""


@frozen
class PluginFailure:
    """Why a plugin gave nothing, or not everything, for a page."""

    plugin: str
    message: str
    context: dict[str, Any] = field(factory=dict)
