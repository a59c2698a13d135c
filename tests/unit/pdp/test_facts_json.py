"""A product's account in JSON-LD."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crawler.pdp.account import Account, Rating
from crawler.pdp.facts_json import account_in_json
from tests.unit.pdp.pages import OFFER, page, script

JUG: dict[str, Any] = {"@type": "Product", "name": "Jug", "offers": OFFER}


def account(**said: Any) -> Account:
    """What a page says whose product says that."""
    return account_in_json(page("<h1>Jug</h1>", head=script({**JUG, **said})))


@pytest.mark.parametrize(
    ("said", "fact", "value"),
    [
        ({"sku": 5}, "sku", "5"),
        ({"mpn": " M 1 "}, "mpn", "M 1"),
        ({"gtin13": "4006381333931"}, "gtin", "4006381333931"),
        ({"offers": {**OFFER, "gtin": "4006381333931"}}, "gtin", "4006381333931"),
        ({"gtin13": "4006381333932"}, "gtin", ""),
        ({"brand": {"@type": "Brand", "name": "Kiln"}}, "brand", "Kiln"),
        ({"brand": ["Kiln"]}, "brand", "Kiln"),
        ({"manufacturer": {"name": "Kiln"}}, "brand", "Kiln"),
        ({"image": ["/a.png", "/b.png"]}, "image", "/a.png"),
        ({"image": {"@type": "ImageObject", "contentUrl": "/a.png"}}, "image", "/a.png"),
        ({"image": {"url": {"deep": 1}}}, "image", ""),
        ({"offers": {**OFFER, "availability": "InStock"}}, "availability", "InStock"),
        (
            {"aggregateRating": {"ratingValue": 4.5, "bestRating": 5, "ratingCount": 3}},
            "rating",
            Rating(Decimal("4.5"), Decimal(5), 3),
        ),
        ({"aggregateRating": "4.5"}, "rating", None),
        ({}, "price", Decimal("48.00")),
        ({}, "currency", "EUR"),
    ],
)
def test_what_is_read(said: dict[str, Any], fact: str, value: object) -> None:
    """In the forms that pages use."""
    assert getattr(account(**said), fact) == value


def test_a_group_has_variants() -> None:
    """The first of them answers for what the group leaves open."""
    variants = [{"@type": "Product", "name": f"Jug {n}", "sku": str(n), "offers": OFFER} for n in (1, 2)]
    found = account(**{"@type": "ProductGroup", "offers": [], "hasVariant": variants})
    assert (found.sku, found.price) == ("1", Decimal("48.00"))
    assert [(each.name, each.sku, each.price) for each in found.variants] == [
        ("Jug 1", "1", Decimal("48.00")), ("Jug 2", "2", Decimal("48.00")),
    ]  # fmt: skip


def test_several_offers_that_are_told_apart_are_variants() -> None:
    """By their number or name."""
    assert len(account(offers=[{**OFFER, "sku": "1"}, {**OFFER, "sku": "2"}]).variants) == 2
    assert account(offers=[OFFER, OFFER]).variants == ()


def test_breadcrumbs_are_those_of_the_page() -> None:
    """Also where it has no product."""
    items = [{"name": "Home"}, {"item": {"name": "Jugs"}}, "x", {}]
    head = script({"@type": "BreadcrumbList", "itemListElement": items})
    assert account_in_json(page(head=head)) == Account(breadcrumbs=("Home", "Jugs"))
