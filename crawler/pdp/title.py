"""Whether the page has a title and an image, as a product has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pdp.place import ancestors, selector_of
from crawler.pdp.visible import is_hidden
from crawler.pdp.microdata import value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pdp.outline import Element, Outline

MAX_TITLE_CHARS = 300
MAX_LOOKED_AT = 40


def titles(outline: Outline) -> Iterator[tuple[Element, str]]:
    """Headings that may name the product, the likeliest first."""
    for element in (*outline.by_tag["h1"][:MAX_LOOKED_AT], *outline.hinted("title")[:MAX_LOOKED_AT]):
        text = heading_text(element)
        if text and not is_out_of_sight(element):
            yield element, text
    for element in outline.properties[:MAX_LOOKED_AT]:
        if "name" in element.get("itemprop").split():
            text = value_of(element)
            if text:
                yield element, text[:MAX_TITLE_CHARS]


def heading_text(element: Element) -> str:
    """The heading's text, or that of the image which stands for it."""
    text = " ".join(element.node.text(separator=" ")[: MAX_TITLE_CHARS * 4].split())
    if not text:
        image = element.node.css_first("img")
        text = (image.attributes.get("alt") or "").strip() if image is not None else ""
    return text[:MAX_TITLE_CHARS]


def is_out_of_sight(element: Element) -> bool:
    """Whether the element, or something around it, is hidden."""
    return is_hidden(element.node) or any(is_hidden(around) for around in ancestors(element.node))


def first_image(outline: Outline) -> Element | None:
    """The first image that shows something."""
    return next((image for image in outline.by_tag["img"] if _shows(image)), None)


def _shows(image: Element) -> bool:
    if image.get("width") in {"0", "1"} or image.get("height") in {"0", "1"}:
        return False
    return any(
        image.get(name)
        for name in ("src", "data-src", "srcset", "data-srcset", "data-lazy-src", "data-original")
    )


def evidence_of(element: Element, text: str) -> tuple[str, str]:
    """Where the evidence stands, and what it says."""
    return selector_of(element.node), text[:120]
