"""The frame of every page: links that lead somewhere, prices and buttons as a country writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.demo import SHOPS
from tests.unit.demo.asking import ask, read

if TYPE_CHECKING:
    from crawler.demo import DemoServer


def first_product(demo: DemoServer, shop: str) -> str:
    """The page behind the first tile of a shop's start page."""
    tile = LexborHTMLParser(read(demo.url(shop))).css_first(".product-grid a, .related-products a")
    assert tile is not None
    return read(demo.url(shop, tile.attributes["href"] or ""))


@pytest.mark.parametrize("shop", [shop.name for shop in SHOPS.values() if not shop.scenario])
def test_every_link_of_a_start_page_leads_somewhere(demo: DemoServer, shop: str) -> None:
    """Pictures too: a visitor never meets a 404 that is not meant."""
    page = LexborHTMLParser(read(demo.url(shop)))
    links = {node.attributes["href"] or "" for node in page.css("a[href]")}
    sources = {node.attributes["src"] or "" for node in page.css("img[src]")}
    for path in links | sources:
        assert ask(demo.url(shop, path)).status == 200, path


@pytest.mark.parametrize(
    ("shop", "price", "button"),
    [
        ("plain", "$18.00", "Add to cart"),
        ("german", "16,90\xa0€", "In den Warenkorb"),
        ("swiss", "CHF\xa016.90", "In den Warenkorb"),
        ("french", "8,90\xa0€", "Ajouter au panier"),
        ("spanish", "39,00\xa0€", "Añadir al carrito"),
        ("polish", "429,00\xa0zł", "Dodaj do koszyka"),
        ("japanese", "3,800円", "カートに入れる"),
    ],
)
def test_price_and_button_are_written_as_the_country_does(
    demo: DemoServer, shop: str, price: str, button: str
) -> None:
    """As a shopper there would find them."""
    html = first_product(demo, shop)
    assert price in html
    assert button in html
