"""Which of a page's buy controls are those of its own product."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawler.pdp.buy_labels import is_about_something_else
from crawler.pdp.money import find_in_prose
from crawler.pdp.place import Surroundings, ancestors, shape_of
from crawler.pdp.visible import text_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from crawler.pdp.buy_controls import BuyControl

# A page may show its own control twice, beside the product and in a bar that stays in view.
REPEATED_FROM = 3
NEAR = 6
NEAR_CHARS = 800


def own_controls(controls: list[BuyControl], around: Surroundings) -> list[BuyControl]:
    """The controls that are no tile's, no related product's and no banner's, in document order."""
    shapes = [shape_of(control.element.node) for control in controls]
    count = Counter(shapes)
    return [
        control
        for control, shape in zip(controls, shapes, strict=True)
        if count[shape] < REPEATED_FROM and _is_own(control, around)
    ]


def _is_own(control: BuyControl, around: Surroundings) -> bool:
    node = control.element.node
    if is_about_something_else(control.label) or around.is_aside(node) or around.is_in_tile(node):
        return False
    if control.reason == "buy":
        return not _is_in_login(node) and (control.element.tag != "a" or _is_near_price(node, around))
    return True


def _is_near_price(node: LexborNode, around: Surroundings) -> bool:
    """Whether a price stands beside the control: a link that says no more than `buy` may lead anywhere."""
    for place, block in enumerate(ancestors(node)):
        if place >= NEAR:
            return False
        if block.mem_id in around.priced or find_in_prose(text_of(block, limit=NEAR_CHARS)) is not None:
            return True
    return False


def _is_in_login(node: LexborNode) -> bool:
    form = next((block for block in ancestors(node) if block.tag == "form"), None)
    return form is not None and form.css_first("input[type=password]") is not None
