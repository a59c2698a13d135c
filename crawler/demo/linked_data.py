"""What a page tells machines about products: schema.org as JSON-LD."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from crawler.demo.goods import Product, price_value

if TYPE_CHECKING:
    from crawler.demo.shops import Shop

Prices = Callable[[Product], int]
_CONTEXT = "https://schema.org"


def linked_data(shop: Shop, price_of: Prices, sold: Product | tuple[Product, ...]) -> str:
    """The script element for a page of one product, or for a list of products that has no page for any."""
    if isinstance(sold, tuple):
        nodes = [_product(shop, price_of, product) for product in sold]
        members = [{"@type": "ListItem", "position": n, "item": node} for n, node in enumerate(nodes, 1)]
        return _script({"@type": "ItemList", "itemListElement": members})
    if shop.markup == "JSON-LD":
        return _script(_product(shop, price_of, sold))
    if shop.markup == "JSON-LD @graph":
        organization = {"@type": "Organization", "@id": "#shop", "name": shop.title, "url": "/"}
        return _script({"@graph": [organization, _breadcrumbs(shop, sold), _product(shop, price_of, sold)]})
    return ""


def _script(value: dict[str, Any]) -> str:
    text = json.dumps({"@context": _CONTEXT, **value}, ensure_ascii=False, indent=1).replace("</", "<\\/")
    return f'<script type="application/ld+json">\n{text}\n</script>\n'


def _product(shop: Shop, price_of: Prices, product: Product) -> dict[str, Any]:
    return {
        "@type": "Product",
        "name": product.name,
        "sku": product.sku,
        "image": [product.photo(1), product.photo(2)],
        "description": product.line,
        "brand": {"@type": "Brand", "name": shop.title},
        "offers": {
            "@type": "Offer",
            "url": shop.address(product),
            "price": price_value(price_of(product), shop.currency),
            "priceCurrency": shop.currency,
            "availability": f"{_CONTEXT}/{'InStock' if shop.in_stock else 'OutOfStock'}",
        },
    }


def _breadcrumbs(shop: Shop, product: Product) -> dict[str, Any]:
    category = product.category
    items = [
        {"@type": "ListItem", "position": 1, "name": shop.goods.words["home"], "item": "/"},
        {"@type": "ListItem", "position": 2, "name": category.name, "item": category.path},
        {"@type": "ListItem", "position": 3, "name": product.name},
    ]
    return {"@type": "BreadcrumbList", "itemListElement": items}
