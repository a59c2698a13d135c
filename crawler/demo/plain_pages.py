"""Pages that sell nothing: about, delivery, basket, search, a workshop's story, and three false friends."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crawler.demo.layout import Setting, grid, page, paragraphs, picture, tile

if TYPE_CHECKING:
    from crawler.demo.goods import Product

_GUIDE, _CHART, _PAST = "/products/gift-guide", "/products/sizes", "/products/from-the-archive"


def text_page(setting: Setting, path: str, title: str, texts: tuple[str, ...]) -> str:
    """A heading and running text."""
    main = f'<h1>{escape(title)}</h1>\n<div class="prose">\n{paragraphs(texts)}\n</div>'
    return page(setting, path, title, main)


def story_page(setting: Setting, path: str) -> str:
    """A start page that tells of a workshop, shows it, and links to nothing on sale."""
    words, first = setting.words, setting.goods.products[0]
    stories = tuple(category.story for category in setting.goods.categories)
    main = (
        f"<h1>{escape(setting.shop.title)}</h1>\n"
        f"{picture(first)}\n"
        f'<div class="prose">\n{paragraphs((*words.about_text, *stories))}\n</div>'
    )
    return page(setting, path, words.about, main)


def decoy_pages(setting: Setting) -> dict[str, str]:
    """Three pages that look like products from afar, by path."""
    return {
        _GUIDE: _gift_guide(setting),
        _CHART: _size_chart(setting),
        _PAST: _past_product(setting, setting.goods.products[1]),
    }


def decoy_tiles(setting: Setting) -> str:
    """Tiles that lead to the decoys."""
    titles = {_GUIDE: "The gift guide", _CHART: "All sizes", _PAST: "From the archive"}
    seen = picture(setting.goods.products[0])
    return "\n".join(
        f'<li class="tile"><a href="{path}">{seen}<h3>{title}</h3></a></li>' for path, title in titles.items()
    )


def _gift_guide(setting: Setting) -> str:
    """An article about several products: prices and pictures, but no product of its own."""
    chosen = setting.goods.products[::12]
    main = (
        "<h1>Five presents for people who have everything</h1>\n"
        f'<div class="prose">{paragraphs(product.line for product in chosen)}</div>\n'
        f"{grid(tile(setting, product) for product in chosen)}"
    )
    return page(setting, _GUIDE, "Gift guide", main)


def _size_chart(setting: Setting) -> str:
    """A page with a heading and a picture, and no price."""
    rows = "".join(
        f"<tr><th>{escape(product.name)}</th><td>{escape(product.size)}</td></tr>"
        for product in setting.goods.products[:20]
    )
    seen = picture(setting.goods.products[0])
    return page(setting, _CHART, "Sizes", f"<h1>All sizes at a glance</h1>\n{seen}\n<table>{rows}</table>")


def _past_product(setting: Setting, product: Product) -> str:
    """What a product's page leaves behind: name, picture and old price, but nothing to buy."""
    name = escape(product.name)
    main = (
        f"<h1>{name}, first edition</h1>\n"
        f"{picture(product, product.name)}\n"
        f"<p>When we last made it, it cost {setting.price(product)}.</p>\n"
        f'<div class="prose">{paragraphs((product.line,))}</div>'
    )
    return page(setting, _PAST, f"{product.name}, first edition", main)
