"""The elements that the readers ask for, collected in one walk over the tree."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from attrs import Factory, define

from crawler.pdp.hints import hinted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

Attributes = dict[str, str | None]

_KEPT_TAGS = (
    "a button input form h1 h2 img meta link title base script html body select main article nav footer header"
).split()


@define(eq=False)
class Element:
    """One element with its attributes, read once."""

    node: LexborNode
    tag: str
    attributes: Attributes
    order: int  # place in the document

    def get(self, name: str) -> str:
        """The attribute's value, empty where there is none."""
        return self.attributes.get(name) or ""


@define(eq=False)
class Outline:
    """A page's elements by what they can be evidence of, each list in document order."""

    size: int = 0
    by_tag: dict[str, list[Element]] = Factory(lambda: {tag: [] for tag in _KEPT_TAGS})
    by_hint: dict[str, list[Element]] = Factory(dict)
    scopes: list[Element] = Factory(list)  # itemscope
    properties: list[Element] = Factory(list)  # itemprop
    typed: list[Element] = Factory(list)  # RDFa's typeof
    pressed: list[Element] = Factory(list)  # role=button on something that is neither button nor link

    def all(self, *tags: str) -> Iterator[Element]:
        """Every element with one of the tags, tag by tag."""
        for tag in tags:
            yield from self.by_tag[tag]

    def hinted(self, hint: str) -> list[Element]:
        """Every element whose class or id speaks of a `price`, of a purchase (`buy`), a product's `title` or any `heading`."""
        return self.by_hint.get(hint, [])


def read_outline(tree: LexborHTMLParser) -> Outline:
    """Walk the tree once and keep what any reader may ask for."""
    outline = Outline()
    root = tree.root
    if root is None:
        return outline
    named: defaultdict[str, list[tuple[int, LexborNode, str, Attributes]]] = defaultdict(list)
    by_tag = outline.by_tag
    order = 0
    for order, node in enumerate(root.traverse(), start=1):
        tag = node.tag or ""
        attributes = node.attributes
        kept = by_tag.get(tag)
        if kept is not None:
            kept.append(Element(node, tag, attributes, order))
        if not attributes:
            continue
        name = attributes.get("class")
        if name:
            named[name].append((order, node, tag, attributes))
        name = attributes.get("id")
        if name:
            named[name].append((order, node, tag, attributes))
        if "itemprop" in attributes:
            outline.properties.append(Element(node, tag, attributes, order))
        if "itemscope" in attributes:
            outline.scopes.append(Element(node, tag, attributes, order))
        if "typeof" in attributes:
            outline.typed.append(Element(node, tag, attributes, order))
        if attributes.get("role") == "button" and kept is None:
            outline.pressed.append(Element(node, tag, attributes, order))
    outline.size = order
    outline.by_hint = _by_hint(named)
    return outline


def _by_hint(
    named: dict[str, list[tuple[int, LexborNode, str, Attributes]]],
) -> dict[str, list[Element]]:
    found: defaultdict[str, dict[int, Element]] = defaultdict(dict)
    for hint, name in hinted(named):
        for order, node, tag, attributes in named[name]:
            found[hint][order] = Element(node, tag, attributes, order)
    return {hint: [element for _, element in sorted(by_order.items())] for hint, by_order in found.items()}
