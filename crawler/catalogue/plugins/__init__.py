"""Plugins make assets of pages; these names are what a plugin of somebody else's may count on."""

from crawler.catalogue.plugins.page import PluginPage, normalised
from crawler.catalogue.plugins.port import AssetPlugin, PluginFailure
from crawler.catalogue.plugins.record import AssetRecord
from crawler.catalogue.plugins.registry import PluginRegistry
from crawler.catalogue.plugins.running import run_plugins

__all__ = [
    "AssetPlugin",
    "AssetRecord",
    "PluginFailure",
    "PluginPage",
    "PluginRegistry",
    "normalised",
    "run_plugins",
]
