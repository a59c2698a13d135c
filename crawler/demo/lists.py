"""Pages that list products: start page, category, members' shelf, and the hub that lists and never sells."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crawler.demo.layout import Setting, category_path, crumbs, grid, page, picture, tile
from crawler.demo.structured import list_script

if TYPE_CHECKING:
    from crawler.demo.goods import Category, Product

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
    main = (
        f'<section class="banner"><p>{escape(setting.words.welcome)}</p></section>\n'
        f'<section class="featured"><h2>{setting.words.featured}</h2>\n'
        f"{grid([first, *tiles] if first else tiles)}\n</section>\n"
        f"{_shelves(setting)}"
    )
    return page(setting, path, setting.words.home, main)


def _shelves(setting: Setting) -> str:
    """The way to each category."""
    items = "\n".join(
        f'<li class="shelf"><a href="{category_path(category)}"><h3>{escape(category.name)}</h3></a>'
        f"<p>{escape(category.blurb)}</p></li>"
        for category in setting.goods.categories
    )
    heading = f"<h2>{setting.words.all_categories}</h2>"
    return f'<section>{heading}\n<ul class="grid shelves">\n{items}\n</ul></section>'


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
    main = f"<h1>{escape(setting.shop.title)}</h1>\n{_stalls(setting)}\n{aisles}"
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


def _stalls(setting: Setting) -> str:
    items = "".join(
        f'<li class="shelf"><a href="{hub_aisle_path(category)}">'
        f"{picture(category.products[-1])}<h3>{escape(category.name)}</h3></a></li>"
        for category in setting.goods.categories
    )
    return f'<ul class="grid stalls">{items}</ul>'
