"""Plugins make assets of pages; these names are what a plugin of somebody else's may count on."""

from crawler.catalogue.plugins.api import AssetPlugin, AssetRecord, PluginFailure, PluginPage, normalised
from crawler.catalogue.plugins.registry import PluginRegistry, installed, run_plugins

__all__ = [
    "AssetPlugin",
    "AssetRecord",
    "PluginFailure",
    "PluginPage",
    "PluginRegistry",
    "installed",
    "normalised",
    "run_plugins",
]
