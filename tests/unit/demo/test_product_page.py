"""A product page: what it shows, and the same in structured data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.demo import SHOPS
from crawler.demo.shops import Layout, Markup
from tests.unit.demo.asking import read

if TYPE_CHECKING:
    from crawler.demo import DemoServer


SELLING = [
    shop.name
    for shop in SHOPS.values()
    if not shop.scenario and shop.layout not in {Layout.HUB, Layout.STORY, Layout.DECOYS, Layout.GUARDED}
]


LANGUAGES = ("plain", "german", "french", "spanish", "polish", "japanese")


def first_product(demo: DemoServer, shop: str) -> str:
    """The page behind the first tile of a shop's start page."""
    tile = LexborHTMLParser(read(demo.url(shop))).css_first(".product-grid a, .related-products a")
    assert tile is not None
    return read(demo.url(shop, tile.attributes["href"] or ""))


@pytest.mark.parametrize("shop", SELLING)
def test_a_product_page_has_name_photo_price_and_button(demo: DemoServer, shop: str) -> None:
    """One heading, a gallery, neighbours, and enough to read."""
    page = LexborHTMLParser(first_product(demo, shop))
    assert len(page.css("h1")) == 1
    assert page.css_first(".gallery img") is not None
    assert page.css_first(".counter .price") is not None
    assert page.css_first(".counter .buy-button") is not None
    assert len(page.css(".related-products .tile")) == 4
    assert len(page.text()) > 1000 or SHOPS[shop].language == "ja"


@pytest.mark.parametrize("shop", LANGUAGES)
def test_structured_data_is_what_the_table_says(demo: DemoServer, shop: str) -> None:
    """And no other kind beside it."""
    html = first_product(demo, shop)
    markup = SHOPS[shop].markup
    assert ("application/ld+json" in html) == (markup in {Markup.JSON_LD, Markup.GRAPH})
    assert ('itemtype="https://schema.org/Product"' in html) == (markup is Markup.MICRODATA)
    assert ('"@graph"' in html) == (markup is Markup.GRAPH)


def test_json_ld_says_the_price_that_is_shown(demo: DemoServer) -> None:
    """Machines and people read the same."""
    page = LexborHTMLParser(first_product(demo, "plain"))
    node = page.css_first('script[type="application/ld+json"]')
    assert node is not None
    offer = json.loads(node.text())["offers"]
    assert (offer["price"], offer["priceCurrency"]) == ("18.00", "USD")
    shown = page.css_first(".counter .price")
    assert shown is not None
    assert shown.text().startswith("$18.00")


def test_sold_out_shows_and_says_so(demo: DemoServer) -> None:
    """In structured data and on a button that cannot be pressed."""
    html = first_product(demo, "sold-out")
    assert "https://schema.org/OutOfStock" in html
    assert "disabled>Sold out<" in html
    assert "Add to cart" not in html
