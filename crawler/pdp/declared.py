"""What a page declares itself to be, where that is no product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.pdp.linked_data import LinkedNode
    from crawler.pdp.page import Page

# JSON-LD types by the refusal that they give.
ARTICLES = "declared_article"
_TYPES = {
    ARTICLES: (
        "article newsarticle blogposting techarticle reportagenewsarticle review howto recipe qapage "
        "liveblogposting discussionforumposting scholarlyarticle advertisercontentarticle blog "
        "analysisnewsarticle opinionnewsarticle profilepage"
    ),
    "declared_collection": "collectionpage searchresultspage offercatalog productcollection collection",
    "declared_property": (
        "realestatelisting singlefamilyresidence apartment apartmentcomplex house residence accommodation "
        "realestateagent lodgingbusiness hotel vacationrental"
    ),
}
_KINDS = {reason: frozenset(types.split()) for reason, types in _TYPES.items()}
# Lists that product pages carry as well, for what else the shop sells.
_WEAK_TYPES = {"itemlist": "declared_collection"}
_OG_KINDS = {"article": ARTICLES, "product.group": "declared_collection", "blog": ARTICLES}


@frozen
class Declaration:
    """A refusal code and where the page declares what leads to it."""

    reason: str
    where: str
    text: str
    is_firm: bool  # whether it is believed of a page that sells something too


def declares(nodes: Iterable[LinkedNode], reason: str) -> bool:
    """Whether JSON-LD itself declares the page to be of a kind."""
    return any(_is_on_top(node) and node.types & _KINDS[reason] for node in nodes)


def declarations(page: Page) -> tuple[Declaration, ...]:
    """Every declaration of another kind than product, in document order, Open Graph last."""
    found = [
        Declaration(reason, node.path, ", ".join(sorted(node.types)), is_firm=True)
        for node in page.linked_data
        if _is_on_top(node)
        for reason, types in _KINDS.items()
        if node.types & types
    ]
    found += [
        Declaration(_WEAK_TYPES[kind], node.path, kind, is_firm=False)
        for node in page.linked_data
        if not node.via
        for kind in node.types & _WEAK_TYPES.keys()
    ]
    for meta in page.outline.by_tag["meta"]:
        kind = meta.get("content").strip().lower()
        if (meta.get("property") or meta.get("name")).lower() == "og:type" and kind in _OG_KINDS:
            found.append(Declaration(_OG_KINDS[kind], "meta[property=og:type]", kind, is_firm=False))
    return tuple(found)


def _is_on_top(node: LinkedNode) -> bool:
    return not node.via or node.via in {("mainEntity",), ("mainEntityOfPage",)}
