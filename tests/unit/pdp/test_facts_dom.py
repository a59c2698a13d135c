"""A product's account in what the page shows."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.pdp import read_page
from crawler.pdp.facts_dom import account_in_dom, country_of
from tests.unit.pdp.pages import page


def test_title_and_prices_are_read() -> None:
    """The one of now and the one before."""
    found = account_in_dom(page('<h1>Jug</h1><p class="old-price">€60.00</p><p class="price">€48.00</p>'))
    assert (found.name, found.price, found.currency, found.list_price) == (
        "Jug", Decimal("48.00"), "EUR", Decimal("60.00"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("url", "language", "country"),
    [
        ("https://shop.example.ca/p", "", "ca"),
        ("https://shop.example/p", "en-AU", "au"),
        ("https://shop.example/p", "en_NZ", "nz"),
        ("https://shop.example/p", "en", ""),
        ("no address", "sv-SE", "se"),
    ],
)
def test_the_country_is_that_of_the_host_or_the_language(url: str, language: str, country: str) -> None:
    """Whose money a shared sign means."""
    html = f'<html lang="{language}"><p class="price">$5</p>'
    assert country_of(read_page(html.encode(), url=url)) == country
