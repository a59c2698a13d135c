"""Plugins of packages that were really installed."""
