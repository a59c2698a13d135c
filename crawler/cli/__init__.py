"""The `vitrine` command."""

from crawler.cli.app import main

__all__ = ["main"]
