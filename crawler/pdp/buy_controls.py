"""Every control on a page that buys something, by its label or by its platform's idiom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.pdp.buy_labels import BUY_STEMS, MAX_LABEL_CHARS, fold, kind_of
from crawler.pdp.needles import Haystack
from crawler.pdp.outline import Element

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pdp.outline import Outline

MAX_CONTROLS = 400
_PRESSABLE = {"submit", "button", "image"}
_CART_WORDS = ("cart", "basket", "bag", "korz", "kosik", "buy", "add_product")
_SCRIPTED_TAGS = {"div", "span", "img", "li", "p", "td", "label", "strong", "b"}
_CART_SCRIPT = re.compile(
    r"add.{0,8}(?:cart|basket|korz|kosik|warenkorb)|(?:cart|basket).{0,2}add|insert.?cart|buy_?now",
    re.IGNORECASE,
)

# Names that platforms give to the buy control of a product page, and of nothing else.
_OWN_IDIOM = re.compile(
    r"single_add_to_cart_button|product-form__submit|product-form__cart-submit|product_addtocart|product-addtocart-button"
    r"|add-to-cart-button\b|addtocart-button|^button-cart$|buy-now-button|add_to_cart_button_detail"
    r"|shopify-payment-button|sqs-add-to-cart-button|form-action-addtocart|btn-buy|buy-widget",
    re.IGNORECASE,
)
_ANY_IDIOM = re.compile(
    r"add[-_ ]?to[-_ ]?(?:cart|basket|bag|trolley)|(?:cart|basket)[-_]?add(?![a-z])|btn-cart"
    r"|buy-?(?:btn|button|now)"
    r"|(?:btn|button)[-_]?(?:buy|cart|basket)|in-den-warenkorb|warenkorb-?button|koupit|kup-?btn|to-?basket|to-?cart(?![a-z])",
    re.IGNORECASE,
)
_CART_ADDRESS = re.compile(
    r"/cart/add|[?&]add-to-cart=|checkout/cart/add|/basket/add|addtocart|add_to_cart|add-to-cart|action=(?:buy_now|add_product)"
    r"|/cart\.php\?.*action=add|route=checkout/cart/add|add-?to-?basket|/handle-buy-box|gp/product/handle",
    re.IGNORECASE,
)


@frozen(eq=False)
class BuyControl:
    """A control that buys, what it says, and why it is taken for one."""

    element: Element
    label: str
    reason: str  # add or buy by its label, or idiom


def buy_controls(outline: Outline) -> list[BuyControl]:
    """Find the controls in document order; related products' and repeated ones are among them."""
    found = {control.element.order: control for control in _candidates(outline)}
    return [found[order] for order in sorted(found)][:MAX_CONTROLS]


def _candidates(outline: Outline) -> Iterator[BuyControl]:
    for element in outline.hinted("buy"):
        names = f"{element.get('class')} {element.get('id')}"
        if _ANY_IDIOM.search(names) and _is_pressable(element):
            yield BuyControl(element, fold(label_of(element)), "idiom")
    for form in outline.all("form"):
        if _CART_ADDRESS.search(form.get("action")[:500]):
            yield BuyControl(form, "", "idiom")
    yield from _by_target(outline)
    yield from _labelled(outline)


def _by_target(outline: Outline) -> Iterator[BuyControl]:
    """Links that lead into a cart, and whatever a script puts there when it is clicked."""
    for attribute, pattern in (("href", _CART_ADDRESS), ("onclick", _CART_SCRIPT)):
        elements = [
            element for element in outline.all("a", "button", "input") if element.attributes.get(attribute)
        ]
        targets = [element.get(attribute)[:500] for element in elements]
        for place in Haystack.of(targets).places(_CART_WORDS):
            if pattern.search(targets[place]):
                yield BuyControl(elements[place], fold(label_of(elements[place])), "idiom")


def _labelled(outline: Outline) -> Iterator[BuyControl]:
    pressable = [
        element
        for element in (*outline.all("button", "input", "a"), *outline.pressed)
        if _is_pressable(element)
    ]
    # Themes also make buy controls of elements that nobody can press without a script; their names tell.
    pressable += [element for element in outline.hinted("buy") if element.tag in _SCRIPTED_TAGS]
    glimpses = [_glimpse(element) for element in pressable]
    for place in Haystack.of(glimpses).places(BUY_STEMS):
        label = fold(label_of(pressable[place]))
        kind = kind_of(label)
        if kind:
            yield BuyControl(pressable[place], label, kind)


def _glimpse(element: Element) -> str:
    """A label's letters without care for the spaces between them, which is much faster read."""
    text = element.node.text_lexbor() if element.tag not in {"input", "img"} else ""
    if len(text) > MAX_LABEL_CHARS * 8 or (text and not text.isspace()):
        return text[: MAX_LABEL_CHARS * 8].replace("\n", " ")
    return label_of(element)


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
