"""The elements that readers ask for, in the order of the document."""

from __future__ import annotations

import re

import pytest

from crawler.pdp.outline import Haystack, hinted
from tests.unit.pdp.pages import page

BODY = """
<h1 id="one">Jug</h1><p class="price">€48</p><p data-testid="product-price">€48</p>
<div itemscope><b itemprop="name">Jug</b></div><div typeof="Product"></div>
<div role="button">Buy</div><button role="button">Buy</button><i data-price="48"></i>
<button class="add-to-cart">Buy</button><h2 class="product-title">Jug</h2>
"""


@pytest.mark.parametrize(
    ("kept", "count"),
    [("properties", 1), ("scopes", 1), ("typed", 1), ("pressed", 1), ("priced", 1)],
)
def test_elements_are_kept_by_their_attributes(kept: str, count: int) -> None:
    """A real button is no element that plays one."""
    assert len(getattr(page(BODY).outline, kept)) == count


@pytest.mark.parametrize(("hint", "count"), [("price", 2), ("buy", 1), ("title", 1), ("nothing", 0)])
def test_elements_are_kept_by_their_names(hint: str, count: int) -> None:
    """Their classes, ids and test ids."""
    assert len(page(BODY).outline.hinted(hint)) == count


def test_elements_are_kept_by_their_tags() -> None:
    """In document order, tag by tag; what is never asked for is left out."""
    outline = page(BODY).outline
    assert [element.tag for element in outline.all("h2", "h1", "div")] == ["h2", "h1"]
    [heading] = outline.by_tag["h1"]
    assert (heading.get("id"), heading.get("class"), heading.names()) == ("one", "", "one")


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
