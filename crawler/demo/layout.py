"""The frame of every page: style, head, sign, navigation, breadcrumbs, footer; and the tile of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

from attrs import frozen

from crawler.demo.goods import ASSORTMENTS, WORDS, Assortment, Category, Product, Words, price_text
from crawler.demo.shops import Buy, Layout, Shop

_SHEET = """
:root{--accent:%s;--paper:%s;--ink:#26231f;--line:#ddd6c9;--soft:#6f675b}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.6 Georgia,'Iowan Old Style',serif}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
.wrap{max-width:1120px;margin:0 auto;padding:0 24px}
.top{border-bottom:1px solid var(--line);background:#fff}
.top .wrap{display:flex;gap:28px;align-items:center;min-height:76px;flex-wrap:wrap}
.sign{font-size:26px;letter-spacing:.02em;color:var(--ink)}
.top nav{display:flex;gap:20px;flex-wrap:wrap;flex:1}
.top nav a,.tools a{font:15px/1.4 system-ui,sans-serif;color:var(--ink)}
.tools{display:flex;gap:16px;align-items:center}
.tools input{border:1px solid var(--line);border-radius:99px;padding:7px 14px;font:inherit;font-size:14px}
.crumbs{font:14px/1.4 system-ui,sans-serif;color:var(--soft);margin:22px 0 0}
.crumbs a::after{content:'/';margin:0 8px;color:var(--line)}
.banner{padding:64px 0 56px;border-bottom:1px solid var(--line)}
.banner p{font-size:34px;line-height:1.25;max-width:22em;margin:0}
h1{font-weight:400;font-size:36px;line-height:1.2;margin:22px 0 10px}
h2{font-weight:400;font-size:25px;margin:44px 0 14px}
h3{font-weight:400;font-size:18px;line-height:1.35;margin:12px 0 2px}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:30px 24px}
ul.grid{padding:0;margin:0;list-style:none}
.tile img,.shelf img{width:100%%;height:auto;display:block;border-radius:4px;background:#fff}
.tile .price{font-size:16px}.tile .more{font:14px/1 system-ui,sans-serif}
.price{color:var(--accent);font-size:27px;margin:6px 0}
.tax{font:13px/1 system-ui,sans-serif;color:var(--soft);margin-left:8px}
.product{display:grid;grid-template-columns:minmax(0,1.1fr) minmax(0,1fr);gap:52px;margin-top:12px}
.gallery img{width:100%%;height:auto;border-radius:4px;background:#fff;display:block}
.thumbs{display:flex;gap:12px;margin-top:12px}.thumbs img{width:92px}
.buy-button{display:inline-block;border:0;border-radius:4px;background:var(--accent);color:#fff;cursor:pointer;
font:600 16px/1 system-ui,sans-serif;padding:15px 30px}
.buy-button[disabled]{background:#b9b2a6;cursor:default}
.tile .buy-button{padding:10px 16px;font-size:14px;margin-top:8px}
.stock{font:14px/1.4 system-ui,sans-serif;color:var(--soft)}
form.buy{margin:18px 0;display:flex;gap:14px;align-items:center}
form.buy input[type=number]{width:70px;padding:13px 10px;
border:1px solid var(--line);border-radius:4px;font:inherit}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:6px 22px;
border-top:1px solid var(--line);padding-top:18px}
dl.facts dt{color:var(--soft)}dl.facts dd{margin:0}
.prose{max-width:42em}
.review{border-top:1px solid var(--line);padding:14px 0;max-width:42em}.review b{font-weight:600}
footer{margin-top:72px;border-top:1px solid var(--line);background:#fff;padding:30px 0;
font:15px/1.6 system-ui,sans-serif}
footer ul{display:flex;gap:22px;flex-wrap:wrap;list-style:none;padding:0}
@media(max-width:760px){.product{grid-template-columns:1fr;gap:24px}.banner p{font-size:26px}}
"""


def style_sheet(accent: str, paper: str) -> str:
    """The style sheet in a shop's two colours."""
    return _SHEET.strip() % (accent, paper)


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
