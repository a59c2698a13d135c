"""Where an element stands on its page."""

from __future__ import annotations

import pytest

from tests.unit.pdp.pages import page

TILE = '<li class="tile"><img src="/{0}.png"><b class="price">€{0}.00</b><i id="i{0}">x</i></li>'
TILES = "".join(TILE.format(number) for number in range(1, 5))


@pytest.mark.parametrize(
    ("html", "is_aside"),
    [
        ("<main><i>x</i></main>", False),
        ("<header><i>x</i></header>", True),
        ("<footer><p><i>x</i></p></footer>", True),
        ('<div class="related-products"><i>x</i></div>', True),
        ('<div id="youMayAlsoLike"><i>x</i></div>', True),
        ('<div class="mini-cart"><i>x</i></div>', True),
        ('<div class="relative"><i>x</i></div>', False),
        ('<div id="ctl00_BuyProductDialog1_panel"><i>x</i></div>', False),
        ('<div class="cookieDialog"><i>x</i></div>', True),
        ('<div class="related"><h1>Jug</h1><i>x</i></div>', False),
    ],
)
def test_what_is_about_other_things(html: str, *, is_aside: bool) -> None:
    """By the tags and names around it; the part that holds the title never is."""
    read = page(html if "<h1>" in html else f"<h1>Jug</h1>{html}")
    node = read.tree.css_first("i")
    assert node is not None
    assert read.surroundings.is_aside(node) is is_aside


@pytest.mark.parametrize(
    ("html", "is_tile"),
    [
        (f"<h1>Jugs</h1><ul>{TILES}</ul>", True),
        (f"<h1>Jugs</h1><ul>{TILE.format(1)}{TILE.format(2)}</ul>", False),
        (f"<h1>Jugs</h1><ul>{TILES.replace('<img', '<hr')}</ul>", False),
        (f"<ul>{TILES.replace('<i', '<h1>Jug</h1><i', 1)}</ul>", False),
    ],
)
def test_what_stands_in_one_of_several_tiles(html: str, *, is_tile: bool) -> None:
    """Three or more neighbours alike with a picture and a price, of which none holds the title."""
    read = page(html)
    node = read.tree.css_first("#i1")
    assert node is not None
    assert read.surroundings.is_in_tile(node) is is_tile


def test_a_page_lists_prices_where_all_stand_in_tiles() -> None:
    """One that stands alone is its own."""
    assert page(f"<h1>Jugs</h1><ul>{TILES}</ul>").lists_prices
    assert not page(f"<h1>Jugs</h1><b class='price'>€5</b><ul>{TILES}</ul>").lists_prices
    assert not page("<h1>Jugs</h1>").lists_prices
