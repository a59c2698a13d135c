"""Which of a page's buy controls is that of its own product."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawler.pdp.place import ancestors, is_aside, shape_of

if TYPE_CHECKING:
    from crawler.pdp.buy_controls import BuyControl

TILES_FROM = 3  # a page may show its own control twice, beside the product and in a bar that stays in view


def own_controls(controls: list[BuyControl]) -> list[BuyControl]:
    """The controls that are no tile's, no related product's and no banner's, in document order."""
    shapes = [(shape_of(control.element.node), control.label) for control in controls]
    count = Counter(shapes)
    return [
        control
        for control, shape in zip(controls, shapes, strict=True)
        if count[shape] < TILES_FROM and not is_aside(control.element.node) and not _is_inside_link(control)
    ]


def _is_inside_link(control: BuyControl) -> bool:
    return any(
        around.tag == "a" and around.attributes.get("href") for around in ancestors(control.element.node)
    )
