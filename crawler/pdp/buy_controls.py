"""Every control on a page that buys something, by its label or by its platform's idiom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.pdp.buy_labels import MAX_LABEL_CHARS, fold, read_label, speaking
from crawler.pdp.outline import Haystack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pdp.outline import Element, Outline

MAX_CONTROLS = 400
MAX_NAMES_CHARS = 600
_PRESSABLE = {"submit", "button", "image"}
_SCRIPTED_TAGS = {"div", "span", "img", "li", "p", "td", "label", "strong", "b"}
_CART_SCRIPT = re.compile(
    r"add.{0,8}(?:cart|basket|korz|kosik|warenkorb)|(?:cart|basket).{0,2}add|insert.?cart|buy_?now|product_submit",
    re.IGNORECASE,
)

# Names that themes and platforms give to what puts something into a cart: Shopify, WooCommerce, Magento,
# OpenCart, PrestaShop, BigCommerce, Squarespace, Wix and their like.
_IDIOM = re.compile(
    r"add[-_ ]?to[-_ ]?(?:cart|basket|bag|trolley)|(?:cart|basket)[-_]?add(?![a-z])|btn-cart"
    r"|buy-?(?:btn|button|now)|(?:btn|button)[-_]?(?:buy|cart|basket)|shopify-payment-button"
    r"|in-den-warenkorb|warenkorb-?button|koupit|kup-?btn|to-?basket|(?<!go)(?<!go-)to-?cart(?![a-z])",
    re.IGNORECASE,
)
# Addresses that put something into a cart: Shopify, WooCommerce, Magento, osCommerce, BigCommerce, Oxid,
# Shopware, Salesforce, WebSphere, Bitrix, Amazon and their like.
_CART_ADDRESS = re.compile(
    r"/cart/add|[?&]add-to-cart=|/basket/add|addtocart|add_to_cart|add-to-cart|add-?to-?basket|fnc=tobasket"
    r"|action=(?:buy_now|add_product|add2basket|buy)|/cart\.php\?(?:[^&]{0,40}&){0,4}action=add|/handle-buy-box"
    r"|checkout/add(?:article|product)|line-item/add|(?:cart|basket)/?\?(?:[^&]{0,40}&){0,4}add|cart-addproduct|orderitemadd|addproducttocart|/addcart|wg-order\?",
    re.IGNORECASE,
)
# One of them stands in whatever the pattern takes.
_WORDS_OF_ADDRESSES = ("add", "buy", "basket", "wg-order")
_CART_NAME = re.compile(r"add[-_]?(?:to|2)[-_]?(?:cart|basket|bag)|inwarenkorb|btn_?buy", re.IGNORECASE)
# Attributes that hold what a click does, in plain pages and in those of the frameworks.
_CLICKS = frozenset(
    {
        *("onclick", "ng-click", "data-ng-click", "@click", "v-on:click", "x-on:click", "wire:click"),
        *("data-action", "data-button-action", "data-role", "data-event"),
    }
)


@frozen(eq=False)
class BuyControl:
    """A control that buys, what it says, and why it is taken for one."""

    element: Element
    label: str
    reason: str  # add, buy or waiting by its label, or idiom


def buy_controls(outline: Outline) -> list[BuyControl]:
    """Find the controls in document order; related products' and repeated ones are among them."""
    found: dict[int, BuyControl] = {}
    for control in _candidates(outline):  # an idiom says more than a label that only speaks of buying
        found.setdefault(control.element.order, control)
    return [found[order] for order in sorted(found)][:MAX_CONTROLS]


def _candidates(outline: Outline) -> Iterator[BuyControl]:
    for element in outline.hinted("buy"):
        may_buy = element.tag == "form" or _is_pressable(element)
        if may_buy and _IDIOM.search(element.names()[:MAX_NAMES_CHARS]):
            yield _idiom(element)
    for form in outline.all("form"):
        if _CART_ADDRESS.search(form.get("action")[:500]):
            yield _idiom(form)
    yield from _by_target(outline)
    yield from _labelled(outline)


def _idiom(element: Element) -> BuyControl:
    return BuyControl(element, "" if element.tag == "form" else fold(label_of(element)), "idiom")


def _by_target(outline: Outline) -> Iterator[BuyControl]:
    """Links that lead into a cart, fields that are named for it, and what a click puts there."""
    pressable = list(outline.all("a", "button", "input"))
    leading = [(element, href[:500]) for element in pressable if (href := element.attributes.get("href"))]
    found = [
        leading[place][0]
        for place in Haystack.of(href for _, href in leading).places(_WORDS_OF_ADDRESSES)
        if _CART_ADDRESS.search(leading[place][1].replace("\n", " "))
    ]
    found += [
        element for element in outline.all("button", "input") if _CART_NAME.search(element.get("name")[:500])
    ]
    found += [element for element in pressable if _puts_by_click(element)]
    return map(_idiom, found)


def _puts_by_click(element: Element) -> bool:
    attributes = element.attributes
    return not _CLICKS.isdisjoint(attributes) and any(
        _CART_SCRIPT.search((attributes[name] or "")[:500].replace("\n", " "))
        for name in _CLICKS.intersection(attributes)
    )


def _labelled(outline: Outline) -> Iterator[BuyControl]:
    pressable = [
        *outline.by_tag["button"],
        *filter(_is_pressable, outline.by_tag["input"]),
        *outline.by_tag["a"],
        *outline.pressed,
    ]
    # Themes also make buy controls of elements that nobody can press without a script; their names tell.
    pressable += [element for element in outline.hinted("buy") if element.tag in _SCRIPTED_TAGS]
    said = [(element, _said_by(element)) for element in pressable]
    said += [(element, label) for element in pressable if (label := element.attributes.get("aria-label"))]
    waiting: list[BuyControl] = []  # what it is read out as may say more
    for place in speaking([label for _, label in said]):
        element, label = said[place]
        kind, folded = read_label(_one_line(label))
        if kind == "waiting":
            waiting.append(BuyControl(element, folded, kind))
        elif kind:
            yield BuyControl(element, folded, kind)
    yield from waiting


def _is_pressable(element: Element) -> bool:
    if element.tag == "input":
        return element.get("type").lower() in _PRESSABLE
    return element.tag in {"button", "a"} or element.get("role") == "button" or "-" in element.tag


def label_of(element: Element) -> str:
    """What a control says: its text, or what stands in for a text."""
    return _one_line(_text_of(element)) or _one_line(_stand_in(element))


def _said_by(element: Element) -> str:
    """What a control says as it stands in the page, however long."""
    text = _text_of(element)
    return text if text and not text.isspace() else _stand_in(element)


def _text_of(element: Element) -> str:
    tag = element.tag
    if tag in {"input", "img"}:
        return element.get("value") if tag == "input" else ""
    return element.node.text(separator=" ")[: MAX_LABEL_CHARS * 8]


def _stand_in(element: Element) -> str:
    """What a control is called that has no text, or too much."""
    if element.tag in {"input", "img"}:
        return element.get("alt") or element.get("title")
    return (
        element.get("aria-label") or element.get("title") or element.get("data-label") or _image_text(element)
    )


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LABEL_CHARS else ""


def _image_text(element: Element) -> str:
    image = element.node.css_first("img")
    if image is None:
        return ""
    return image.attributes.get("alt") or image.attributes.get("title") or ""
