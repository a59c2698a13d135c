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


@pytest.mark.parametrize("shop", [shop.name for shop in SHOPS.values() if not shop.scenario])
def test_every_link_of_a_start_page_leads_somewhere(demo: DemoServer, shop: str) -> None:
    """Pictures too: a visitor never meets a 404 that is not meant."""
    page = LexborHTMLParser(read(demo.url(shop)))
    links = {node.attributes["href"] or "" for node in page.css("a[href]")}
    sources = {node.attributes["src"] or "" for node in page.css("img[src]")}
    for path in links | sources:
        assert ask(demo.url(shop, path)).status == 200, path
