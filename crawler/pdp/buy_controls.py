"""Every control on a page that buys something, by its label or by its platform's idiom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.pdp.buy_labels import MAX_LABEL_CHARS, fold, is_buy_label
from crawler.pdp.outline import Element

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pdp.outline import Outline

MAX_CONTROLS = 400
_PRESSABLE = {"submit", "button", "image"}

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
    reason: str  # label or idiom


def buy_controls(outline: Outline) -> list[BuyControl]:
    """Find the controls in document order; related products' and repeated ones are among them."""
    found = {control.element.order: control for control in _candidates(outline)}
    return [found[order] for order in sorted(found)][:MAX_CONTROLS]


def _candidates(outline: Outline) -> Iterator[BuyControl]:
    for element in outline.hinted("buy"):
        names = f"{element.get('class')} {element.get('id')}"
        if _ANY_IDIOM.search(names) and _is_pressable(element):
            yield BuyControl(element, label_of(element), "idiom")
    for element in (*outline.all("button", "input", "a"), *outline.pressed):
        if not _is_pressable(element):
            continue
        label = label_of(element)
        if is_buy_label(label):
            yield BuyControl(element, label, "label")
    for form in outline.all("form"):
        if _CART_ADDRESS.search(form.get("action")[:500]):
            yield BuyControl(form, "", "idiom")


def _is_pressable(element: Element) -> bool:
    if element.tag == "input":
        return element.get("type").lower() in _PRESSABLE
    return element.tag in {"button", "a"} or element.get("role") == "button" or "-" in element.tag


def label_of(element: Element) -> str:
    """What a control says: its text, or what stands in for a text, folded."""
    if element.tag == "input":
        return fold((element.get("value") or element.get("alt") or element.get("title"))[:200])
    text = element.node.text(separator=" ")
    if len(text) < MAX_LABEL_CHARS * 8:
        label = fold(text)
        if label:
            return label
    spoken = (
        element.get("aria-label") or element.get("title") or element.get("data-label") or _image_text(element)
    )
    return fold(spoken[:200])


def _image_text(element: Element) -> str:
    image = element.node.css_first("img")
    if image is None:
        return ""
    return image.attributes.get("alt") or image.attributes.get("title") or ""
