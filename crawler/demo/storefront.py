"""Which page of a shop stands at a path."""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING
from zlib import crc32

from crawler.demo.goods import ASSORTMENTS, Category, Product
from crawler.demo.layout import Prices, Setting, category_path
from crawler.demo.pages import (
    MEMBERS,
    category_page,
    decoy_pages,
    decoy_tiles,
    hub_aisle,
    hub_aisle_path,
    hub_start,
    members_page,
    members_tile,
    start_page,
    story_page,
    text_page,
)
from crawler.demo.photos import png_photo, svg_photo
from crawler.demo.product_page import product_page
from crawler.demo.scenarios import not_found
from crawler.demo.shops import Layout, Robots, Shop
from crawler.demo.wire import Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.demo.goods import Words

# A shop that misbehaves still has these as they should be.
EXEMPT = ("/robots.txt", "/sitemap.xml", "/photo/", "/favicon.png")
# What every robots.txt that forbids anything forbids; the members' shelf is linked from every page.
FORBIDDEN = ("/cart", "/account", "/search", MEMBERS)
_START = ("/", "/start")
_PHOTO = re.compile(r"/photo/(?P<slug>[a-z0-9-]+?)(?:-(?P<view>[1-3])\.svg|\.png)")
_LAYOUTS_WITHOUT_PRODUCTS = (Layout.HUB, Layout.STORY)

Found = tuple[Reply, Product | None]


def page_of(shop: Shop, path: str, price_of: Prices, page_bytes: int = 0) -> Found:
    """What `shop` answers at `path`, and the product if the page is one's."""
    if path.startswith(EXEMPT):
        return _file(shop, path), None
    setting = Setting(shop, price_of)
    product = _product_at(setting, path)
    if product is not None:
        html = product_page(setting, product, path)
    else:
        html = _start(setting, path) if path in _START else _other(setting, path)
    if not html:
        return not_found(path), None
    if page_bytes:
        html = padded(html, page_bytes, setting.words, f"{shop.name}{path}")
    return Reply(html.encode()), product


def _start(setting: Setting, path: str) -> str:
    match setting.shop.layout:
        case Layout.HUB:
            return hub_start(setting, path)
        case Layout.STORY:
            return story_page(setting, path)
        case Layout.GUARDED:
            return start_page(setting, path, first=members_tile(setting, setting.goods.products[0]))
        case Layout.DECOYS:
            return start_page(setting, path, first=decoy_tiles(setting))
    return start_page(setting, path)


def _product_at(setting: Setting, path: str) -> Product | None:
    """The product whose page is at `path`, on the members' shelf too."""
    if setting.shop.layout in _LAYOUTS_WITHOUT_PRODUCTS:
        return None
    if path in _START:
        return setting.goods.products[0] if setting.shop.layout is Layout.ONE_PRODUCT else None
    own = path.removeprefix(MEMBERS.removesuffix("/"))
    before, after = setting.shop.product_path.split("{}")
    if not (own.startswith(before) and own.endswith(after)):
        return None
    return setting.goods.by_slug.get(own[len(before) : len(own) - len(after)])


def _other(setting: Setting, path: str) -> str:
    """A page without a product of its own, or nothing."""
    category = _category_at(setting, path)
    if category is not None:
        hub = setting.shop.layout is Layout.HUB
        return hub_aisle(setting, category, path) if hub else category_page(setting, category, path)
    if path == MEMBERS and setting.shop.layout not in _LAYOUTS_WITHOUT_PRODUCTS:
        return members_page(setting)
    if setting.shop.layout is Layout.DECOYS and path in (pages := decoy_pages(setting)):
        return pages[path]
    return _text(setting, path)


def _category_at(setting: Setting, path: str) -> Category | None:
    layout = setting.shop.layout
    if layout is Layout.STORY:
        return None
    addresses = [(category_path(category), category) for category in setting.goods.categories]
    if layout is Layout.HUB:
        addresses += [(hub_aisle_path(category), category) for category in setting.goods.categories]
    return dict(addresses).get(path)


