"""The frame of every page: head, sign, navigation, breadcrumbs, footer; and the tile that lists use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

from attrs import frozen

from crawler.demo.goods import ASSORTMENTS, Assortment, Category, Product
from crawler.demo.money import price_text
from crawler.demo.shops import Buy, Layout, Shop
from crawler.demo.styles import style_sheet
from crawler.demo.wording import WORDS, Words

Prices = Callable[[Product], int]


@frozen
class Setting:
    """The shop whose page is being made, and what its prices are now."""

    shop: Shop
    price_of: Prices

    @property
    def words(self) -> Words:
        """The shop's phrases."""
        return WORDS[self.shop.language]

    @property
    def goods(self) -> Assortment:
        """What the shop sells."""
        return ASSORTMENTS[self.shop.language]

    def price(self, product: Product) -> str:
        """A product's price as it is shown."""
        return escape(price_text(self.price_of(product), self.shop.language, self.shop.currency))

    def path(self, product: Product) -> str:
        """The address of a product's page in this shop."""
        return self.shop.product_path.format(product.slug)


def category_path(category: Category) -> str:
    """The address of a category's page."""
    return f"/c/{category.slug}"


def photo_path(product: Product, view: int = 1) -> str:
    """The address of one of a product's three photos."""
    return f"/photo/{product.slug}-{view}.svg"


def page(setting: Setting, path: str, title: str, main: str, *, head: str = "", summary: str = "") -> str:
    """A whole page: `main` in the shop's frame."""
    shop, words = setting.shop, setting.words
    return f"""<!doctype html>
<html lang="{shop.language}">
<head>
<meta charset="utf-8">
<title>{escape(title)} | {escape(shop.title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{escape(summary or words.welcome)}">
<link rel="canonical" href="{escape(path)}">
<link rel="icon" href="/favicon.png">
<style>
{style_sheet(*shop.colours)}
</style>
{head}</head>
<body>
<header class="top"><div class="wrap">
<a class="sign" href="/">{escape(shop.title)}</a>
{_navigation(setting)}
<div class="tools">
<form action="/search"><input name="q" aria-label="{words.search}" placeholder="{words.search}"></form>
<a href="/account">{words.account}</a> <a href="/cart">{words.basket}</a></div>
</div></header>
<main class="wrap">
{main}
</main>
{_footer(setting)}
</body>
</html>
"""


def _navigation(setting: Setting) -> str:
    if setting.shop.layout is Layout.STORY:
        return "<nav></nav>"
    links = "\n".join(
        f'<a href="{category_path(category)}">{escape(category.name)}</a>'
        for category in setting.goods.categories
    )
    return f"<nav>\n{links}\n</nav>"


def _footer(setting: Setting) -> str:
    words = setting.words
    links = (("/about", words.about), ("/delivery", words.delivery), ("/members/", words.members))
    items = "".join(f'<li><a href="{path}">{escape(label)}</a></li>' for path, label in links)
    return f'<footer><div class="wrap">\n<ul>{items}</ul>\n<p>{escape(words.footer)}</p>\n</div></footer>'


def picture(product: Product, text: str = "", *, view: int = 1, extra: str = "") -> str:
    """One photo of a product; `text` is what is read out in its place."""
    return f'<img{extra} src="{photo_path(product, view)}" alt="{escape(text)}" width="480" height="480">'


def crumbs(*steps: tuple[str, str]) -> str:
    """The way from the start page to here; the last step is this page and no link."""
    *links, (_, here) = steps
    path = "".join(f'<a href="{address}">{escape(label)}</a>' for address, label in links)
    return f'<nav class="crumbs" aria-label="breadcrumb">{path}<span>{escape(here)}</span></nav>'


def tile(setting: Setting, product: Product, *, path: str = "", buy: bool = False) -> str:
    """A product in a list: photo, name, price, and a buy button where the list has them."""
    address = path or setting.path(product)
    button = f"\n{buy_button(setting, product, small=True)}" if buy else ""
    return f"""<li class="tile">
<a href="{address}">{picture(product, product.name)}
<h3>{escape(product.name)}</h3></a>
<p class="price">{setting.price(product)}</p>
<a class="more" href="{address}">{setting.words.look}</a>{button}
</li>"""


def grid(tiles: Iterable[str], name: str = "product-grid") -> str:
    """Tiles side by side."""
    return f'<ul class="grid {name}">\n' + "\n".join(tiles) + "\n</ul>"


def buy_button(setting: Setting, product: Product, *, small: bool = False) -> str:
    """The form or link that puts a product into the basket."""
    words, kind = setting.words, setting.shop.buy
    if not setting.shop.in_stock:
        return f'<button type="button" class="buy-button" disabled>{words.sold_out}</button>'
    if kind is Buy.LINK:
        return f'<a class="buy-button" role="button" href="/cart/add?sku={product.sku}">{words.add}</a>'
    button = (
        f'<input type="submit" class="buy-button" value="{words.add}">'
        if kind is Buy.INPUT
        else f'<button type="submit" class="buy-button">{words.add}</button>'
    )
    amount = (
        "" if small else f'<input type="number" name="n" value="1" min="1" aria-label="{words.quantity}">\n'
    )
    return (
        '<form class="buy" action="/cart/add" method="post">\n'
        f'<input type="hidden" name="sku" value="{product.sku}">\n'
        f"{amount}{button}\n</form>"
    )


def paragraphs(texts: Iterable[str]) -> str:
    """Running text."""
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)
