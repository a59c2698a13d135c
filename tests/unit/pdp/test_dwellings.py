"""A home to rent is no product, in whichever language it is offered; a house for birds is one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from crawler.pdp.dwellings import dwelling_in


def said_by(*titles: str, address: str = "shop.example/") -> str:
    """The words that a page with these titles offers a home with."""
    page: Any = SimpleNamespace(identity=SimpleNamespace(titles=titles, addresses={address}))
    return dwelling_in(page)


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("bright 3 bedroom apartment for rent in town", "bedroom apartment for rent"),
        ("for sale: detached bungalow", "for sale: detached bungalow"),
        ("wohnung zu vermieten", "wohnung zu vermieten"),
        ("lägenhet till salu", "lägenhet till salu"),
    ],
)
def test_a_home_is_offered(title: str, words: str) -> None:
    """With the words that say so."""
    assert said_by(title) == words


@pytest.mark.parametrize(
    "title",
    [
        "",
        "bird house",
        "doll house with furniture, for sale",
        "for sale sign for your house",
        "apartment therapy: the book",
    ],
)
def test_no_home_is_offered(title: str) -> None:
    """A word that means other things as well stands right beside the offer, or says nothing."""
    assert not said_by(title)


def test_an_address_says_it_as_well() -> None:
    """Its path, not its host: an agency's name is no offer."""
    assert said_by(address="homes.example/flat-for-rent/123") == "flat for rent"
    assert not said_by(address="house-for-sale.example/lamp")
