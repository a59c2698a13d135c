"""Each shop shows what it is there to show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.demo import serve
from crawler.demo.goods import ASSORTMENTS, WORDS
from crawler.demo.photos import MOTIFS
from crawler.demo.storefront import padded
from tests.unit.demo.asking import ask, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.demo import DemoServer


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
