"""What a page calls itself: the heading that names its product, its addresses, and its first image."""

# ruff: file-ignore[ambiguous-unicode-character-string] - headings are written in the letters of their languages

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.html.visible import is_out_of_sight, text_of
from crawler.pdp.buy_labels import fold, read_label
from crawler.pdp.structured_data import value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pdp.outline import Element, Outline


MAX_TITLE_CHARS = 300
MAX_LOOKED_AT = 40
MIN_NAME_CHARS = 6
REPEATED_FROM = 3
# Headings of pages that every shop has and that sell nothing, folded.
_OTHER_BUSINESS = re.compile(
    r"(?:(?:my|your|the) )?(?:shopping )?(?:cart|bag|basket|trolley)(?: is empty)?|checkout|(?:my )?account"
    r"|log ?in|sign ?in|log ?in or register|register|create (?:an )?account|wish ?list|search(?: results)?"
    r"|(?:mein |ihr )?warenkorb|kasse|anmelden|anmeldung|mein konto|(?:mon |votre )?panier|connexion"
    r"|mon compte|carrello|il tuo carrello|accedi|cesta|carrito|iniciar sesion|carrinho|entrar|winkelwagen"
    r"|inloggen|koszyk|logowanie|kosik|nakupni kosik|prihlaseni|prihlasenie|kosar|корзина|вход|кошик"
    r"|סל קניות|购物车"
)
_LOGO = re.compile(r"(?:^|[^a-z])(?:site-?)?logo(?:[^a-z]|$)", re.IGNORECASE)
_ROOT = re.compile(r"/|(?:https?:)?//[^/?#]+/?|(?:https?://[^/]+)?/?(?:index|home|default)\.\w{2,5}")
# What heads a page of reviews, and is in its document's title as well.
_REVIEWS = re.compile(
    r"\b(?:customer|user|product|buyer) reviews?\b|kundenrezension|kundenbewertung|\bavis clients?\b"
    r"|recensioni (?:dei )?clienti|opiniones de (?:los )?clientes|avaliações de clientes|klantbeoordeling"
    r"|отзывы (?:покупателей|о товаре)|カスタマーレビュー|\breviews (?:of|for)\b"
)
_PRODUCT_OG = {"product", "og:product", "product.item"}


def titles(outline: Outline) -> Iterator[tuple[Element, str]]:
    """Headings that may name the product, the likeliest first.

    A heading with which the document's title begins comes first: a first h1 may be the shop's logo.
    A hidden heading counts only where the document's title repeats it: pages that a script puts together keep
    their content hidden until then, and shops hide headings of messages.
    """
    document = document_title(outline)
    if _REVIEWS.search(document) and any(map(_is_about_reviews, outline.by_tag["h1"][:MAX_TITLES])):
        return
    found = sorted(_headings(outline), key=lambda pair: not _opens(document, pair[1]))
    yield from ((element, text) for element, text in found if not is_out_of_sight(element.node))
    yield from ((element, text) for element, text in found if names_the_page(text, document))
    yield from _declared(outline, document)


def _headings(outline: Outline) -> Iterator[tuple[Element, str]]:
    named = outline.hinted("title")
    count = Counter(element.get("class") for element in named)
    single = [element for element in named if count[element.get("class")] < REPEATED_FROM]
    for element in (*outline.by_tag["h1"][:MAX_LOOKED_AT], *single[:MAX_LOOKED_AT]):
        text = heading_text(element)
        if text and not is_other_business(text) and not _is_logo(element):
            yield element, text


def _is_logo(element: Element) -> bool:
    """Whether a heading is the shop's own name, which stands on all of its pages and leads to the first."""
    if element.tag == "h1" and _LOGO.search(element.names()[:400]):
        return True
    link = element.node.css_first("a[href]")
    return link is not None and bool(_ROOT.fullmatch((link.attributes.get("href") or "")[:200].strip()))


def _is_about_reviews(heading: Element) -> bool:
    return bool(_REVIEWS.search(words_of(heading_text(heading))))


def _declared(outline: Outline, document: str) -> Iterator[tuple[Element, str]]:
    """Names that are no h1: microdata, other headings that the document's title repeats, Open Graph."""
    for element in outline.properties[:MAX_LOOKED_AT]:
        if "name" in element.get("itemprop").split():
            text = value_of(element)
            if text:
                yield element, text[:MAX_TITLE_CHARS]
    others = (outline.by_tag["h2"], outline.hinted("heading"), outline.by_tag["h3"])
    for element in (element for listed in others for element in listed[:MAX_LOOKED_AT]):
        text = heading_text(element)
        if names_the_page(text, document):
            yield element, text
    if declares_product(outline):
        yield from (
            (meta, meta.get("content")[:MAX_TITLE_CHARS])
            for meta in outline.by_tag["meta"]
            if meta.get("property").lower() == "og:title" and meta.get("content").strip()
        )


