"""Small pages for tests of one reader at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crawler.pdp import read_page

if TYPE_CHECKING:
    from crawler.pdp.page import Page

URL = "https://shop.example/p/jug"
OFFER = {"@type": "Offer", "price": "48.00", "priceCurrency": "EUR"}


def page(body: str = "", *, head: str = "", url: str = URL) -> Page:
    """A page with that in its body and its head."""
    return read_page(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode(), url=url)


def script(*nodes: dict[str, Any]) -> str:
    """A script with JSON-LD of those nodes."""
    data = json.dumps({"@context": "https://schema.org", "@graph": list(nodes)})
    return f'<script type="application/ld+json">{data}</script>'
