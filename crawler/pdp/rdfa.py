"""The page's own product in RDFa."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pdp.linked_data import bare_type
from crawler.pdp.own_product import PRODUCT_TYPES

if TYPE_CHECKING:
    from crawler.pdp.outline import Element, Outline


def own_typed(outline: Outline) -> Element | None:
    """The only element that RDFa types as a product; several are a list."""
    products = [
        element
        for element in outline.typed
        if PRODUCT_TYPES.intersection(map(bare_type, element.get("typeof").split()[:8]))
    ]
    return products[0] if len(products) == 1 else None
