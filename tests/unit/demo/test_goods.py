"""Prices are written as each country writes them."""

from __future__ import annotations

import itertools

import pytest

from crawler.demo.goods import ASSORTMENTS, NOTATIONS, moved, price_text, price_value
from crawler.demo.shops import SHOPS


@pytest.mark.parametrize(
    ("amount", "language", "currency", "text"),
    [
        (1800, "en", "USD", "$18.00"),
        (123456, "en", "GBP", "£1,234.56"),
        (123456, "de", "EUR", "1.234,56\xa0€"),
        (123456, "de", "CHF", "CHF\xa01'234.56"),
        (123456, "fr", "EUR", "1\u202f234,56\xa0€"),
        (5, "es", "EUR", "0,05\xa0€"),
        (219000, "pl", "PLN", "2\xa0190,00\xa0zł"),
        (148000, "ja", "JPY", "148,000円"),
    ],
)
def test_notation(amount: int, language: str, currency: str, text: str) -> None:
    """Symbol, its place, separators and digits are right."""
    assert price_text(amount, language, currency) == text


def test_every_shop_can_write_its_prices() -> None:
    """Each pair of language and currency has a notation, and each notation a shop."""
    assert {(shop.language, shop.currency) for shop in SHOPS.values()} == set(NOTATIONS)


@pytest.mark.parametrize(("amount", "currency", "value"), [(5, "EUR", "0.05"), (148000, "JPY", "148000")])
def test_value(amount: int, currency: str, value: str) -> None:
    """Structured data has plain decimals, and yen have none."""
    assert price_value(amount, currency) == value


def test_a_price_moves_at_every_step_and_comes_back() -> None:
    """No two visits in a row see one price, and seven later it is the first again."""
    for product in ASSORTMENTS["en"].products:
        prices = [moved(product.price, product.slug, step) for step in range(8)]
        assert all(one != next_one for one, next_one in itertools.pairwise(prices))
        assert prices[7] == prices[0]