def declares_product(outline: Outline) -> bool:
    """Whether the head calls the page a product, in the words of Open Graph."""
    return any(
        meta.get("property").lower() == "og:type" and meta.get("content").strip().lower() in _PRODUCT_OG
        for meta in outline.by_tag["meta"]
    )


def _opens(document: str, heading: str) -> bool:
    words = words_of(heading)
    return bool(words) and document.startswith(words)


def document_title(outline: Outline) -> str:
    """The words of the document's title."""
    title = next(iter(outline.by_tag["title"]), None)
    return words_of(title.node.text()) if title is not None else ""


def names_the_page(text: str, document: str) -> bool:
    """Whether the document's title repeats a heading that is long enough to be a name."""
    words = words_of(text)
    if len(words) < MIN_NAME_CHARS or not document:
        return False
    if words in document or document in words:
        return True
    named, titled = set(words.split()), set(document.split())
    return len(named & titled) >= max(3, 0.6 * min(len(named), len(titled)))


def words_of(text: str) -> str:
    """The words of a text in lower case, without what stands between them."""
    return " ".join(re.findall(r"\w+", text[:MAX_TITLE_CHARS].lower()))


def is_other_business(text: str) -> bool:
    """Whether a heading is that of a cart, a checkout or an account, or a buy control's label."""
    return bool(_OTHER_BUSINESS.fullmatch(fold(text))) or read_label(text)[0] in {"add", "buy"}


def heading_text(element: Element) -> str:
    """The heading's text, or that of the image which stands for it."""
    text = " ".join(element.node.text(separator=" ")[: MAX_TITLE_CHARS * 4].split())
    if "{" in text:  # a style sheet stands in it
        text = text_of(element.node, limit=MAX_TITLE_CHARS)
    if not text:
        image = element.node.css_first("img")
        text = (image.attributes.get("alt") or "").strip() if image is not None else ""
    return text[:MAX_TITLE_CHARS]


def first_image(outline: Outline) -> Element | None:
    """The first image that shows something."""
    return next((image for image in outline.by_tag["img"] if _shows(image)), None)


def _shows(image: Element) -> bool:
    """Whether an image is one to look at: a pixel that tracks is tiny, and scripts fill in sources later.

    Inside a `picture` the sources are named beside the image, and it may have no attribute of its own.
    """
    if image.get("width") in {"0", "1"} or image.get("height") in {"0", "1"}:
        return False
    if any(name != "alt" and value for name, value in image.attributes.items()):
        return True
    around = image.node.parent
    return around is not None and around.tag == "picture" and around.css_first("source") is not None


# ── what a page calls itself ──


MAX_TITLES = 4
LONG_NAME_CHARS = 10


@frozen
class PageIdentity:
    """Addresses and headings that name the subject of one page."""

    addresses: frozenset[str]
    titles: tuple[str, ...]

    def has_address(self, url: str) -> bool:
        """Whether `url` is an address of this page."""
        bare = bare_address(url)
        return "/" in bare and bare in self.addresses

    def has_title(self, name: str) -> bool:
        """Whether `name` is what the page's headings say, or a part of it, or the other way round."""
        plain = words_of(name)
        return bool(plain) and any(_is_part(plain, title) for title in self.titles)


def identity_of(url: str, outline: Outline, title: tuple[Element, str] | None) -> PageIdentity:
    """Collect what names the page: its own URL, the canonical one, Open Graph, h1 and product titles."""
    addresses = [
        url,
        *(link.get("href") for link in outline.by_tag["link"] if "canonical" in link.get("rel").lower()),
    ]
    headings = [title[1]] if title else []
    headings += [heading_text(element) for element in outline.by_tag["h1"][:MAX_TITLES]]
    headings.append(document_title(outline))
    for meta in outline.by_tag["meta"]:
        name = meta.get("property").lower()
        if name == "og:url":
            addresses.append(meta.get("content"))
        elif name == "og:title":
            headings.append(meta.get("content"))
    plain = (words_of(heading) for heading in headings)
    return PageIdentity(
        addresses=frozenset(bare_address(address) for address in addresses if address),
        titles=tuple(filter(None, dict.fromkeys(plain))),
    )


def bare_address(url: str) -> str:
    """An address without scheme, `www.`, query, fragment and trailing slash."""
    return (
        re.sub(r"^https?://(?:www\.)?", "", url.strip()[:2000].lower())
        .split("#")[0]
        .split("?")[0]
        .rstrip("/")
    )


def _is_part(one: str, other: str) -> bool:
    """Whether the shorter text stands in the longer one and is no mere word of it."""
    shorter, longer = sorted((one, other), key=len)
    return shorter in longer and (len(shorter) >= LONG_NAME_CHARS or shorter == longer)
