"""The page's own product in its structured data, told from products that are listed or recommended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from crawler.pdp.identity import PageIdentity
    from crawler.pdp.linked_data import LinkedNode
    from crawler.pdp.microdata import Item
    from crawler.pdp.place import Surroundings

PRODUCT_TYPES = frozenset({"product", "productgroup", "individualproduct", "productmodel", "someproducts"})
# Properties that lead from a page to what it is about; any other leads to something else.
_LEADS_TO_SUBJECT = frozenset({"mainEntity", "mainEntityOfPage", "about", "itemOffered"})

# A product that is sold has one of these. One without is a brand, a service or an app that collects ratings.
_IDENTIFYING = frozenset(
    {
        *("offers", "hasVariant", "isVariantOf", "price", "sku", "mpn", "isbn", "model", "color", "size"),
        *("gtin", "gtin8", "gtin12", "gtin13", "gtin14", "productID", "productGroupID"),
    }
)

# Goods have a number or a maker. Homes, rooms, services and whole categories are marked as products without.
_GOODS = frozenset(
    {
        *(
            "sku",
            "mpn",
            "isbn",
            "model",
            "brand",
            "manufacturer",
            "gtin",
            "gtin8",
            "gtin12",
            "gtin13",
            "gtin14",
        ),
        *("productID", "productGroupID"),
    }
)


def is_goods(names: Collection[str]) -> bool:
    """Whether the properties of a product name it as goods, were there nothing else on the page to say so."""
    return not _GOODS.isdisjoint(names)


def own_node(nodes: Sequence[LinkedNode], identity: PageIdentity) -> LinkedNode | None:
    """Choose the JSON-LD product that the page is about; none where products are only listed on it."""
    candidates = [
        node
        for node in nodes
        if node.types & PRODUCT_TYPES
        and _LEADS_TO_SUBJECT.issuperset(node.via)
        and _IDENTIFYING & node.value.keys()
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
        and _IDENTIFYING & item.properties.keys()
        and not around.is_aside(item.element.node)
        and not around.is_in_tile(item.element.node)
    ]
    if len(candidates) <= 1:
        return next(iter(candidates), None)
    named = [item for item in candidates if identity.has_title(item.first("name"))]
    return max(named, key=lambda item: len(item.properties)) if named else None


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
