"""Each shop shows what it is there to show."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.demo import DEMO_SIX, SHOPS, serve
from crawler.demo.goods import ASSORTMENTS, WORDS
from crawler.demo.photos import MOTIFS
from crawler.demo.shops import Layout, Markup
from crawler.demo.storefront import padded
from tests.unit.demo.asking import ask, read

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def test_there_is_enough_to_sell() -> None:
    """Sixty products in six departments, six languages."""
    assert len(ASSORTMENTS["en"].categories) == 6
    assert len(ASSORTMENTS["en"].products) >= 60
    assert set(ASSORTMENTS) == {"en", "de", "fr", "es", "pl", "ja"}


@pytest.mark.parametrize("language", ASSORTMENTS)
def test_every_product_has_an_address_of_its_own(language: str) -> None:
    """No two share a slug, and each can be drawn."""
    goods = ASSORTMENTS[language]
    assert len(goods.by_slug) == len(goods.products)
    assert all(re.fullmatch(r"[a-z0-9-]+", slug) for slug in goods.by_slug)
    assert {category.motif for category in goods.categories} <= MOTIFS


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


def test_the_hub_sells_nowhere(demo: DemoServer) -> None:
    """Prices and buttons on every tile, and every page of it is a list."""
    start = LexborHTMLParser(read(demo.url("hub")))
    aisles = {node.attributes["href"] or "" for node in start.css(".tile a[href^='/shop/']")}
    assert len(aisles) == 6
    for path in ("/", *sorted(aisles)):
        page = LexborHTMLParser(read(demo.url("hub", path)))
        assert len(page.css(".tile .price")) == len(page.css(".tile .buy-button")) >= 10
        assert page.css_first(".counter") is None
    assert ask(demo.url("hub", "/products/fogbound-tumbler")).status == 404


def test_the_story_links_to_no_product(demo: DemoServer) -> None:
    """Only to pages of text and the basket."""
    page = LexborHTMLParser(read(demo.url("no-links")))
    links = {node.attributes["href"] for node in page.css("a[href]")}
    assert links == {"/", "/about", "/delivery", "/members/", "/account", "/cart"}


def test_the_fourth_candidate_is_the_first_product(demo: DemoServer) -> None:
    """Three tiles lead to pages that sell nothing."""
    page = LexborHTMLParser(read(demo.url("fourth-candidate")))
    tiles = [node.attributes["href"] or "" for node in page.css(".product-grid .tile > a:first-child")]
    sells = [">Add to cart<" in read(demo.url("fourth-candidate", path)) for path in tiles[:4]]
    assert sells == [False, False, False, True]


def test_the_first_tile_of_the_guarded_shop_is_forbidden(demo: DemoServer) -> None:
    """The page is there for whoever asks, so that only robots.txt keeps a visitor away."""
    page = LexborHTMLParser(read(demo.url("guarded")))
    tiles = [node.attributes["href"] or "" for node in page.css(".product-grid .tile > a:first-child")]
    assert tiles[0].startswith("/members/")
    assert not tiles[1].startswith("/members/")
    assert "Add to cart" in read(demo.url("guarded", tiles[0]))


def test_the_start_page_can_be_the_product(demo: DemoServer) -> None:
    """With its button."""
    assert LexborHTMLParser(read(demo.url("start-is-product"))).css_first(".counter .buy-button") is not None


def test_sold_out_shows_and_says_so(demo: DemoServer) -> None:
    """In structured data and on a button that cannot be pressed."""
    html = first_product(demo, "sold-out")
    assert "https://schema.org/OutOfStock" in html
    assert "disabled>Sold out<" in html
    assert "Add to cart" not in html


def test_each_fetch_moves_the_price(demo: DemoServer) -> None:
    """In the same order each time."""
    url = demo.url("price-changes", "/products/fogbound-tumbler")
    prices = [re.findall(r"£[\d.]+", read(url))[0] for _ in range(3)]
    assert prices[0] != prices[1] != prices[2]
    demo.forget()
    assert re.findall(r"£[\d.]+", read(url))[0] == prices[0]


def test_the_start_page_tells_the_price_that_the_next_fetch_shows(demo: DemoServer) -> None:
    """So that one visit sees one price."""
    url = demo.url("price-changes", "/products/fogbound-tumbler")
    read(url)
    promised = re.findall(r"£[\d.]+", read(demo.url("price-changes")))[0]
    assert re.findall(r"£[\d.]+", read(url))[0] == promised


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


def test_looking_at_the_headers_moves_no_price(demo: DemoServer) -> None:
    """HEAD is no visit."""
    url = demo.url("price-changes", "/products/fogbound-tumbler")
    ask(url, "HEAD")
    first = read(url)
    demo.forget()
    assert read(url) == first


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


def test_photos_are_pictures(demo: DemoServer) -> None:
    """SVG from three sides, and PNG."""
    svg = ask(demo.url("german", "/photo/morgenkanne-2.svg"))
    png = ask(demo.url("german", "/photo/morgenkanne.png"))
    assert (svg.headers["Content-Type"], svg.body[:4]) == ("image/svg+xml", b"<svg")
    assert (png.headers["Content-Type"], png.body[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
    assert ask(demo.url("german", "/photo/morgenkanne-9.svg")).status == 404


def test_bulk_shops_are_alike_but_not_the_same(demo: DemoServer) -> None:
    """They differ in their sign and their colours."""
    one, two = (read(demo.url(f"shop-000{number}")) for number in (1, 2))
    assert one != two
    assert one.replace("No. 1", "No. 2").splitlines()[20:] == two.splitlines()[20:]


def test_the_six_tell_the_story() -> None:
    """All three ways in which a visit can end are among them."""
    assert [shop.name for shop in DEMO_SIX] == [
        "plain",
        "german",
        "japanese",
        "hub",
        "bot-block",
        "price-changes",
    ]
    assert {shop.status for shop in DEMO_SIX} == {"completed", "partial", "failed"}


def test_the_front_page_lists_every_shop(demo: DemoServer) -> None:
    """With links that lead there."""
    front = read(demo.front)
    assert all(f'href="{demo.url(name)}"' in front for name in SHOPS)


# ── padded pages are as large as asked, plausible, and still the same page ──


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


def test_padding_is_the_same_for_a_key_and_differs_between_keys() -> None:
    """Pages are reproducible, and yet no two are padded alike."""
    html = "<main>\n</main>"
    one, again, other = (padded(html, 9000, WORDS["en"], key) for key in ("a", "a", "b"))
    assert one == again != other


def test_a_page_that_is_large_enough_stays_as_it_is() -> None:
    """Padding never cuts."""
    html = "<main>\n</main>"
    assert padded(html, 5, WORDS["en"], "a") == html
