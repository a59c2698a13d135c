"""Microdata items, read from the elements that the outline has collected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import Factory, define

from crawler.pdp.linked_data import bare_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from crawler.pdp.outline import Element, Outline

MAX_ITEMS = 3_000
MAX_CLIMB = 200
_TAGS_BY_ATTRIBUTE = {
    "content": "meta", "href": "a link area", "src": "img source video audio iframe embed",
    "data": "object", "value": "data meter", "datetime": "time",
}  # fmt: skip
_VALUE_ATTRIBUTES = {tag: name for name, tags in _TAGS_BY_ATTRIBUTE.items() for tag in tags.split()}


@define(eq=False)
class Item:
    """An element with `itemscope`: its types, its properties, and the property that it is itself."""

    element: Element
    types: frozenset[str]
    role: str  # the itemprop of the item itself, empty where it stands alone
    parent: Item | None
    properties: dict[str, list[str | Item]] = Factory(dict)

    def first(self, name: str) -> str:
        """The first text value of a property, empty where there is none."""
        return next(
            (value for value in self.properties.get(name, ()) if isinstance(value, str) and value), ""
        )

    def items(self, name: str) -> Iterator[Item]:
        """The items that are values of a property."""
        return (value for value in self.properties.get(name, ()) if isinstance(value, Item))


def read_items(outline: Outline) -> tuple[Item, ...]:
    """Read all items in document order; properties go to the nearest item around them."""
    items: dict[int, Item] = {}
    for element in outline.scopes[:MAX_ITEMS]:
        owner = _owner(element.node, items)
        types = frozenset(bare_type(name) for name in element.get("itemtype").split()[:8])
        item = Item(element, types, element.get("itemprop"), owner)
        items[element.node.mem_id] = item
        if owner is not None and item.role:
            for name in item.role.split()[:8]:
                owner.properties.setdefault(name, []).append(item)
    for element in outline.properties[: MAX_ITEMS * 4]:
        if "itemscope" in element.attributes:
            continue
        owner = _owner(element.node, items)
        if owner is not None:
            for name in element.get("itemprop").split()[:8]:
                owner.properties.setdefault(name, []).append(value_of(element))
    return tuple(items.values())


def value_of(element: Element) -> str:
    """The value of an element with `itemprop`: the attribute that its tag has for it, or its text."""
    content = element.attributes.get("content")
    if content:
        return content.strip()
    name = _VALUE_ATTRIBUTES.get(element.tag)
    value = element.attributes.get(name) if name else None
    if value is None and element.tag == "img":
        value = element.attributes.get("data-src")
    if value is not None:
        return value.strip()
    return " ".join(element.node.text(separator=" ")[:4000].split())


def _owner(node: LexborNode, items: dict[int, Item]) -> Item | None:
    parent = node.parent
    for _ in range(MAX_CLIMB):
        if parent is None:
            return None
        item = items.get(parent.mem_id)
        if item is not None:
            return item
        parent = parent.parent
    return None
