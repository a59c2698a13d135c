"""Start pages, hubs, stories, decoys, and the front page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from crawler.demo import SHOPS
from tests.unit.demo.asking import ask, read

if TYPE_CHECKING:
    from crawler.demo import DemoServer


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


def test_the_front_page_lists_every_shop(demo: DemoServer) -> None:
    """With links that lead there."""
    front = read(demo.front)
    assert all(f'href="{demo.url(name)}"' in front for name in SHOPS)


# ── padded pages are as large as asked, plausible, and still the same page ──
