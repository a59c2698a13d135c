"""Which product in the structured data is the page's own (SPEC C62)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from crawler.pdp import judge, read_page
from crawler.pdp.own_product import BOTH, CONTROL, EITHER, declarations
from tests.unit.pdp.pages import page, script

if TYPE_CHECKING:
    from crawler.pdp.page import Page

URL = "https://shop.example/p/jug"
OFFER = {"@type": "Offer", "price": "48.00", "priceCurrency": "EUR"}
JUG: dict[str, Any] = {"@type": "Product", "name": "Jug", "offers": OFFER}
RANGE = {"@type": "AggregateOffer", "lowPrice": "9", "highPrice": "99", "priceCurrency": "EUR"}
TILES = "".join(
    f'<li class="tile"><a href="/p/{n}"><img src="/{n}.jpg">Jug {n}</a><b class="price">€{n}9.00</b></li>'
    for n in range(1, 5)
)
SEEN = '<img src="/jug.jpg"><p class="price">€48.00</p>'


def page_of(*nodes: dict[str, Any], heading: str = "Jug", body: str = SEEN) -> Page:
    """A page with that JSON-LD under that heading."""
    data = json.dumps({"@context": "https://schema.org", "@graph": list(nodes)})
    script = f'<script type="application/ld+json">{data}</script>'
    html = f"<!doctype html><title>{heading}</title>{script}<h1>{heading}</h1>{body}"
    return read_page(html.encode(), url=URL)


@pytest.mark.parametrize("policy", ["v1.2", "v1.3"])
@pytest.mark.parametrize(
    "node",
    [
        JUG,
        {**JUG, "@type": "ProductGroup"},
        {**JUG, "@type": ["Product", "Thing"]},
        {"@type": "Product", "name": "Jug"},
        {"@type": "Product", "name": "Jug", "aggregateRating": {"ratingValue": 5}},
        {"@type": "ProductGroup", "name": "Jug", "hasVariant": [{"@type": "Product", "offers": OFFER}]},
        {**JUG, "name": "A jug of another name"},
        {**JUG, "offers": RANGE},
    ],
)
def test_a_page_with_one_priced_thing_is_its_product_page(node: dict[str, Any], policy: str) -> None:
    """A name with an offer is enough, and so is the page's name; no number, no maker, no buy control."""
    verdict = judge(page_of(node), policy)
    assert verdict.is_pdp, verdict.reasons
    assert verdict.signals.has_product_schema


