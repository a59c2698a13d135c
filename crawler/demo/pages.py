"""Pages of no single product: start page, category, members' shelf, the hub that only lists, and texts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crawler.demo.layout import (
    Setting,
    category_path,
    crumbs,
    grid,
    page,
    paragraphs,
    picture,
    style_sheet,
    tile,
)
from crawler.demo.product_page import list_script
from crawler.demo.scenarios import PREFIX, SCENARIOS
from crawler.demo.wire import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.demo.goods import Category, Product
    from crawler.demo.shops import Shop

MEMBERS = "/members/"
_FEATURED_PER_CATEGORY = 2
_MEMBERS_ONLY = 3


def featured(setting: Setting) -> tuple[Product, ...]:
    """The products in the window: the first two of each category, taken in turn."""
    rows = zip(
        *(category.products[:_FEATURED_PER_CATEGORY] for category in setting.goods.categories), strict=True
    )
    return tuple(product for row in rows for product in row)


def start_page(setting: Setting, path: str, *, first: str = "") -> str:
    """The start page; `first` is a tile that stands before all others."""
    tiles = [tile(setting, product) for product in featured(setting)]
    shelves = "\n".join(
        f'<li class="shelf"><a href="{category_path(category)}"><h3>{escape(category.name)}</h3></a>'
        f"<p>{escape(category.blurb)}</p></li>"
        for category in setting.goods.categories
    )
    main = (
        f'<section class="banner"><p>{escape(setting.words.welcome)}</p></section>\n'
        f'<section class="featured"><h2>{setting.words.featured}</h2>\n'
        f"{grid([first, *tiles] if first else tiles)}\n</section>\n"
        f"<section><h2>{setting.words.all_categories}</h2>\n"
        f'<ul class="grid shelves">\n{shelves}\n</ul></section>'
    )
    return page(setting, path, setting.words.home, main)


def category_page(setting: Setting, category: Category, path: str) -> str:
    """All products of a category."""
    main = (
        f"{crumbs(('/', setting.words.home), (path, category.name))}\n<h1>{escape(category.name)}</h1>\n"
        f'<p class="prose">{escape(category.blurb)}</p>\n'
        f"{grid(tile(setting, product) for product in category.products)}\n"
        f'<p class="prose">{escape(category.story)}</p>'
    )
    return page(setting, path, category.name, main, summary=category.blurb)


def members_page(setting: Setting) -> str:
    """The shelf that robots.txt asks visitors to leave alone."""
    tiles = [members_tile(setting, product) for product in setting.goods.products[:_MEMBERS_ONLY]]
    main = f"<h1>{escape(setting.words.members)}</h1>\n{grid(tiles)}"
    return page(setting, MEMBERS, setting.words.members, main)


def members_tile(setting: Setting, product: Product) -> str:
    """A tile that leads to the members' page of a product."""
    return tile(setting, product, path=f"{MEMBERS.removesuffix('/')}{setting.path(product)}")


def hub_start(setting: Setting, path: str) -> str:
    """A market's start page: many sellers' goods with prices and buy buttons, and nowhere a page for one."""
    aisles = "\n".join(
        f"<section><h2>{escape(category.name)}</h2>\n{grid(_hub_tiles(setting, category, 4))}\n</section>"
        for category in setting.goods.categories
    )
    stalls = "".join(
        f'<li class="shelf"><a href="{hub_aisle_path(category)}">'
        f"{picture(category.products[-1])}<h3>{escape(category.name)}</h3></a></li>"
        for category in setting.goods.categories
    )
    main = f'<h1>{escape(setting.shop.title)}</h1>\n<ul class="grid stalls">{stalls}</ul>\n{aisles}'
    return page(setting, path, setting.words.home, main, head=list_script(setting, featured(setting)))


def hub_aisle(setting: Setting, category: Category, path: str) -> str:
    """One aisle of the market, again a list and nothing else."""
    main = (
        f"{crumbs(('/', setting.words.home), (path, category.name))}\n<h1>{escape(category.name)}</h1>\n"
        f"{picture(category.products[0])}\n"
        f"{grid(_hub_tiles(setting, category, len(category.products)))}"
    )
    return page(setting, path, category.name, main, head=list_script(setting, category.products))


def hub_aisle_path(category: Category) -> str:
    """An address that looks like a product's and is a list's."""
    return f"/shop/{category.slug}"


def _hub_tiles(setting: Setting, category: Category, count: int) -> list[str]:
    address = hub_aisle_path(category)
    return [tile(setting, product, path=address, buy=True) for product in category.products[:count]]


# ── pages that sell nothing: texts, a story, three false friends, and the page in front of all shops ──


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


def directory(shops: Iterable[Shop], url: Callable[[str, str], str]) -> Reply:
    """Every shop with what it is for, and every scenario with the path that shows it."""
    doors = "\n".join(
        f'<tr><td><a href="{url(shop.name, "/")}">{shop.name}</a></td><td>{escape(shop.title)}</td>'
        f"<td>{escape(shop.purpose)}</td></tr>"
        for shop in shops
    )
    troubles = "\n".join(
        f'<tr><td><a href="{url("plain", f"{PREFIX}{scenario.name}/")}">{PREFIX}{scenario.name}/</a></td>'
        f"<td>{escape(scenario.purpose)}</td></tr>"
        for scenario in SCENARIOS.values()
    )
    return Reply(
        f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>The demo's shops</title>
<style>{style_sheet("#1f4e46", "#f6f3ec")} td{{padding:4px 18px 4px 0;vertical-align:top}}</style></head>
<body><main class="wrap">
<h1>The demo's shops</h1>
<table>
{doors}
</table>
<h2>What any of them can be made to do</h2>
<table>
{troubles}
</table>
</main></body>
</html>
""".encode()
    )
