"""Amounts of money in the notations of many countries."""

# ruff: file-ignore[ambiguous-unicode-character-string] - written in the letters of many languages

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.pdp.money import amounts_in, find_in_prose, find_money, read_amount, read_plain


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("21 777 Kč", "21777", "CZK"),
        ("CHF 7.95", "7.95", "CHF"),
        ("1.234,56 €", "1234.56", "EUR"),
        ("€ 12,-", "12", "EUR"),
        ("$1,299.00", "1299.00", "USD"),
        ("US $12.50", "12.50", "USD"),
        ("R$ 4.199,90", "4199.90", "BRL"),
        ("kr 1 299,00", "1299.00", "SEK"),
        ("1299 руб.", "1299", "RUB"),
        ("₹1,29,999.00", "129999.00", "INR"),
        ("1'299.00 CHF", "1299.00", "CHF"),
        ("1.299.000 ₫", "1299000", "VND"),
        ("S/. 129.90", "129.90", "PEN"),
    ],
)
def test_notations(text: str, amount: str, currency: str) -> None:
    """An amount is read with its currency, whichever stands first and whatever parts its digits."""
    money = find_money(text)
    assert money is not None
    assert (money.amount, money.currency) == (Decimal(amount), currency)


@pytest.mark.parametrize(("country", "currency"), [("", "USD"), ("ca", "CAD"), ("au", "AUD"), ("de", "USD")])
def test_shared_sign_follows_the_country(country: str, currency: str) -> None:
    """A dollar is that of the country, where the country has one."""
    money = find_money("$5", country=country)
    assert money is not None
    assert money.currency == currency


def test_what_is_counted_in_tens_of_a_currency() -> None:
    """A toman is ten rials, which is the unit that has a code; what is stated may be either."""
    money = find_money("2,450,000 تومان")
    assert money is not None
    assert money.number == 2450000
    assert money.amount == 24500000
    assert money.currency == "IRR"
    assert amounts_in("2,450,000 تومان") == [2450000, 24500000]
    assert find_money("999,999,999,999 تومان") is None


@pytest.mark.parametrize(
    "text",
    ["Top 20 of 2024", "iPhone 12 Pro", "4.5 out of 5 stars", "10 km away", "£0.00", "S/4 HANA", "all 5"],
)
def test_prose_without_a_price(text: str) -> None:
    """Numbers beside words that happen to be currency codes, and nothing for nothing, are no price."""
    assert find_in_prose(text) is None


def test_price_deep_in_prose() -> None:
    """A price is found behind signs that belong to no number."""
    money = find_in_prose("We take € and £. " * 20 + "This one is yours for EUR 15.50 today.")
    assert money is not None
    assert (money.amount, money.currency) == (Decimal("15.50"), "EUR")


def test_thousands_or_decimals() -> None:
    """Three digits behind the only mark are thousands for people and decimals in a machine's field."""
    assert read_amount("1.250") == Decimal(1250)
    assert read_amount("0,125") == Decimal("0.125")
    assert read_plain("1.250") == Decimal("1.250")


@pytest.mark.parametrize(
    ("text", "amount"), [("1–9 $4.20", "4.20"), ("2 for €3", "3"), ("99 $", "99"), ("5 € 20", "5")]
)
def test_a_sign_right_before_a_number_is_that_numbers(text: str, amount: str) -> None:
    """And not that of the number before it, from which a space parts it."""
    found = find_money(text)
    assert found is not None
    assert str(found.amount) == amount
