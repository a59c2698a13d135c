"""Collects the headings of each page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from crawler.catalogue.plugins import AssetRecord, PluginPage, normalised
from crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_HEADINGS = 100


class Headings:
    """An asset for each page that has a heading; a heading that changes makes a new version of it."""

    name = "headings"

    def supports(self, page: PluginPage) -> bool:
        """HTML only."""
        return page.is_html

    def assets(self, page: PluginPage) -> Iterator[AssetRecord]:
        """The first headings, in their order."""
        nodes = LexborHTMLParser(page.html).css("h1, h2")[:MAX_HEADINGS]
        found = [{"level": node.tag, "text": normalised(node.text(separator=" "))} for node in nodes]
        if found:
            yield AssetRecord(
                kind="headings",
                key=canonical(page.url),
                url=page.url,
                title=found[0]["text"],
                content={"headings": found},
                details={"of_a_product": page.is_pdp},
            )
