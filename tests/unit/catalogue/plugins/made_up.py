"""Plugins and pages that tests make up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from crawler.catalogue.plugins import AssetRecord, PluginPage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

URL = "https://shop.example/p/chair"


@frozen
class Plugin:
    """A plugin that does what it is told."""

    name: str
    offers: Callable[[PluginPage], Iterable[Any]]
    is_for: Callable[[PluginPage], bool] = lambda _page: True

    def supports(self, page: PluginPage) -> bool:
        """As it was told."""
        return self.is_for(page)

    def assets(self, page: PluginPage) -> Iterable[Any]:
        """As it was told."""
        return self.offers(page)


def page(**fields: Any) -> PluginPage:
    """A page of a chair."""
    return PluginPage(**{"url": URL, "canonical_url": URL, "content_type": "text/html", **fields})


def record(key: str = "a", **fields: Any) -> AssetRecord:
    """Something that can be kept."""
    return AssetRecord(**{"kind": "thing", "key": key, "url": URL, "content": {"n": 1}, **fields})
