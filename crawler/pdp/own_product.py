"""The page's own product in its structured data, and what else than a product the page declares to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from crawler.pdp.dwellings import dwelling_in
from crawler.pdp.offers import as_list
from crawler.pdp.structured_data import bare_type, types_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from crawler.pdp.outline import Element, Outline
    from crawler.pdp.page import Page
    from crawler.pdp.place import Surroundings
    from crawler.pdp.structured_data import Item, LinkedNode
    from crawler.pdp.title import PageIdentity


# JSON-LD types by the refusal that they give.
ARTICLES = "declared_article"
PROPERTY = "declared_property"
_TYPES = {
    ARTICLES: (
        "article newsarticle blogposting techarticle reportagenewsarticle review howto recipe qapage "
        "liveblogposting discussionforumposting scholarlyarticle advertisercontentarticle blog "
        "analysisnewsarticle opinionnewsarticle profilepage"
    ),
    "declared_collection": "collectionpage searchresultspage offercatalog productcollection collection",
    PROPERTY: (
        "realestatelisting singlefamilyresidence apartment apartmentcomplex house residence accommodation "
        "realestateagent lodgingbusiness hotel vacationrental"
    ),
}
_KINDS = {reason: frozenset(types.split()) for reason, types in _TYPES.items()}
BOTH, CONTROL, EITHER = "both", "control", "either"
# Lists that product pages carry as well, for what else the shop sells.
_WEAK_TYPES = {"itemlist": "declared_collection"}
_OG_KINDS = {"article": ARTICLES, "product.group": "declared_collection", "blog": ARTICLES}


@frozen
class Declaration:
    """A refusal code and where the page declares what leads to it."""

    reason: str
    where: str
    text: str
    yields_to: str  # what speaks against it: BOTH a control and data together, a CONTROL, or EITHER


def declarations(page: Page) -> tuple[Declaration, ...]:
    """Every declaration of another kind than product, in document order, Open Graph last."""
    found = [
        Declaration(reason, node.path, ", ".join(sorted(node.types)), BOTH)
        for node in page.linked_data
        if _is_on_top(node)
        for reason, types in _KINDS.items()
        if node.types & types
    ]
    found += [
        Declaration(_WEAK_TYPES[kind], node.path, kind, EITHER)
        for node in page.linked_data
        if not node.via and not _lists_navigation(node)
        for kind in node.types & _WEAK_TYPES.keys()
    ]
    for meta in page.outline.by_tag["meta"]:
        kind = meta.get("content").strip().lower()
        if (meta.get("property") or meta.get("name")).lower() == "og:type" and kind in _OG_KINDS:
            found.append(Declaration(_OG_KINDS[kind], "meta[property=og:type]", kind, EITHER))
    dwelling = dwelling_in(page)
    if dwelling:
        found.append(Declaration(PROPERTY, "title", dwelling, CONTROL))
    return tuple(found)


def _lists_navigation(node: LinkedNode) -> bool:
    """Whether a list is the site's menu."""
    elements = [each for each in as_list(node.value.get("itemListElement"))[:20] if isinstance(each, dict)]
    return bool(elements) and all("sitenavigationelement" in types_of(each) for each in elements)


def _is_on_top(node: LinkedNode) -> bool:
    return not node.via or node.via in {("mainEntity",), ("mainEntityOfPage",)}


# ── the page's own product ──


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
    is_article = any(_is_on_top(node) and node.types & _KINDS[ARTICLES] for node in nodes)
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
