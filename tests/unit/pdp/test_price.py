"""Which price a page shows (SPEC C61, C68)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.pdp import read_page
from crawler.pdp.price import price_in_sight, shown_price

URL = "https://shop.example/p/jug"


@pytest.mark.parametrize(
    ("html", "amount", "currency", "source"),
    [
        ('<b itemprop="price" content="48.00">48,-</b>', "48.00", "", "microdata"),
        ('<meta property="product:price:amount" content="48.00">', "48.00", "", "meta"),
        ('<b class="price">€48.00</b>', "48.00", "EUR", "dom"),
        ('<b class="price">48.00 eur</b>', "48.00", "EUR", "dom"),
        ('<b data-price="48.00"></b>', "48.00", "", "dom"),
        ('<b data-price="4800">€48.00</b>', "48.00", "EUR", "dom"),
        ('<b class="price" data-price="1">€48.00</b>', "48.00", "EUR", "dom"),
        ('<p><b class="price">480</b> تومان</p>', "4800", "IRR", "dom"),
        ("<p>Yours for Usd 48.00</p>", "48.00", "USD", "dom"),
    ],
)
def test_what_is_a_price(html: str, amount: str, currency: str, source: str) -> None:
    """A declared one, a price element or money in the text; what is seen counts before what programs read."""
    price = shown_price(read_page(f"<!doctype html><h1>Jug</h1>{html}".encode(), url=URL))
    assert price is not None
    assert (price.amount, price.currency, price.source) == (Decimal(amount), currency, source)


@pytest.mark.parametrize(
    "html",
    [
        '<b data-price="on request"></b>',
        '<input class="filter-range" data-price="48.00">',
        f'<div data-price="48.00">{"a whole card of a product " * 20}</div>',
        '<div class="related"><b data-price="48.00"></b></div>',
        "<p>Give it 2 try, or hold it under the tap for 10 Sek</p>",
        "<p>Call us: 48 00 12</p>",
    ],
)
def test_what_is_no_price(html: str) -> None:
    """Nothing, a filter, a whole card, other products, and words that are codes in capitals."""
    assert shown_price(read_page(f"<!doctype html><h1>Jug</h1>{html}".encode(), url=URL)) is None


def test_the_price_of_now_is_seen_first() -> None:
    """Not the one that is crossed out."""
    html = '<h1>Jug</h1><del class="price">€60.00</del><b class="price">€48.00</b>'
    price = price_in_sight(read_page(html.encode(), url=URL))
    assert price is not None
    assert price.amount == 48
