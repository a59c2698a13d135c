"""The plugins that need no installation: pages, products, and what is no page. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from crawler.catalogue.plugins.api import AssetRecord, normalised
from crawler.catalogue.product_facts import MAX_NAME_CHARS, content_of, sighting_of, text_of
from crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.catalogue.plugins.api import PluginPage
    from crawler.catalogue.product_facts import Sighting

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
        title = text_of(page.title, MAX_NAME_CHARS)
        yield AssetRecord(
            kind=self.name,
            key=canonical(page.url),
            url=page.url,
            title=title,
            content={"title": title, "text_sha256": hashlib.sha256(text.encode()).hexdigest()},
            details={"canonical_url": page.canonical_url, "text_chars": len(text)},
        )


class ProductPlugin:
    """Product pages: what they say of their product.

    What is kept is what is known of the product once the page is stored, so that its asset, its listing and
    its prices say the same.
    """

    name = "product"

    def supports(self, page: PluginPage) -> bool:
        """Where the rule says so."""
        return page.is_pdp

    def assets(self, page: PluginPage) -> Iterator[AssetRecord]:
        """The product, known by what its listing is known by: its canonical URL."""
        yield product_record(
            page.canonical_url, page.url, sighting_of(page.facts), page.verdict.get("policy")
        )


def product_record(key: str, url: str, product: Sighting, policy: str | None) -> AssetRecord:
    """A product as an asset: the listing of this URL, as it was found on a page."""
    return AssetRecord(
        kind=ProductPlugin.name,
        key=key,
        url=url,
        title=product.name,
        content=content_of(product),
        details={"image": product.image, "policy": policy},
    )


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
