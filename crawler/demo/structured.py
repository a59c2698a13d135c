"""What a product page tells machines: schema.org as JSON-LD, as microdata, or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crawler.demo.layout import Setting, category_path, photo_path
from crawler.demo.money import price_value
from crawler.demo.shops import Markup

if TYPE_CHECKING:
    from crawler.demo.goods import Category, Product

_CONTEXT = "https://schema.org"


def product_script(setting: Setting, product: Product) -> str:
    """The page's JSON-LD, or nothing in shops without it."""
    if setting.shop.markup is Markup.JSON_LD:
        return script({"@context": _CONTEXT, **product_node(setting, product)})
    if setting.shop.markup is Markup.GRAPH:
        category = setting.goods.shelf[product.slug]
        nodes = [_organisation(setting), _trail(setting, category, product), product_node(setting, product)]
        return script({"@context": _CONTEXT, "@graph": nodes})
    return ""


def list_script(setting: Setting, products: tuple[Product, ...]) -> str:
    """A list of products, each a member of the list and none of them the page's own."""
    members = [
        {"@type": "ListItem", "position": place, "item": product_node(setting, product)}
        for place, product in enumerate(products, 1)
    ]
    return script({"@context": _CONTEXT, "@type": "ItemList", "itemListElement": members})


def product_node(setting: Setting, product: Product) -> dict[str, Any]:
    """A schema.org Product with its offer."""
    shop = setting.shop
    return {
        "@type": "Product",
        "name": product.name,
        "sku": product.sku,
        "image": [photo_path(product, view) for view in (1, 2)],
        "description": product.line,
        "brand": {"@type": "Brand", "name": shop.title},
        "offers": {
            "@type": "Offer",
            "url": setting.path(product),
            "price": price_value(setting.price_of(product), shop.currency),
            "priceCurrency": shop.currency,
            "availability": f"{_CONTEXT}/{'InStock' if shop.in_stock else 'OutOfStock'}",
        },
    }


def _organisation(setting: Setting) -> dict[str, Any]:
    return {"@type": "Organization", "@id": "#shop", "name": setting.shop.title, "url": "/"}


def _trail(setting: Setting, category: Category, product: Product) -> dict[str, Any]:
    steps = (("/", setting.words.home), (category_path(category), category.name), ("", product.name))
    items = [
        {"@type": "ListItem", "position": place, "name": name, **({"item": path} if path else {})}
        for place, (path, name) in enumerate(steps, 1)
    ]
    return {"@type": "BreadcrumbList", "itemListElement": items}


def script(value: dict[str, Any]) -> str:
    """`value` as a script element."""
    text = json.dumps(value, ensure_ascii=False, indent=1).replace("</", "<\\/")
    return f'<script type="application/ld+json">\n{text}\n</script>\n'


def scope(setting: Setting, kind: str, prop: str = "") -> str:
    """Attributes that open a microdata item of that type, or none in other shops."""
    if setting.shop.markup is not Markup.MICRODATA:
        return ""
    role = f' itemprop="{prop}"' if prop else ""
    return f'{role} itemscope itemtype="{_CONTEXT}/{kind}"'


def prop(setting: Setting, name: str, content: str = "") -> str:
    """An attribute that makes an element a microdata property, or none in other shops."""
    if setting.shop.markup is not Markup.MICRODATA:
        return ""
    value = f' content="{content}"' if content else ""
    return f' itemprop="{name}"{value}'


def offer_facts(setting: Setting) -> str:
    """What an offer says in microdata without showing it."""
    if setting.shop.markup is not Markup.MICRODATA:
        return ""
    stock = "InStock" if setting.shop.in_stock else "OutOfStock"
    return (
        f'<meta itemprop="priceCurrency" content="{setting.shop.currency}">'
        f'<link itemprop="availability" href="{_CONTEXT}/{stock}">'
    )
