"""The elements that the readers ask for, collected in one walk over the tree."""

from __future__ import annotations

from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING

from attrs import Factory, define
from selectolax.lexbor import LexborNode

from crawler.pdp.hints import hinted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selectolax.lexbor import LexborHTMLParser

Attributes = dict[str, str | None]

_KEPT_TAGS = [
    "a",
    "button",
    "input",
    "form",
    "h1",
    "h2",
    "h3",
    "h3",
    "img",
    "meta",
    "link",
    "title",
    "base",
    "script",
    "html",
    "body",
    "select",
    "main",
    "article",
    "nav",
    "footer",
    "header",
]
# Attributes that name an element; all but the first two stand in for classes that a machine has made.
_NAMING = (
    "class",
    "id",
    "data-testid",
    "data-test-id",
    "data-test",
    "data-qa",
    "data-hook",
    "data-auto",
    "data-automation-id",
)


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

    def names(self) -> str:
        """Everything that names the element, classes first."""
        return " ".join(filter(None, map(self.attributes.get, _NAMING)))


@define(eq=False)
class Outline:
    """A page's elements by what they can be evidence of, each list in document order."""

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
        """Elements whose names speak of a `price`, a purchase (`buy`), a product `title` or any `heading`."""
        return self.by_hint.get(hint, [])


# Tags that carry nothing for any reader, and are many.
_MUTE_TAGS = frozenset(
    {
        *("br", "hr", "wbr", "option", "optgroup", "tbody", "thead", "tr", "col", "style", "noscript"),
        *(
            "path",
            "g",
            "use",
            "circle",
            "rect",
            "polygon",
            "line",
            "defs",
            "symbol",
            "clippath",
            "-comment",
            "-doctype",
        ),
    }
)
_Walked = tuple[int, LexborNode, str, Attributes]
# Attributes that put an element on a list of its own.
_MARKING: dict[str, Callable[[Outline], list[Element]]] = {
    "itemprop": attrgetter("properties"),
    "itemscope": attrgetter("scopes"),
    "typeof": attrgetter("typed"),
    "role": attrgetter("pressed"),
}
_SPEAKING = frozenset((*_MARKING, *_NAMING[1:]))


def read_outline(tree: LexborHTMLParser) -> Outline:
    """Walk the tree once and keep what any reader may ask for."""
    outline = Outline()
    if tree.root is None:
        return outline
    by_tag = outline.by_tag
    named: defaultdict[str, list[_Walked]] = defaultdict(list)
    for order, node in enumerate(tree.root.traverse()):
        tag = node.tag or ""
        if tag in _MUTE_TAGS:
            continue
        attributes = node.attributes
        if tag in by_tag:
            by_tag[tag].append(Element(node, tag, attributes, order))
        name = attributes.get("class")
        if name:
            named[name].append((order, node, tag, attributes))
        if not _SPEAKING.isdisjoint(attributes):
            _keep_marked(outline, named, (order, node, tag, attributes))
    outline.by_hint = _by_hint(named)
    return outline


def _keep_marked(outline: Outline, named: dict[str, list[_Walked]], walked: _Walked) -> None:
    """Keep an element that more than its class speaks for."""
    attributes = walked[3]
    for attribute in _SPEAKING.intersection(attributes):
        marked = _MARKING.get(attribute)
        if marked is not None:
            marked(outline).append(_element(walked))
        elif attributes[attribute]:
            named[attributes[attribute] or ""].append(walked)
    if outline.pressed and outline.pressed[-1].order == walked[0] and not _is_pressed(outline.pressed[-1]):
        outline.pressed.pop()


def _element(walked: _Walked) -> Element:
    order, node, tag, attributes = walked
    return Element(node, tag, attributes, order)


def _is_pressed(element: Element) -> bool:
    return element.get("role") == "button" and element.tag not in _KEPT_TAGS


def _by_hint(named: dict[str, list[_Walked]]) -> dict[str, list[Element]]:
    found: defaultdict[str, dict[int, Element]] = defaultdict(dict)
    for hint, name in hinted(named):
        for walked in named[name]:
            found[hint][walked[0]] = _element(walked)
    return {hint: [element for _, element in sorted(by_order.items())] for hint, by_order in found.items()}