@pytest.mark.parametrize(
    "node",
    [
        {"@type": "Product", "name": "A jug of another name"},
        {"@type": "Product", "offers": OFFER},
        {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": JUG}]},
        {"@type": "WebPage", "isRelatedTo": JUG},
        {"@type": "WebPage", "mentions": JUG},
        {"@type": "Review", "itemReviewed": JUG},
        {"@type": "ProductCollection", "name": "Jug", "offers": OFFER},
        {"@type": "Organization", "name": "Jug"},
    ],
)
def test_what_is_listed_or_related_is_not_the_pages_own(node: dict[str, Any]) -> None:
    """Nor what is neither named nor offered."""
    assert page_of(node).product_node is None


@pytest.mark.parametrize("kind", ["Article", "NewsArticle", "BlogPosting"])
@pytest.mark.parametrize("pick", [{**JUG}, {**JUG, "sku": "J-1"}, {**JUG, "brand": "Kiln"}])
def test_an_editorial_pick_is_not_the_pages_own(pick: dict[str, Any], kind: str) -> None:
    """Unless the article is named after it, which only v1.3 holds against the page."""
    article = {"@type": kind, "headline": "Ten of them"}
    assert page_of(article, pick, heading="Ten of them").product_node is None
    named = page_of(article, pick, heading="Jug")
    assert named.product_node is not None
    assert (judge(named, "v1.2").is_pdp, judge(named, "v1.3").reasons) == (True, ("declared_article",))


def test_of_several_the_one_that_bears_the_pages_name_counts() -> None:
    """The others are what else there is."""
    others = [{**JUG, "name": f"Jug {number}", "sku": str(number)} for number in range(3)]
    node = page_of(*others, {"@type": "Product", "name": "Jug"}).product_node
    assert node is not None
    assert node.value["name"] == "Jug"
    assert page_of(*others).product_node is None


@pytest.mark.parametrize("more", [{}, {"description": "All of them."}])
def test_a_whole_list_is_no_product(more: dict[str, Any]) -> None:
    """A range of offers on a page whose prices are all those of its tiles; with a number it is one thing."""
    listed = {**JUG, "name": "Jugs", "offers": RANGE, **more}
    assert page_of(listed, heading="Jugs", body=f"<ul>{TILES}</ul>").product_node is None
    assert page_of(listed, heading="Jugs", body=f"{SEEN}<ul>{TILES}</ul>").product_node is not None
    numbered = {**listed, "sku": "J-1"}
    assert page_of(numbered, heading="Jugs", body=f"<ul>{TILES}</ul>").product_node is not None


@pytest.mark.parametrize(
    ("item", "is_own"),
    [
        ('<b itemprop="name">A jug</b><i itemprop="offers" itemscope><u itemprop="price">48</u></i>', True),
        ('<b itemprop="name">Jug</b>', True),
        ('<b itemprop="name">Another</b>', False),
        ('<i itemprop="offers" itemscope><u itemprop="price">48</u></i>', False),
    ],
)
def test_microdata_means_the_same(item: str, *, is_own: bool) -> None:
    """In v1.3, which reads it."""
    body = f'<div itemscope itemtype="https://schema.org/Product">{item}</div>{SEEN}'
    judged = page_of(body=body)
    assert (judged.product_item is not None) is is_own
    assert judge(judged, "v1.3").is_pdp is is_own
    assert not judge(judged, "v1.2").is_pdp


@pytest.mark.parametrize(
    ("head", "reasons"),
    [
        (script({"@type": "NewsArticle"}), [("declared_article", BOTH)]),
        (script({"@type": ["WebPage", "CollectionPage"]}), [("declared_collection", BOTH)]),
        (script({"@type": "RealEstateListing"}), [("declared_property", BOTH)]),
        (script({"@type": "WebPage", "mainEntity": {"@type": "Recipe"}}), [("declared_article", BOTH)]),
        (script({"@type": "ItemList"}), [("declared_collection", EITHER)]),
        ('<meta property="og:type" content="Article">', [("declared_article", EITHER)]),
        ('<meta property="og:type" content="product.group">', [("declared_collection", EITHER)]),
        ("<title>Flat with two bedrooms for rent | Homes</title>", [("declared_property", CONTROL)]),
        ("<title>Casa en venta en Sevilla</title>", [("declared_property", CONTROL)]),
        ("<title>Garden chairs for sale | Home &amp; House</title>", []),
        (script({"@type": "ItemList", "itemListElement": [{"@type": "SiteNavigationElement"}]}), []),
        (script({"@type": "WebPage", "isPartOf": {"@type": "Blog"}}), []),
        (script({"@type": "Product"}), []),
        ('<meta property="og:type" content="product">', []),
        ('<meta property="og:title" content="article">', []),
    ],
)
def test_what_is_declared(head: str, reasons: list[tuple[str, str]]) -> None:
    """At the top of the data or in the head; a list and Open Graph are believed less."""
    assert [(found.reason, found.yields_to) for found in declarations(page(head=head))] == reasons


@pytest.mark.parametrize(
    ("title", "control", "reasons"),
    [
        ("Jug", "", ()),
        ("Jug house for sale", "", ("declared_property",)),
        ("Jug house for sale", "<button>Add to cart</button>", ()),
    ],
)
def test_a_home_in_words_has_no_cart(title: str, control: str, reasons: tuple[str, ...]) -> None:
    """What a page calls a home for sale is none where it is put into a cart."""
    listed = {"@type": "Product", "name": title, "offers": OFFER}
    body = f'<h1>{title}</h1><img src="/j.jpg"><p class="price">€48.00</p>{control}'
    assert judge(page(body, head=f"<title>{title}</title>{script(listed)}"), "v1.3").reasons == reasons


def test_a_menu_is_no_collection_and_variants_are_offers() -> None:
    """A product group whose variants are priced, on a page with the site's menu as a list."""
    menu = {"@type": "ItemList", "itemListElement": [{"@type": "SiteNavigationElement", "name": "Jugs"}]}
    lists = {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "name": "Cup"}]}
    variants = [{"@type": "Product", "name": "Jug", "sku": f"J{size}", "offers": OFFER} for size in (1, 2)]
    group = {"@type": "ProductGroup", "name": "Jug", "productGroupID": "J", "hasVariant": variants}
    for listed in (menu, lists):
        judged = page_of(group, heading="Jug", body=f"{SEEN}{script(listed)}")
        assert judge(judged, "v1.3").reasons == ()
