"""Values of one source, made comparable."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.pdp.account import Rating, availability_name, gtin_of, rating_of


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("https://schema.org/InStock", "InStock"),
        ("http://schema.org/OutOfStock/", "OutOfStock"),
        ("in stock", "InStock"),
        ("oos", "OutOfStock"),
        ("Pre-Order", "PreOrder"),
        ("sold_out", "SoldOut"),
        ("perhaps", ""),
        ("", ""),
    ],
)
def test_availabilities_have_one_name(said: str, name: str) -> None:
    """That of schema.org, whatever a theme writes."""
    assert availability_name(said) == name


@pytest.mark.parametrize(
    ("said", "gtin"),
    [
        ("4006381333931", "4006381333931"),
        ("4006381-333931", "4006381333931"),
        ("gtin:73513537", "73513537"),
        ("036000291452", "036000291452"),
        ("4006381333932", ""),
        ("0000000000000", ""),
        ("12345", ""),
        ("\u0664\u0660\u0660\u0666\u0663\u0668\u0661\u0663\u0663\u0663\u0669\u0663\u0661", ""),
        ("", ""),
    ],
)
def test_a_gtin_has_a_sound_check_digit(said: str, gtin: str) -> None:
    """Of 8, 12, 13 or 14 plain digits."""
    assert gtin_of(said) == gtin


@pytest.mark.parametrize(
    ("value", "best", "count", "rating"),
    [
        ("4.6", "5", "38 reviews", Rating(Decimal("4.6"), Decimal(5), 38)),
        ("4,6", "", "", Rating(Decimal("4.6"), None, None)),
        ("101", "", "3", None),
        ("good", "5", "3", None),
        ("", "", "", None),
    ],
)
def test_a_rating_is_a_number_that_can_be_one(
    value: str, best: str, count: str, rating: Rating | None
) -> None:
    """What else is said of it may be missing."""
    assert rating_of(value, best, count) == rating
