"""The plugins that need no installation: pages, products, and what is no page. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from crawler.catalogue.plugins.api import AssetRecord, normalised
from crawler.catalogue.product_facts import (
    MAX_CODE_CHARS,
    MAX_IMAGE_CHARS,
    MAX_NAME_CHARS,
    amount_of,
    text_of,
)
from crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.catalogue.plugins.api import PluginPage

CODES = ("brand", "sku", "gtin", "mpn", "currency", "availability")
AMOUNTS = ("price", "list_price")
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
    """Product pages: what they say of their product."""

    name = "product"

    def supports(self, page: PluginPage) -> bool:
        """Where the rule says so."""
        return page.is_pdp

    def assets(self, page: PluginPage) -> Iterator[AssetRecord]:
        """The product, known by its canonical URL and, where it has one, its SKU.

        Pages of one product's variants often declare the same URL. Without the SKU each would be a change
        of the one before.
        """
        facts: dict[str, Any] = {
            "name": text_of(page.facts.get("name"), MAX_NAME_CHARS),
            **{code: text_of(page.facts.get(code), MAX_CODE_CHARS) for code in CODES},
            **{name: _amount(page.facts.get(name)) for name in AMOUNTS},
        }
        yield AssetRecord(
            kind=self.name,
            key=f"{page.canonical_url}#{facts['sku'] or ''}",
            url=page.url,
            title=facts["name"],
            content=facts,
            details={
                "canonical_url": page.canonical_url,
                "image": text_of(page.facts.get("image"), MAX_IMAGE_CHARS),
                "policy": page.verdict.get("policy"),
            },
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


def _amount(value: object) -> str | None:
    """One spelling for an amount: with two decimals, or with as many more as it needs."""
    amount = amount_of(value)
    if amount is None:
        return None
    return f"{amount:.2f}" if amount == round(amount, 2) else f"{amount.normalize():f}"
