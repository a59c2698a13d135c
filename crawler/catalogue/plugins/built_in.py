"""The plugins that need no installation: pages, products, and what is no page. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from crawler.catalogue.plugins.api import AssetRecord, normalised
from crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.catalogue.plugins.api import PluginPage

MEDIA_TYPES = ("image/", "video/", "audio/", "application/pdf")


class PagePlugin:
    """Every HTML page: its title, and whether its text has changed."""

    name = "page"

    def supports(self, page: PluginPage) -> bool:
        """HTML only."""
        return page.is_html

    def assets(self, page: PluginPage) -> Iterator[AssetRecord]:
        """The page, known by its own URL: the second page of a list may well declare the first."""
        text = normalised(page.visible_text)
        yield AssetRecord(
            kind=self.name,
            key=canonical(page.url),
            url=page.url,
            title=page.title,
            content={"title": page.title, "text_sha256": hashlib.sha256(text.encode()).hexdigest()},
            details={"canonical_url": page.canonical_url, "text_chars": len(text)},
        )


class ProductPlugin:
    """Product pages.

    What is said of the product is filled in when its listing is written, of what is known by then: so its
    assets, its listing and its prices never disagree.
    """

    name = "product"

    def supports(self, page: PluginPage) -> bool:
        """Where the rule says so."""
        return page.is_pdp

    def assets(self, page: PluginPage) -> Iterator[AssetRecord]:
        """The product, known by what its listing is known by."""
        yield AssetRecord(self.name, page.canonical_url, page.url)


class MediaPlugin:
    """Pictures, films, sounds and PDF files: whether their bytes have changed."""

    name = "media"

    def supports(self, page: PluginPage) -> bool:
        """By the content type."""
        return page.media_type.startswith(MEDIA_TYPES)

    def assets(self, page: PluginPage) -> Iterator[AssetRecord]:
        """The file, known by its URL."""
        digest = hashlib.sha256(page.body).hexdigest()
        yield AssetRecord(
            kind=self.name,
            key=canonical(page.url),
            url=page.url,
            content={"sha256": digest, "bytes": len(page.body), "type": page.media_type},
        )


BUILT_IN = (PagePlugin(), ProductPlugin(), MediaPlugin())
