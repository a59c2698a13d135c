"""What a page says in structured data: the typed nodes of its JSON-LD, and its microdata items."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

from attrs import Factory, define, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from selectolax.lexbor import LexborNode

    from crawler.pdp.outline import Element, Outline

MAX_CHARS = 4_000_000
MAX_DOCUMENTS = 64
_EDGE = 200

_HEAD = re.compile(r"(?:[\s;]|<!--|//|/\*|\*/|<!\[CDATA\[)++")
_TAIL = re.compile(r"(?:[\s;]|-->|//|/\*|\*/|\]\]>)++\Z")
_STRING = r'"(?:[^"\\]++|\\.)*+"?+'
_SPARE_COMMA = re.compile(rf"({_STRING})|,(?=[\s,]*+[\]}}])", re.DOTALL)
_COMMENT = re.compile(rf"({_STRING})|/\*(?:[^*]++|\*(?!/))*\*/|(?<=[\s,{{\[])//[^\n]*+", re.DOTALL)
_BETWEEN = " \t\r\n;,\ufeff\u00a0"


# A decimal number stays text: 19.90 is a price, and a float would lose its notation.
_strict = json.JSONDecoder(parse_float=str, parse_constant=lambda _: None)
_lenient = json.JSONDecoder(parse_float=str, parse_constant=lambda _: None, strict=False)


def read_json(text: str) -> list[Any]:
    """Return every document that can be read in `text`; none where it is too large or beyond repair."""
    if len(text) > MAX_CHARS:
        return []
    try:
        return [_strict.decode(text)]
    except (ValueError, RecursionError):
        bare = _unwrapped(text)
        return _concatenated(bare) or _concatenated(_repaired(bare))


def _unwrapped(text: str) -> str:
    bare = text.strip(_BETWEEN)
    head = _HEAD.match(bare)
    bare = bare[head.end() :] if head else bare
    return bare[:-_EDGE] + _TAIL.sub("", bare[-_EDGE:])


def _repaired(text: str) -> str:
    if "&quot;" in text or "&#34;" in text:
        text = html.unescape(text)
    text = _COMMENT.sub(_string_only, text)
    return _SPARE_COMMA.sub(_string_only, text)


def _string_only(match: re.Match[str]) -> str:
    return match[1] or ""


def _concatenated(text: str) -> list[Any]:
    """Read document after document; stop at the first place where none begins."""
    found: list[Any] = []
    at = 0
    while at < len(text) and len(found) < MAX_DOCUMENTS:
        try:
            value, at = _lenient.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(value)
        while at < len(text) and text[at] in _BETWEEN:
            at += 1
    return found


# ── typed nodes ──


MAX_NODES = 5_000
MAX_DEPTH = 24
MAX_TOTAL_CHARS = 6_000_000


@frozen
class LinkedNode:
    """One JSON object with a type, where it stands, and the properties that lead there."""

    path: str
    types: frozenset[str]  # lower case, without the vocabulary's address
    value: Mapping[str, Any]
    via: tuple[str, ...]  # property names from the document's top, `@graph` left out


def read_linked_data(scripts: Iterable[str]) -> tuple[LinkedNode, ...]:
    """Read every script on its own; one that is broken takes nothing away from the others."""
    nodes: list[LinkedNode] = []
    chars = 0
    for number, text in enumerate(scripts):
        chars += len(text)
        if chars > MAX_TOTAL_CHARS:
            break
        for document in read_json(text):
            for node in _typed(document, f"$[{number}]"):
                nodes.append(node)
                if len(nodes) >= MAX_NODES:
                    return tuple(nodes)
    return tuple(nodes)


def types_of(value: Mapping[str, Any]) -> frozenset[str]:
    """The types of a JSON object as bare lower-case names: `http://schema.org/Product` is `product`."""
    declared = value.get("@type", value.get("type") if "@context" in value else None)
    names = declared if isinstance(declared, list) else [declared]
    return frozenset(bare_type(name) for name in names[:20] if isinstance(name, str))


def bare_type(name: str) -> str:
    """The last part of a type's name, in lower case."""
    return name.strip().rstrip("/#").replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1].lower()


def _typed(document: Any, start: str) -> Iterator[LinkedNode]:
    """Walk in document order, with a bound on depth that no real page meets."""
    stack: list[tuple[Any, str, tuple[str, ...], int]] = [(document, start, (), 0)]
    seen = 0
    while stack and seen < MAX_NODES * 20:
        value, path, via, depth = stack.pop()
        seen += 1
        if isinstance(value, dict):
            types = types_of(value)
            if types:
                yield LinkedNode(path=path, types=types, value=value, via=via)
            children = [
                (child, f"{path}.{key}", via if key == "@graph" else (*via, key), depth + 1)
                for key, child in value.items()
                if isinstance(child, dict | list)
            ]
        elif isinstance(value, list):
            children = [
                (child, f"{path}[{place}]", via, depth + 1)
                for place, child in enumerate(value)
                if isinstance(child, dict | list)
            ]
        else:
            continue
        if depth < MAX_DEPTH:
            stack.extend(reversed(children))


# ── microdata items, read from the elements that the outline has collected ──


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
