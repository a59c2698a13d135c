"""What is kept of what a page says: which product it is, and its facts in bounds."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.catalogue.product_facts import (
    MAX_AMOUNT,
    Identity,
    amount_of,
    identity_of,
    sighting_of,
    text_of,
)

SHOWN = "https://shop.example/p/chair?colour=red"
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("0", "0"),
        ("19.9", "19.9"),
        ("19.99999", "20"),
        (5, "5"),
        ("-0.01", None),
        (None, None),
        ([], None),
        ("NaN", None),
        ("Infinity", None),
        ("1e999999999", None),
        ("10000000000000", None),
        ("free", None),
        ("", None),
        ("1e-40", None),
    ],
)
def test_an_amount_is_a_number_that_a_price_can_be(said: object, kept: str | None) -> None:
    """Exact to four decimals."""
    assert amount_of(said) == (None if kept is None else Decimal(kept))


@given(st.text() | st.floats() | st.decimals())
def test_any_amount_is_in_bounds(said: object) -> None:
    """Whatever a page claims."""
    amount = amount_of(said)
    assert amount is None or 0 <= amount <= MAX_AMOUNT


@given(st.text(), st.integers(1, 50))
def test_any_text_is_short_and_speakable(said: str, limit: int) -> None:
    """One line, no control characters, storable everywhere."""
    kept = text_of(said, limit)
    assert kept is None or 0 < len(kept) <= limit
    assert kept is None or not set(kept) & set("\x00\n\r\t\x7f")
    assert kept is None or kept.encode()


@given(st.dictionaries(st.sampled_from(["name", "price", "currency", "image", "sku", "list_price"]), JSON))
def test_any_facts_can_be_read(facts: dict[str, object]) -> None:
    """A stored page is never a reason to fail."""
    seen = sighting_of(facts)
    assert seen.tag is None or (seen.tag.price >= 0 and len(seen.tag.currency) == 3)


@pytest.mark.parametrize(
    ("declared", "known_as"),
    [
        (None, SHOWN),
        ("", SHOWN),
        ("/p/chair", "https://shop.example/p/chair"),
        ("https://www.shop.example/p/chair#top", "https://www.shop.example/p/chair"),
        ("https://elsewhere.example/p/chair", SHOWN),
        ("https://shop.example/", SHOWN),
        ("javascript:alert(1)", SHOWN),
        ("http://[broken", SHOWN),
        ("https://user:secret@shop.example/p/chair", SHOWN),
        ("x" * 10_000, SHOWN),
    ],
)
def test_a_product_is_known_by_its_canonical_url(declared: str | None, known_as: str) -> None:
    """If that is of the same site and not the home page; else by the URL that answered."""
    assert identity_of(SHOWN, declared) == Identity("shop.example", known_as)


def test_a_home_page_may_be_the_product() -> None:
    """A shop that sells one thing."""
    assert identity_of("https://shop.example/?a=1", "/") == Identity(
        "shop.example", "https://shop.example/?a=1"
    )
    assert identity_of("https://shop.example/", "/") == Identity("shop.example", "https://shop.example/")
