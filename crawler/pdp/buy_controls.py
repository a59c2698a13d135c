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
_SCRIPTED_TAGS = {"div", "span", "img", "li", "p", "td", "label", "strong", "b"}
_CART_SCRIPT = re.compile(r"add.{0,8}(?:cart|basket|korz|kosik|warenkorb)|(?:cart|basket).{0,2}add|insert.?cart|buy_?now", re.IGNORECASE)

# Names that platforms give to the buy control of a product page, and of nothing else.
_OWN_IDIOM = re.compile(
    r"single_add_to_cart_button|product-form__submit|product-form__cart-submit|product_addtocart|product-addtocart-button"
    r"|add-to-cart-button\b|addtocart-button|^button-cart$|buy-now-button|add_to_cart_button_detail"
    r"|shopify-payment-button|sqs-add-to-cart-button|form-action-addtocart|btn-buy|buy-widget",
    re.IGNORECASE,
)
_ANY_IDIOM = re.compile(
    r"add[-_ ]?to[-_ ]?(?:cart|basket|bag|trolley)|(?:cart|basket)[-_]?add(?![a-z])|btn-cart|buy-?(?:btn|button|now)"
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
    for element in outline.all("a", "button", "input"):
        if _puts_into_cart(element):
            yield BuyControl(element, fold(label_of(element)), "idiom")
    yield from _labelled(outline)


def _puts_into_cart(element: Element) -> bool:
    script = element.attributes.get("onclick")
    if script and _CART_SCRIPT.search(script[:500]):
        return True
    return element.tag == "a" and bool(_CART_ADDRESS.search(element.get("href")[:500]))


def _labelled(outline: Outline) -> Iterator[BuyControl]:
    pressable = [
        element for element in (*outline.all("button", "input", "a"), *outline.pressed) if _is_pressable(element)
    ]
    # Themes also make buy controls of elements that nobody can press without a script; their names tell.
    pressable += [element for element in outline.hinted("buy") if element.tag in _SCRIPTED_TAGS]
    labels = [label_of(element) for element in pressable]
    for place in Haystack.of(labels).places(BUY_STEMS):
        label = fold(labels[place])
        kind = kind_of(label)
        if kind:
            yield BuyControl(pressable[place], label, kind)


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
    return " ".join(text[:1000].split())[:200]


def _image_text(element: Element) -> str:
    image = element.node.css_first("img")
    if image is None:
        return ""
    return image.attributes.get("alt") or image.attributes.get("title") or ""
