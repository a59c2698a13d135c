"""A page is read on demand, and what cannot be read has a problem."""

from __future__ import annotations

from crawler.pdp import read_page
from tests.unit.pdp.pages import OFFER, URL, page, script

TILE = '<li class="t"><img src="/{0}.png"><b class="price">€{0}</b></li>'


def test_a_page_with_a_problem_is_empty() -> None:
    """Every reader finds nothing, and none fails."""
    read = read_page(b"%PDF", url=URL)
    assert (read.problem, read.charset, read.title, read.controls) == ("not_html", "", None, ())
    assert (read.linked_data, read.items, read.product_node, read.product_item) == ((), (), None, None)


def test_what_several_readers_need_is_read_once() -> None:
    """By the first that asks."""
    read = page(head=script({"@type": "Product", "name": "Jug", "offers": OFFER}))
    assert read.outline is read.outline
    assert read.linked_data is read.linked_data
    assert read.product_node is read.product_node


def test_a_page_sells_what_can_be_bought_or_is_called_a_product() -> None:
    """By a control, or by its head."""
    assert not page("<h1>Jug</h1>").sells
    assert page("<h1>Jug</h1><p class='price'>€5</p><button>Add to cart</button>").sells
    assert page("<h1>Jug</h1>", head='<meta property="og:type" content="product">').sells


def test_a_page_lists_prices_where_all_stand_in_tiles() -> None:
    """One that stands alone is its own."""
    tiles = "".join(TILE.format(number) for number in range(1, 5))
    assert page(f"<h1>Jugs</h1><ul>{tiles}</ul>").lists_prices
    assert not page(f"<h1>Jugs</h1><b class='price'>€5</b><ul>{tiles}</ul>").lists_prices
    assert not page("<h1>Jugs</h1>").lists_prices
