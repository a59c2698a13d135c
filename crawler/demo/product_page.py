"""The page of one product: gallery, name, price, buy button, description, neighbours."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from crawler.demo.goods import price_value
from crawler.demo.layout import (
    Setting,
    buy_button,
    category_path,
    crumbs,
    grid,
    page,
    paragraphs,
    photo_path,
    picture,
    tile,
)
from crawler.demo.shops import Markup

if TYPE_CHECKING:
    from crawler.demo.goods import Category, Product

_RELATED = 4


def product_page(setting: Setting, product: Product, path: str) -> str:
    """The page that sells `product`, served at `path`."""
    category = setting.goods.shelf[product.slug]
    way = (("/", setting.words.home), (category_path(category), category.name))
    first = picture(product, product.name, extra=prop(setting, "image"))
    thumbs = "".join(picture(product, view=view) for view in (2, 3))
    main = "\n".join(
        (
            crumbs(*way, (setting.path(product), product.name)),
            f'<article class="product"{scope(setting, "Product")}>',
            f'<div class="gallery">{first}\n<div class="thumbs">{thumbs}</div></div>',
            _counter(setting, product),
            "</article>",
            _texts(setting, product),
            _related(setting, product),
        )
    )
    return page(setting, path, product.name, main, head=_head(setting, product), summary=product.line)


def _head(setting: Setting, product: Product) -> str:
    return (
        '<meta property="og:type" content="product">\n'
        f'<meta property="og:title" content="{escape(product.name)}">\n'
        f'<meta property="og:image" content="/photo/{product.slug}.png">\n{product_script(setting, product)}'
    )


def _counter(setting: Setting, product: Product) -> str:
    """The column where one decides: name, price, button, facts."""
    words, shop = setting.words, setting.shop
    value = price_value(setting.price_of(product), shop.currency)
    return f"""<div class="counter">
<h1{prop(setting, "name")}>{escape(product.name)}</h1>
<p class="lead"{prop(setting, "description")}>{escape(product.line)}</p>
<div class="offer"{scope(setting, "Offer", "offers")}>
<p class="price"{prop(setting, "price", value)}>{setting.price(product)}
<span class="tax">{words.tax}</span></p>
{offer_facts(setting)}</div>
{buy_button(setting, product)}
<p class="stock">{words.in_stock if shop.in_stock else words.notify}</p>
{_facts(setting, product)}
</div>"""


def _facts(setting: Setting, product: Product) -> str:
    words = setting.words
    rows = ((words.made_of, product.made_of), (words.size, product.size), (words.article, product.sku))
    cells = "".join(f"<dt>{label}</dt><dd>{escape(value)}</dd>" for label, value in rows)
    return f'<dl class="facts" aria-label="{words.details}">{cells}</dl>'


def _texts(setting: Setting, product: Product) -> str:
    words, category = setting.words, setting.goods.shelf[product.slug]
    parts = (
        (words.description, (category.blurb,)),
        (words.how_made, (category.story,)),
        (words.care, (category.care,)),
        (words.delivery, words.delivery_text),
    )
    return "\n".join(
        f'<section class="prose"><h2>{escape(heading)}</h2>\n{paragraphs(texts)}\n</section>'
        for heading, texts in parts
    )


def _related(setting: Setting, product: Product) -> str:
    tiles = [
        tile(setting, other, buy=setting.shop.related_buy)
        for other in setting.goods.neighbours(product, _RELATED)
    ]
    heading = f"<h2>{setting.words.related}</h2>"
    return f'<aside class="related">{heading}\n{grid(tiles, "related-products")}\n</aside>'


# ── what a product page tells machines: schema.org as JSON-LD, as microdata, or not at all ──


_CONTEXT = "https://schema.org"


def product_script(setting: Setting, product: Product) -> str:
    """The page's JSON-LD, or nothing in shops without it."""
    if setting.shop.markup is Markup.JSON_LD:
        return script({"@context": _CONTEXT, **product_node(setting, product)})
    if setting.shop.markup is Markup.GRAPH:
        category = setting.goods.shelf[product.slug]
        shop = {"@type": "Organization", "@id": "#shop", "name": setting.shop.title, "url": "/"}
        nodes = [shop, _breadcrumb_list(setting, category, product), product_node(setting, product)]
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


def _breadcrumb_list(setting: Setting, category: Category, product: Product) -> dict[str, Any]:
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
