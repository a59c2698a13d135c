"""What is kept of what a page says: which product it is, and its facts in bounds."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.catalogue.product_facts import (
    Identity,
    amount_of,
    content_of,
    identity_of,
    sighting_of,
)
from crawler.pdp import Facts

SHOWN = "https://shop.example/p/chair?colour=red"


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


TEXTS = dict.fromkeys(("name", "currency", "availability", "brand", "sku", "gtin", "mpn", "image"), st.text())
AMOUNTS = dict.fromkeys(("price", "list_price"), st.none() | st.decimals(allow_nan=True))


@given(st.builds(Facts, **TEXTS, **AMOUNTS))
def test_any_facts_can_be_kept(facts: Facts) -> None:
    """A stored page is never a reason to fail."""
    seen = sighting_of(SHOWN, None, facts)
    assert seen.tag is None or (seen.tag.price >= 0 and len(seen.tag.currency) == 3)
    assert json.dumps(content_of(seen), ensure_ascii=False).encode()


def kept(**said: Any) -> dict[str, str | None]:
    """What is compared of a chair of which that is said."""
    facts = Facts(**{"name": "A  chair", "price": Decimal("19.9"), "currency": "EUR", "sku": "C-1", **said})
    return content_of(sighting_of(SHOWN, None, facts))


@pytest.mark.parametrize(
    ("changed", "is_new"),
    [
        ({"price": Decimal("19.90")}, False),
        ({"price": Decimal("19.900")}, False),
        ({"image": "https://cdn.example/x.png"}, False),
        ({"sources": {"name": "dom"}}, False),
        ({"price": Decimal("18.00")}, True),
        ({"price": Decimal("19.905")}, True),
        ({"price": None}, True),
        ({"currency": "USD"}, True),
        ({"availability": "OutOfStock"}, True),
    ],
)
def test_what_a_customer_would_notice_is_a_change(changed: dict[str, Any], *, is_new: bool) -> None:
    """How a price is spelled, or where its picture lies, is not."""
    assert (kept() != kept(**changed)) is is_new


def test_a_page_may_say_anything_of_its_product() -> None:
    """What cannot be kept is as if it were not said."""
    said = kept(name="a\x00b\ud800", price=Decimal("1e999999"), sku="x" * 10_000, image="x" * 100_000)
    assert (said["name"], said["price"], said["currency"]) == ("a b", None, None)
    assert said["sku"] == "x" * 100
    assert sighting_of(SHOWN, None, Facts(image="data:image/png;base64,AA")).image is None


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


@pytest.mark.parametrize("declared", [None, f"{SHOWN}&gclid=1"])
def test_a_link_in_a_newsletter_leads_to_the_same_product(declared: str | None) -> None:
    """Parameters that only track visitors make no product of their own; others may be variants."""
    tracked = f"{SHOWN}&utm_source=mail&utm_campaign=x"
    assert identity_of(tracked, declared) == identity_of(SHOWN, None)
    assert identity_of(tracked, declared).is_own
    assert identity_of("https://shop.example/p?size=1&utm_id=2", None).url == "https://shop.example/p?size=1"


def test_a_home_page_may_be_the_product() -> None:
    """A shop that sells one thing."""
    assert identity_of("https://shop.example/?a=1", "/") == Identity(
        "shop.example", "https://shop.example/?a=1"
    )
    assert identity_of("https://shop.example/", "/") == Identity("shop.example", "https://shop.example/")
