"""What the names in classes and ids speak of."""

from __future__ import annotations

import re

import pytest

from crawler.pdp.hints import Haystack, hinted


@pytest.mark.parametrize(
    ("name", "hints"),
    [
        ("product-price", {"price"}),
        ("Preis", {"price"}),
        ("btn add-to-cart", {"buy"}),
        ("minicart", set()),
        ("product_title", {"title", "heading"}),
        ("page-header", {"heading"}),
        ("username", set()),
        ("container", set()),
    ],
)
def test_a_name_speaks_of_something_or_not(name: str, hints: set[str]) -> None:
    """Whatever its case, and whatever stands around the word."""
    assert {hint for hint, _ in hinted([name])} == hints


def test_the_number_of_the_name_is_given() -> None:
    """Of each that speaks."""
    assert sorted(number for hint, number in hinted(["x", "price", "y", "old-price"]) if hint == "price") == [
        1, 3,
    ]  # fmt: skip


def test_many_texts_are_searched_as_one() -> None:
    """And no match goes over the border of two."""
    stack = Haystack.of(["Add", "to cart", "", "cart"])
    assert stack.places(["cart", "nothing"]) == [1, 3]
    assert stack.places(["add to"]) == []
    assert list(stack.matches(re.compile(r"cart"))) == [("cart", 1), ("cart", 3)]
