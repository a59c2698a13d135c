"""Every control on a page that buys something, by its label or by its platform's idiom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.pdp.buy_labels import MAX_LABEL_CHARS, fold, read_label
from crawler.pdp.needles import Haystack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pdp.outline import Element, Outline

MAX_CONTROLS = 400
MAX_NAMES_CHARS = 600
_PRESSABLE = {"submit", "button", "image"}
_CART_WORDS = ("cart", "basket", "bag", "korz", "kosik", "buy", "add", "line-item")
_SCRIPTED_TAGS = {"div", "span", "img", "li", "p", "td", "label", "strong", "b"}
_CART_SCRIPT = re.compile(
    r"add.{0,8}(?:cart|basket|korz|kosik|warenkorb)|(?:cart|basket).{0,2}add|insert.?cart|buy_?now",
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
    r"|checkout/add(?:article|product)|line-item/add|(?:cart|basket)/?\?(?:[^&]{0,40}&){0,4}add|cart-addproduct|orderitemadd|addproducttocart|/addcart",
    re.IGNORECASE,
)
_CART_NAME = re.compile(r"add[-_]?(?:to|2)[-_]?(?:cart|basket|bag)|inwarenkorb|btn_?buy", re.IGNORECASE)
# Attributes that hold what a click does, in plain pages and in those of the frameworks.
_CLICKS = frozenset(
    {
        *("onclick", "ng-click", "data-ng-click", "@click", "v-on:click", "x-on:click", "wire:click"),
        *("data-action", "data-button-action", "data-role", "data-event"),
    }
)
_BY_ATTRIBUTE = {"href": _CART_ADDRESS, "name": _CART_NAME}


@frozen(eq=False)
class BuyControl:
    """A control that buys, what it says, and why it is taken for one."""

    element: Element
    label: str
    reason: str  # add or buy by its label, or idiom


def buy_controls(outline: Outline) -> list[BuyControl]:
    """Find the controls in document order; related products' and repeated ones are among them."""
    found: dict[int, BuyControl] = {}
    for control in _candidates(outline):  # an idiom says more than a label that only speaks of buying
        found.setdefault(control.element.order, control)
    return [found[order] for order in sorted(found)][:MAX_CONTROLS]


def _candidates(outline: Outline) -> Iterator[BuyControl]:
    for element in outline.hinted("buy"):
        if _IDIOM.search(element.names()[:MAX_NAMES_CHARS]) and _is_pressable(element):
            yield BuyControl(element, fold(label_of(element)), "idiom")
    for form in outline.all("form"):
        if _CART_ADDRESS.search(form.get("action")[:500]):
            yield BuyControl(form, "", "idiom")
    yield from _by_target(outline)
    yield from _labelled(outline)


def _by_target(outline: Outline) -> Iterator[BuyControl]:
    """Links that lead into a cart, fields that are named for it, and what a click puts there."""
    elements: list[Element] = []
    targets: list[str] = []
    patterns: list[re.Pattern[str]] = []
    for element in outline.all("a", "button", "input"):
        for name, value in element.attributes.items():
            pattern = _CART_SCRIPT if name in _CLICKS else _BY_ATTRIBUTE.get(name)
            if value and pattern and (name != "name" or element.tag != "a"):
                elements.append(element)
                targets.append(value[:500].replace("\n", " "))
                patterns.append(pattern)
    for place in Haystack.of(targets).places(_CART_WORDS):
        if patterns[place].search(targets[place]):
            yield BuyControl(elements[place], fold(label_of(elements[place])), "idiom")


def _labelled(outline: Outline) -> Iterator[BuyControl]:
    pressable = [
        element
        for element in (*outline.all("button", "input", "a"), *outline.pressed)
        if _is_pressable(element)
    ]
    # Themes also make buy controls of elements that nobody can press without a script; their names tell.
    pressable += [element for element in outline.hinted("buy") if element.tag in _SCRIPTED_TAGS]
    for element in pressable:
        for label in (label_of(element), _one_line(element.get("aria-label"))):
            kind, folded = read_label(label)
            if kind:
                yield BuyControl(element, folded, kind)
                break


def _is_pressable(element: Element) -> bool:
    if element.tag == "input":
        return element.get("type").lower() in _PRESSABLE
    return element.tag in {"button", "a"} or element.get("role") == "button" or "-" in element.tag


def label_of(element: Element) -> str:
    """What a control says: its text, or what stands in for a text."""
    if element.tag == "input":
        return _one_line(element.get("value") or element.get("alt") or element.get("title"))
    if element.tag == "img":
        return _one_line(element.get("alt") or element.get("title"))
    text = _one_line(element.node.text(separator=" ")[: MAX_LABEL_CHARS * 8])
    if text:
        return text
    return _one_line(
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
