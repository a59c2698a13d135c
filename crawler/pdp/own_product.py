"""The page's own product in its structured data, told from products that are listed or recommended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.pdp.declared import ARTICLES, declares
from crawler.pdp.linked_data import bare_type, types_of
from crawler.pdp.offers import as_list

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from crawler.pdp.linked_data import LinkedNode
    from crawler.pdp.microdata import Item
    from crawler.pdp.outline import Element, Outline
    from crawler.pdp.place import Surroundings
    from crawler.pdp.title import PageIdentity


PRODUCT_TYPES = frozenset({"product", "productgroup", "individualproduct", "productmodel", "someproducts"})
# Properties that lead from a page to what it is about; any other leads to something else.
_LEADS_TO_SUBJECT = frozenset({"mainEntity", "mainEntityOfPage", "about", "itemOffered"})

# What is sold has one of these. What has none is a product only where the page is named after it.
_IDENTIFYING = frozenset(
    {
        *("offers", "hasVariant", "isVariantOf", "price", "sku", "mpn", "isbn", "model", "color", "size"),
        *("gtin", "gtin8", "gtin12", "gtin13", "gtin14", "productID", "productGroupID"),
    }
)
# A number or a maker stands for a name, and for a single thing however many sellers offer it.
_NUMBERED = frozenset(
    {
        *("sku", "mpn", "isbn", "model", "brand", "manufacturer", "productID", "productGroupID"),
        *("gtin", "gtin8", "gtin12", "gtin13", "gtin14"),
    }
)


def own_node(nodes: Sequence[LinkedNode], identity: PageIdentity) -> LinkedNode | None:
    """Choose the JSON-LD product that the page is about; none where products are only listed or picked.

    A name with an offer is enough, and so is a name that is the page's. An article's products are its picks,
    unless the article is named after one.
    """
    is_article = declares(nodes, ARTICLES)
    candidates = [
        node
        for node in nodes
        if node.types & PRODUCT_TYPES
        and _LEADS_TO_SUBJECT.issuperset(node.via)
        and _is_product(node.value.keys(), _text(node.value, "name"), identity)
        and (not is_article or _is_of(node.value, identity))
    ]
    if len(candidates) <= 1:
        return next(iter(candidates), None)
    groups = [node for node in candidates if "productgroup" in node.types]
    if len(groups) == 1:
        return groups[0]
    named = [node for node in candidates if _is_of(node.value, identity)]
    if named:
        return max(named, key=_richness)
    if len({_text(node.value, "name") for node in candidates}) == 1:
        return max(candidates, key=_richness)
    offered = [node for node in candidates if "offers" in node.value]
    return offered[0] if len(offered) == 1 else None


def own_item(items: Sequence[Item], identity: PageIdentity, around: Surroundings) -> Item | None:
    """Choose the microdata product that the page is about; none where products are only listed on it."""
    candidates = [
        item
        for item in items
        if item.types & PRODUCT_TYPES
        and not _is_member(item)
        and _is_product(item.properties.keys(), item.first("name"), identity)
        and not around.is_aside(item.element.node)
        and not around.is_in_tile(item.element.node)
    ]
    if len(candidates) <= 1:
        return next(iter(candidates), None)
    named = [item for item in candidates if identity.has_title(item.first("name"))]
    return max(named, key=lambda item: len(item.properties)) if named else None


def is_range(value: Mapping[str, Any]) -> bool:
    """Whether a product may be all that a list shows: nothing identifies it, and its offer is a range."""
    offer = next(iter(as_list(value.get("offers"))), None)
    is_aggregate = isinstance(offer, dict) and "aggregateoffer" in types_of(offer)
    return is_aggregate and _NUMBERED.isdisjoint(value.keys())


def _is_product(names: Collection[str], name: str, identity: PageIdentity) -> bool:
    if not _IDENTIFYING.isdisjoint(names) and (name or not _NUMBERED.isdisjoint(names)):
        return True
    return identity.has_title(name)


def _is_of(value: Mapping[str, Any], identity: PageIdentity) -> bool:
    if any(identity.has_address(_text(value, name)) for name in ("url", "@id", "mainEntityOfPage")):
        return True
    return identity.has_title(_text(value, "name"))


def _is_member(item: Item) -> bool:
    """Whether the item is a part of another product, or an element of a list."""
    return item.parent is not None and item.role not in {"", "mainEntity", "about", "itemOffered"}


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""


def _richness(node: LinkedNode) -> tuple[bool, int]:
    return ("offers" in node.value, len(node.value))


# ── in RDFa ──


def own_typed(outline: Outline) -> Element | None:
    """The only element that RDFa types as a product; several are a list."""
    products = [
        element
        for element in outline.typed
        if PRODUCT_TYPES.intersection(map(bare_type, element.get("typeof").split()[:8]))
    ]
    return products[0] if len(products) == 1 else None
