"""Each shop shows what it is there to show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.demo import SHOPS, serve
from tests.unit.demo.asking import ask, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.demo import DemoServer


def test_each_fetch_moves_the_price(demo: DemoServer) -> None:
    """In the same order each time."""
    url = demo.url("price-changes", "/products/fogbound-tumbler")
    prices = [re.findall(r"£[\d.]+", read(url))[0] for _ in range(3)]
    assert prices[0] != prices[1] != prices[2]
    demo.forget()
    assert re.findall(r"£[\d.]+", read(url))[0] == prices[0]


def test_a_set_day_decides_the_price(demo: DemoServer) -> None:
    """However often the page is fetched that day."""
    url = demo.url("price-changes", "/products/fogbound-tumbler")
    demo.set_day(1)
    monday = [read(url), read(url)]
    demo.set_day(2)
    tuesday = read(url)
    assert monday[0] == monday[1] != tuesday
    demo.set_day(1)
    assert read(url) == monday[0]


@pytest.mark.parametrize(
    ("shop", "status", "lines"),
    [
        ("plain", 200, {"User-agent: *", "Disallow: /members/"}),
        ("robots-forbids", 200, {"User-agent: *", "Disallow: /"}),
        ("robots-500", 500, set()),
        ("crawl-delay", 200, {"Crawl-delay: 2", "Disallow: /members/"}),
    ],
)
def test_robots_txt(demo: DemoServer, shop: str, status: int, lines: set[str]) -> None:
    """Each shop has its own, and the usual one keeps visitors off the members' shelf."""
    answer = ask(demo.url(shop, "/robots.txt"))
    assert answer.status == status
    assert lines <= set(answer.text.splitlines())


def test_the_sitemap_names_every_product_under_the_host_that_was_asked(demo: DemoServer) -> None:
    """Start page, categories and products."""
    found = re.findall(r"<loc>(.*?)</loc>", read(demo.url("plain", "/sitemap.xml")))
    assert demo.url("plain", "/products/fogbound-tumbler") in found
    assert len(found) == 1 + 6 + 60


SIZE = 100_000


@pytest.fixture(scope="module")
def padded_demo() -> Iterator[DemoServer]:
    """A demo whose pages are all padded."""
    with serve(page_bytes=SIZE) as server:
        yield server


@pytest.mark.parametrize(
    ("shop", "path"),
    [
        ("plain", "/"),
        ("plain", "/products/fogbound-tumbler"),
        ("german", "/p/morgenkanne"),
        ("japanese", "/items/asagiri-gurasu"),
        ("hub", "/"),
    ],
)
def test_a_page_is_as_large_as_asked(padded_demo: DemoServer, shop: str, path: str) -> None:
    """Within two percent, in every language, and not as one long line."""
    html = read(padded_demo.url(shop, path))
    assert abs(len(html.encode()) - SIZE) < 0.02 * SIZE
    assert max(map(len, html.splitlines())) < 2500


def test_padding_adds_neither_price_nor_button(padded_demo: DemoServer, demo: DemoServer) -> None:
    """What decides about a product page is the same with and without padding."""
    path = "/products/fogbound-tumbler"
    slim, wide = (LexborHTMLParser(read(each.url("plain", path))) for each in (demo, padded_demo))
    for selector in (".price", ".buy-button", "h1", "img", "a"):
        assert len(slim.css(selector)) == len(wide.css(selector))


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