def _text(setting: Setting, path: str) -> str:
    words = setting.words
    texts = {
        "/about": (words.about, words.about_text),
        "/delivery": (words.delivery, words.delivery_text),
        "/cart": (words.basket, words.delivery_text),
        "/cart/add": (words.basket, words.delivery_text),
        "/account": (words.account, words.delivery_text),
        "/search": (words.search, words.about_text),
        MEMBERS: (words.members, words.about_text),
    }
    return text_page(setting, path, *texts[path]) if path in texts else ""


def _file(shop: Shop, path: str) -> Reply:
    """Pictures and robots.txt."""
    if path == "/robots.txt":
        return _robots(shop)
    if path == "/favicon.png":
        return Reply(png_photo(shop.name, side=32), content_type="image/png")
    photo = _PHOTO.fullmatch(path)
    goods = ASSORTMENTS[shop.language]
    category = goods.shelf.get(photo["slug"]) if photo else None
    if photo is None or category is None:
        return not_found(path)
    if photo["view"] is None:
        return Reply(png_photo(photo["slug"]), content_type="image/png")
    return Reply(svg_photo(photo["slug"], category.motif, int(photo["view"])), content_type="image/svg+xml")


def _robots(shop: Shop) -> Reply:
    if shop.robots is Robots.BROKEN:
        return Reply(b"The porter is asleep.\n", 500, "text/plain; charset=utf-8")
    lines = ["User-agent: *"]
    if shop.robots is Robots.FORBIDS_ALL:
        lines.append("Disallow: /")
    else:
        lines += [f"Disallow: {path}" for path in FORBIDDEN]
    if shop.crawl_delay:
        lines.append(f"Crawl-delay: {shop.crawl_delay}")
    return Reply(("\n".join(lines) + "\n").encode(), content_type="text/plain; charset=utf-8")


def sitemap(shop: Shop, authority: str) -> Reply:
    """The addresses of a shop's start page, categories and products, under the host that was asked."""
    setting = Setting(shop, lambda product: product.price)
    paths = ["/"]
    if shop.layout is not Layout.STORY:
        paths += [category_path(category) for category in setting.goods.categories]
    if shop.layout not in _LAYOUTS_WITHOUT_PRODUCTS:
        paths += [setting.path(product) for product in setting.goods.products]
    rows = "\n".join(f"<url><loc>http://{authority}{path}</loc></url>" for path in paths)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{rows}\n</urlset>\n"
    )
    return Reply(text.encode(), content_type="application/xml")


# ── pages as large as a benchmark wants them, with markup of the kind that makes real pages large ──


_MARK = "</main>"


def padded(html: str, page_bytes: int, words: Words, key: str) -> str:
    """`html` with reviews and page state before the end of its main part, about `page_bytes` long."""
    missing = page_bytes - len(html.encode())
    if missing <= 0:
        return html
    blocks = []
    for block in _blocks(words, crc32(key.encode())):
        missing -= len(block.encode())
        if missing < 0:
            break
        blocks.append(block)
    filling = f'<section class="reviews"><h2>{words.reviews}</h2>\n{"".join(blocks)}</section>\n'
    before, mark, after = html.rpartition(_MARK)
    return f"{before}{filling}{mark}{after}"


def _blocks(words: Words, seed: int) -> Iterator[str]:
    """Reviews without end, and after every eighth the state that a script would keep."""
    for number in range(1, 1_000_000):
        seed = (seed * 1_103_515_245 + 12_345) & 0x7FFFFFFF
        yield _state(number, seed) if number % 8 == 0 else _review(words, number, seed)


def _review(words: Words, number: int, seed: int) -> str:
    name = words.people[seed // 3 % len(words.people)]
    lines = [words.praise[(seed // 11 + step * 3) % len(words.praise)] for step in range(2 + seed % 3)]
    return (
        f'<div class="review" id="r{number}" data-n="{seed:08x}"><b>{escape(name)}</b> '
        f'<time datetime="20{10 + seed % 15}-{1 + seed % 12:02}-{1 + seed % 28:02}">{10 + seed % 15}</time>'
        f"<p>{escape(' '.join(lines))}</p></div>\n"
    )


def _state(number: int, seed: int) -> str:
    rows = [
        {"i": seed ^ (step * 2_654_435_761 & 0xFFFFFF), "s": step % 3 == 0, "w": 40 + step}
        for step in range(12)
    ]
    state = {"slot": number, "rows": rows}
    return f'<script type="application/json" id="state-{number}">{json.dumps(state)}</script>\n'
