"""The page of one product: gallery, name, price, buy button, description, neighbours."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crawler.demo.layout import (
    Setting,
    buy_button,
    category_path,
    crumbs,
    grid,
    page,
    paragraphs,
    picture,
    tile,
)
from crawler.demo.money import price_value
from crawler.demo.structured import offer_facts, product_script, prop, scope

if TYPE_CHECKING:
    from crawler.demo.goods import Product

_RELATED = 4


def product_page(setting: Setting, product: Product, path: str) -> str:
    """The page that sells `product`, served at `path`."""
    main = "\n".join(
        (
            _trail(setting, product),
            f'<article class="product"{scope(setting, "Product")}>',
            _gallery(setting, product),
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


def _trail(setting: Setting, product: Product) -> str:
    category = setting.goods.shelf[product.slug]
    return crumbs(
        ("/", setting.words.home),
        (category_path(category), category.name),
        (setting.path(product), product.name),
    )


def _gallery(setting: Setting, product: Product) -> str:
    first = picture(product, product.name, extra=prop(setting, "image"))
    thumbs = "".join(picture(product, view=view) for view in (2, 3))
    return f'<div class="gallery">{first}\n<div class="thumbs">{thumbs}</div></div>'


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
