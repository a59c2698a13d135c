"""The pages and files of a shop, by their paths."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from crawler.demo.goods import price_text, price_value
from crawler.demo.linked_data import linked_data
from crawler.demo.padding import padded
from crawler.demo.photos import png_photo, svg_photo
from crawler.demo.wire import Reply

if TYPE_CHECKING:
    from crawler.demo.goods import Category, Product
    from crawler.demo.linked_data import Prices
    from crawler.demo.shops import Shop

# A shop that misbehaves still has these as they should be.
EXEMPT = ("/robots.txt", "/sitemap.xml", "/photo/", "/favicon.png")
MEMBERS = "/members/"
# What every robots.txt that forbids anything forbids; the members' shelf is linked from every page.
FORBIDDEN = ("/cart", "/account", "/search", MEMBERS)
_START = ("/", "/start")
_START_PAGES = {"hub": "hub.html", "story": "story.html"}  # by layout, where it is not start.html
# Pages of the layout `decoys` that look like products from afar.
_DECOYS = {
    "/products/gift-guide": "gift-guide.html",
    "/products/sizes": "sizes.html",
    "/products/from-the-archive": "from-the-archive.html",
}
# A page of running text has the phrases of that heading and those paragraphs.
_TEXTS = {
    "/about": ("about", "about_text"),
    "/delivery": ("delivery", "delivery_text"),
    "/cart": ("basket", "delivery_text"),
    "/cart/add": ("basket", "delivery_text"),
    "/account": ("account", "delivery_text"),
    "/search": ("search", "about_text"),
    MEMBERS: ("members", "about_text"),
}
_PHOTO = re.compile(r"/photo/(?P<slug>[a-z0-9-]+?)(?:-(?P<view>[1-3])\.svg|\.png)")
_TEMPLATES = Environment(
    loader=PackageLoader("crawler.demo", "data/templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def render(template: str, **values: Any) -> Reply:
    """A page made of one of the templates in `data/templates`."""
    return Reply(_TEMPLATES.get_template(template).render(values).encode())


def notice(status: int, title: str, text: str, *headers: tuple[str, str]) -> Reply:
    """A page that stands in for another; `text` is HTML."""
    page = (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n<h1>{title}</h1>\n<p>{text}</p>\n</body>\n</html>\n"
    )
    return Reply(page.encode(), status, headers=headers)


def not_found(path: str) -> Reply:
    """What any shop answers where it has no page."""
    return notice(404, "Not on these shelves", f"We looked twice, but there is nothing at {escape(path)}.")


def page_of(shop: Shop, path: str, price_of: Prices, page_bytes: int = 0) -> tuple[Reply, Product | None]:
    """What `shop` answers at `path`, and the product if the page is one's."""
    if path.startswith(EXEMPT):
        return _file(shop, path), None
    template, own = _template_at(shop, path)
    if not template:
        return not_found(path), None
    reply = render(template, **own, **_shared(shop, price_of), path=path)
    if page_bytes:
        html = padded(reply.body.decode(), page_bytes, shop.goods.words, f"{shop.name}{path}")
        reply = Reply(html.encode())
    return reply, own.get("product")


def _shared(shop: Shop, price_of: Prices) -> dict[str, Any]:
    """What every template of a shop may use."""
    return {
        "shop": shop,
        "goods": shop.goods,
        "words": shop.goods.words,
        "price": lambda product: price_text(price_of(product), shop.language, shop.currency),
        "plain_price": lambda product: price_value(price_of(product), shop.currency),
        "linked_data": partial(linked_data, shop, price_of),
    }


def _template_at(shop: Shop, path: str) -> tuple[str, dict[str, Any]]:
    """The template of the page at `path`, none where there is no page, and what that page is about."""
    if product := _product_at(shop, path):
        return "product.html", {"product": product}
    if path in _START:
        return _START_PAGES.get(shop.layout, "start.html"), {}
    if category := _category_at(shop, path):
        return "aisle.html" if shop.layout == "hub" else "category.html", {"category": category}
    if path in _TEXTS and not (path == MEMBERS and shop.has_product_pages):
        heading, texts = (shop.goods.words[name] for name in _TEXTS[path])
        return "text.html", {"heading": heading, "texts": texts}
    others = _DECOYS if shop.layout == "decoys" else {}
    return "members.html" if path == MEMBERS else others.get(path, ""), {}


def _category_at(shop: Shop, path: str) -> Category | None:
    """The category that is listed at `path`; a hub's lists have addresses that look like products', too."""
    if shop.layout == "story":
        return None
    folder, _, slug = path.rpartition("/")
    folders = ("/c", "/shop") if shop.layout == "hub" else ("/c",)
    return shop.goods.by_category.get(slug) if folder in folders else None


def _product_at(shop: Shop, path: str) -> Product | None:
    """The product whose page is at `path`, on the members' shelf too."""
    if not shop.has_product_pages:
        return None
    if path in _START:
        return shop.goods.products[0] if shop.layout == "one product" else None
    before, after = shop.product_path.split("{}")
    own = path.removeprefix(MEMBERS.removesuffix("/"))
    if not (own.startswith(before) and own.endswith(after)):
        return None
    return shop.goods.by_slug.get(own[len(before) : len(own) - len(after)])


def _file(shop: Shop, path: str) -> Reply:
    """Pictures and robots.txt."""
    if path == "/robots.txt":
        return _robots(shop)
    if path == "/favicon.png":
        return Reply(png_photo(shop.name, side=32), content_type="image/png")
    photo = _PHOTO.fullmatch(path)
    product = shop.goods.by_slug.get(photo["slug"]) if photo else None
    if photo is None or product is None:
        return not_found(path)
    if photo["view"] is None:
        return Reply(png_photo(product.slug), content_type="image/png")
    picture = svg_photo(product.slug, product.category.motif, int(photo["view"]))
    return Reply(picture, content_type="image/svg+xml")


def _robots(shop: Shop) -> Reply:
    if shop.robots == "status 500":
        return Reply(b"The porter is asleep.\n", 500, "text/plain; charset=utf-8")
    paths = ("/",) if shop.robots == "forbids all" else FORBIDDEN
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in paths)]
    if shop.crawl_delay:
        lines.append(f"Crawl-delay: {shop.crawl_delay}")
    return Reply(("\n".join(lines) + "\n").encode(), content_type="text/plain; charset=utf-8")


def sitemap(shop: Shop, authority: str) -> Reply:
    """The addresses of a shop's start page, categories and products, under the host that was asked."""
    paths = ["/"]
    if shop.layout != "story":
        paths += [category.path for category in shop.goods.categories]
    if shop.has_product_pages:
        paths += [shop.address(product) for product in shop.goods.products]
    rows = "\n".join(f"<url><loc>http://{authority}{path}</loc></url>" for path in paths)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{rows}\n</urlset>\n"
    )
    return Reply(text.encode(), content_type="application/xml")
